#!/bin/sh
# Sends payouts with curl and openssl, one after the other, and stores nothing.
# Usage: shell-loop.sh <base URL> <rows>
row=0
while [ "$row" -lt "$2" ]; do
  now=$(date +%s)
  signature=$(printf '%s' "100.5:SHELL-$row:$now" | openssl dgst -sha256 -hmac a-payout-secret | sed 's/.* //')
  curl -sf "$1/payout/create-by-server" \
    -H 'x-api-key: sk_sandbox_abc-abcdefghijkl-xyz' -H "x-payout-signature: $signature" \
    -H 'content-type: application/json' \
    -d "{\"amount\":100.5,\"merchantRef\":\"SHELL-$row\",\"timestamp\":$now,\"recipientNumber\":\"01712345678\",\"paymentMethodId\":\"M1\"}" \
    >/dev/null || exit 1
  row=$((row + 1))
done
