#!/bin/sh
# Checks a running sandbox with curl and openssl alone: nothing of lenden is used, so that no mistake
# of its code can hide. Needs BASE_URL, API_KEY and PAYOUT_SECRET, as arguments or in the environment.
set -eu
BASE_URL=${1:-$BASE_URL} API_KEY=${2:-$API_KEY} PAYOUT_SECRET=${3:-$PAYOUT_SECRET}

# ask METHOD PATH [BODY [HEADER]]: leaves the answer's status in $status and its body in $answer.
ask() {
  answer=$(curl --silent --show-error --noproxy '*' --write-out '\n%{http_code}' \
    --request "$1" --header "x-api-key: $API_KEY" --header "${4:-x-none: -}" \
    ${3:+--header "Content-Type: application/json" --data-raw "$3"} "$BASE_URL$2")
  status=$(printf '%s' "$answer" | tail -n 1)
  answer=$(printf '%s' "$answer" | sed '$d')
}

# expect NAME STATUS TEXT…: the answer has this status and holds each of these texts.
expect() {
  name=$1 wanted=$2
  shift 2
  [ "$status" = "$wanted" ] || fail "status $status instead of $wanted"
  for text in "$@"; do
    case $answer in *"$text"*) ;; *) fail "$text is not in the answer" ;; esac
  done
  echo "ok $name"
}

fail() {
  echo "not ok $name: $1: $answer" >&2
  exit 1
}

# field NAME: the text of a field in the answer.
field() {
  printf '%s' "$answer" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

sign() {
  printf '%s' "$1" | openssl dgst -sha256 -hmac "$PAYOUT_SECRET" | sed 's/^.*= *//'
}

payout() {
  ask POST /payout/create-by-server \
    "{\"amount\":$1,\"merchantRef\":\"$ref\",\"timestamp\":$now,\"recipientNumber\":\"01712345678\",\"paymentMethodId\":\"$method\"}" \
    "x-payout-signature: $2"
}

ask GET /payment/methods
expect methods 200 '"success":true' '"providerName":"bKash"' '"codeName":"nagad"' '"codeName":"rocket"'
method=665f1c2ab8e4

ask POST /payment/create "{\"amount\":1250.50,\"description\":\"Order 42\",\"paymentMethodId\":\"$method\",\"redirect_url\":\"https://shop.example/\",\"callback_url\":\"https://shop.example/cb\"}"
expect "create payment" 200 '"amount":1250.5,' '"status":"Processing"' '"payment_url":"http'
payment=$(field transactionId)

ask POST /refund/create-a-request "{\"transactionId\":\"$payment\",\"amount\":1,\"accountType\":\"PERSONAL_ACCOUNT\",\"accountNumber\":\"01812345678\"}"
expect "refund of an incomplete payment is refused" 409 '"success":false'

ask POST /sandbox/trigger-payment "{\"transactionId\":\"$payment\"}"
expect "trigger payment" 200 '"success":true'

ask GET "/payment/retrieve/$payment"
expect "retrieve payment" 200 '"status":"Completed"' '"description":"Order 42"' '"paymentMethod":"bKash"'

now=$(date +%s) ref="INDEPENDENT-$(date +%s)-$$"
payout 500.50 "$(sign "500.5:$ref:$now")"
expect "signed payout" 200 '"amount":500.5,' "\"merchantRef\":\"$ref\"" '"status":"Processing"'
payout=$(field payoutId)

payout 500.50 "$(sign "500.5:$ref:$now")"
expect "the same reference again" 200 "\"payoutId\":\"$payout\""

payout 500.50 "$(sign "500.5:$ref:$((now + 1))")"
expect "a wrong signature is refused" 403 '"success":false'

now=$((now - 400))
payout 500.50 "$(sign "500.5:$ref:$now")"
expect "an old timestamp is refused" 403 '"success":false'

ask POST /sandbox/trigger-payout "{\"payoutId\":\"$payout\"}"
expect "trigger payout" 200 '"success":true'

ask GET "/payout/retrieve/$payout"
expect "retrieve payout" 200 '"status":"Completed"' '"recipientNumber":"01712345678"' '"recipientName":null'

ask POST /refund/create-a-request "{\"transactionId\":\"$payment\",\"amount\":250.25,\"accountType\":\"PERSONAL_ACCOUNT\",\"accountNumber\":\"01812345678\",\"note\":\"damaged\"}"
expect "create refund" 200 '"amount":250.25,' '"status":"Processing"'
refund=$(field refundRequestId)

ask PATCH "/refund/cancel-by-platform/$refund" '{"note":"customer kept it"}'
expect "cancel refund" 200 '"status":"Cancelled"' '"note":"customer kept it"'

ask PATCH "/refund/cancel-by-platform/$refund" '{}'
expect "cancelling again is refused" 409 '"success":false'

ask GET "/refund/retrieve/$refund"
expect "retrieve refund" 200 '"status":"Cancelled"' '"accountType":"PERSONAL_ACCOUNT"' '"note":"customer kept it"'

API_KEY=sk_sandbox_AAA-AAAAAAAAAAAA-AAA
ask GET /payment/methods
expect "a wrong key is refused" 401 '"success":false'
