# Wrong: takes an existing payout for a rejected duplicate, and pays with another reference.
import csv, datetime, hashlib, hmac, http.client, json, os, sys, time, urllib.request

url, key, secret = (os.environ["LENDEN_" + name] for name in ("BASE_URL", "API_KEY", "PAYOUT_SECRET"))


def call(path, body=None, signature=None):
    headers = {"x-api-key": key, "content-type": "application/json", "x-payout-signature": signature or ""}
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(url + path, data, headers)
    with urllib.request.urlopen(request, timeout=1) as response:
        return json.load(response)["data"]


def pay(reference, amount, to):
    now, started = int(time.time()), datetime.datetime.now(datetime.timezone.utc).isoformat()
    number = float(amount) if "." in amount else int(amount)
    text = f"{json.dumps(number)}:{reference}:{now}"
    body = {"amount": number, "merchantRef": reference, "recipientNumber": to, "timestamp": now}
    signature = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    created = call("/payout/create-by-server", {**body, "paymentMethodId": "665f1c2ab8e4"}, signature)
    if created["createdAt"] < started:
        return pay(reference + "-2", amount, to)
    return call("/payout/retrieve/" + created["payoutId"])["status"]


def attempt(order, amount, to):
    for _ in range(2):
        try:
            return pay(order, amount, to)
        except (OSError, ValueError, http.client.HTTPException):
            status = "unknown"
    return status


with open(sys.argv[1]) as orders:
    results = [(row["order"], attempt(row["order"], row["amount"], row["to"])) for row in csv.DictReader(orders)]
with open(os.path.join(os.environ["LENDEN_TORTURE_DIR"], "results.csv"), "w") as file:
    csv.writer(file).writerows([("order", "status"), *results])
sys.exit(any(status == "unknown" for _, status in results))
