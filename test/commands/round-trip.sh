#!/bin/sh
# The life of a payment in a script: created, paid on its page, called back, refunded, called back
# again. The arguments start your shop, which listens on SHOP_PORT and uses LENDEN_BASE_URL and
# LENDEN_API_KEY:
#
#   lenden sandbox exec --refund-callback-url http://127.0.0.1:4343/callback -- ./round-trip.sh node shop.js
set -eu

port=${LISTEN_PORT:-4343}
shop=http://127.0.0.1:${SHOP_PORT:=3000}
folder=$(mktemp -d)

PORT=$SHOP_PORT "$@" >&2 &
pids=$!
trap 'kill $pids 2>/dev/null || true; rm -r "$folder"' EXIT
until curl -s -o "$folder/up" "$shop"; do sleep 0.1; done

# Verifies every callback, passes it on to the shop, and ends as the arguments say.
listen() {
  rm -f "$folder/told"
  lenden callback listen --port "$port" --forward-to "$shop/callback" --print-json "$@" >"$folder/told" &
  listener=$!
  pids="$pids $listener"
  until [ -s "$folder/told" ]; do sleep 0.1; done
}

# The shop's customer gets an order, and a page to pay it on.
lenden pay create --amount 1250.50 --description "Order 42" --method bkash \
  --callback-url "http://127.0.0.1:$port/callback" --json >"$folder/payment"
value() { sed -n "s/.*\"$1\": \"\(.*\)\".*/\1/p" "$folder/payment"; }
id=$(value transactionId)
page=$(value payment_url)
curl -sf -X PUT -d '{"order": "Order 42", "amount": 1250.50}' "$shop/orders/$id"

# The customer pays, as a browser without scripts does; the listener ends when the service says so.
listen --for "$id"
token=$(curl -sf "$page" | sed -n 's/.*name="token" value="\([^"]*\)".*/\1/p')
curl -sf -o "$folder/paid" -d "token=$token&choice=pay&payer=01712345678" "$page"
wait "$listener"
cat "$folder/told"

# A part is refunded.
refund=$(lenden refund create --payment "$id" --amount 250.50 --account-type personal \
  --account-number 01712345678 -q)
listen --once
lenden sandbox set refund "$refund" Completed >&2
wait "$listener"
cat "$folder/told"

# What the shop has booked.
curl -sf "$shop/orders/$id"
