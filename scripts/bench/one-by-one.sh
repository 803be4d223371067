#!/bin/sh
# What people do without a tool: curl and openssl, one payout after the other.
# Usage: one-by-one.sh <base URL> <rows> <what their references begin with>
row=0
while [ "$row" -lt "$2" ]; do
  now=$(date +%s)
  signature=$(printf '%s' "100.5:$3-$row:$now" | openssl dgst -sha256 -hmac a-payout-secret-of-the-bench | sed 's/.* //')
  curl -sf "$1/payout/create-by-server" \
    -H 'x-api-key: sk_sandbox_abc-abcdefghijkl-xyz' -H "x-payout-signature: $signature" \
    -H 'content-type: application/json' \
    -d "{\"amount\":100.5,\"merchantRef\":\"$3-$row\",\"timestamp\":$now,\"recipientNumber\":\"01712345678\",\"paymentMethodId\":\"M1\"}" \
    >/dev/null || exit 1
  row=$((row + 1))
done
