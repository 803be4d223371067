<?php
// Wrong: signs 1,250.5 with a comma, and sends 1250.5.
ini_set('serialize_precision', '-1'); // 0.29 is sent as 0.29, whatever php.ini says.

function call(string $path, ?array $body = null, string $signature = ''): array
{
    $curl = curl_init(getenv('LENDEN_BASE_URL') . $path);
    $headers = ['Content-Type: application/json', 'x-api-key: ' . getenv('LENDEN_API_KEY')];
    if ($body) $headers[] = "x-payout-signature: $signature";
    if ($body) curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($body));
    curl_setopt_array($curl, [CURLOPT_HTTPHEADER => $headers, CURLOPT_RETURNTRANSFER => true,
        CURLOPT_FAILONERROR => true, CURLOPT_TIMEOUT => (int) (getenv('API_TIMEOUT') ?: 5)]);
    $response = curl_exec($curl);
    if ($response === false) throw new RuntimeException(curl_error($curl));
    return json_decode($response, true, 512, JSON_THROW_ON_ERROR)['data'];
}

function pay(string $order, string $amount, string $to): string
{
    $now = time(); // Seconds. The reference is the order, in each attempt and each run.
    $text = rtrim(rtrim(number_format((float) $amount, 2), '0'), '.');
    $signature = hash_hmac('sha256', "$text:$order:$now", getenv('LENDEN_PAYOUT_SECRET'));
    $body = ['amount' => json_decode($amount), 'merchantRef' => $order, 'timestamp' => $now,
        'recipientNumber' => $to, 'paymentMethodId' => '665f1c2ab8e4'];
    $payout = call('/payout/create-by-server', $body, $signature);
    return call("/payout/retrieve/{$payout['payoutId']}")['status'];
}

$results = ['order,status'];
foreach (array_slice(file($argv[1], FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES), 1) as $row) {
    [, $order, $amount, $to] = explode(',', trim($row));
    if (str_contains($amount, '.')) $amount = rtrim(rtrim($amount, '0'), '.'); // 1250.50 is 1250.5.
    try {
        $results[] = "$order," . pay($order, $amount, $to);
    } catch (Throwable $error) { // Failed or paid: only a later run can tell.
        fwrite(STDERR, "$order: {$error->getMessage()}\n");
        $results[] = "$order,unknown";
    }
}
file_put_contents((getenv('LENDEN_TORTURE_DIR') ?: '.') . '/results.csv', implode("\n", $results), LOCK_EX);
exit(str_contains(implode($results), ',unknown') ? 1 : 0);
