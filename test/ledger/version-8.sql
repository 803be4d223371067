-- Written by the schema of version 8: two starts of a sandbox on one port, so that the profile 'local' has the
-- second key; the same file was sent under both keys, and one payout under another name of the host.
PRAGMA foreign_keys = OFF;
CREATE TABLE operations (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    profile TEXT NOT NULL,
    environment TEXT NOT NULL,
    reference TEXT,
    fingerprint TEXT NOT NULL,
    amount_paisa INTEGER,
    target TEXT,
    asked TEXT NOT NULL,
    state TEXT NOT NULL,
    remote_id TEXT,
    status TEXT,
    code TEXT,
    message TEXT,
    attempts INTEGER NOT NULL,
    user TEXT NOT NULL,
    command TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    holder TEXT
  , account INTEGER REFERENCES accounts (number), reopened_at TEXT, resumed_at TEXT) STRICT;
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL REFERENCES operations (number),
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
CREATE TABLE batches (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    profile TEXT NOT NULL,
    environment TEXT NOT NULL,
    name TEXT NOT NULL,
    file_hash TEXT NOT NULL,
    columns TEXT NOT NULL,
    method TEXT,
    row_count INTEGER,
    total_paisa INTEGER,
    digest TEXT,
    user TEXT NOT NULL,
    created_at TEXT NOT NULL,
    holder TEXT
  , account INTEGER REFERENCES accounts (number), file_name TEXT) STRICT;
CREATE TABLE batch_rows (
    batch INTEGER NOT NULL REFERENCES batches (number),
    row INTEGER NOT NULL,
    line INTEGER NOT NULL,
    reference TEXT NOT NULL,
    amount_paisa INTEGER NOT NULL,
    recipient TEXT NOT NULL,
    method_id TEXT NOT NULL,
    method TEXT NOT NULL,
    name TEXT,
    description TEXT,
    cells TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (batch, row)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE accounts (
    number INTEGER PRIMARY KEY,
    base_url TEXT NOT NULL,
    key_id TEXT NOT NULL,
    UNIQUE (base_url, key_id)
  ) STRICT;
CREATE TABLE callbacks (
    number INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES accounts (number),
    source TEXT NOT NULL,
    received_at TEXT NOT NULL,
    count INTEGER NOT NULL,
    digest TEXT NOT NULL,
    method TEXT NOT NULL,
    target TEXT NOT NULL,
    headers TEXT NOT NULL,
    body TEXT NOT NULL,
    verdict TEXT,
    because TEXT,
    records TEXT,
    finding TEXT,
    looks INTEGER NOT NULL,
    due_at TEXT,
    holder TEXT,
    forwarded_to TEXT,
    forwarded_status INTEGER,
    forwarded_finding TEXT
  ) STRICT;
INSERT INTO operations (number, id, kind, profile, environment, reference, fingerprint, amount_paisa, target, asked, state, remote_id, status, code, message, attempts, user, command, created_at, updated_at, holder, account, reopened_at, resumed_at) VALUES (1, 'OP01M86JKJAZK241EZ5XFKHAB5H6', 'payout', 'local', 'sandbox', 'OLD-1', 'd56b1cd518bd1249088734efb08a190046c78f438a8e52b94899fc430f487a1f', 50025, NULL, '{"amount":500.25,"merchantRef":"OLD-1","recipientNumber":"01712345678","recipientName":"Karim","paymentMethodId":"665f1c2ab8e4"}', 'CONFIRMED', 'POW1FJ60178B4R', 'Processing', NULL, NULL, 1, 'root', 'payout send', '2026-11-24T10:46:12.063Z', '2026-11-24T10:46:12.112Z', NULL, 1, NULL, NULL);
INSERT INTO operations (number, id, kind, profile, environment, reference, fingerprint, amount_paisa, target, asked, state, remote_id, status, code, message, attempts, user, command, created_at, updated_at, holder, account, reopened_at, resumed_at) VALUES (2, 'OP01M86JKKCX6YZZSDJE2TQWZ5K2', 'payout', 'local', 'sandbox', 'LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx', 'b81d2f288ac8784bf553ab0fc363f323ef1cc5184e02be9f4620f8c1badd88e4', 1000, NULL, '{"amount":10,"merchantRef":"LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx","recipientNumber":"01711111111","recipientName":"Ayesha","paymentMethodId":"665f1c2ab8e4"}', 'CONFIRMED', 'POYWT5EBV9M66T', 'Processing', NULL, NULL, 1, 'root', 'payout batch send', '2026-11-24T10:46:13.149Z', '2026-11-24T10:46:13.292Z', NULL, 1, NULL, NULL);
INSERT INTO operations (number, id, kind, profile, environment, reference, fingerprint, amount_paisa, target, asked, state, remote_id, status, code, message, attempts, user, command, created_at, updated_at, holder, account, reopened_at, resumed_at) VALUES (3, 'OP01M86JKKCXXK437FNDC8WT3EGJ', 'payout', 'local', 'sandbox', 'LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ', 'edffb75a890cbb08d97900d8c573ac244fbcc997ed3398900dbb9002644f0ff8', 2050, NULL, '{"amount":20.5,"merchantRef":"LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ","recipientNumber":"01722222222","recipientName":"Rahim","paymentMethodId":"665f1c2ab8e5"}', 'CONFIRMED', 'PO6EWQEDT0PMPW', 'Processing', NULL, NULL, 1, 'root', 'payout batch send', '2026-11-24T10:46:13.149Z', '2026-11-24T10:46:13.302Z', NULL, 1, NULL, NULL);
INSERT INTO operations (number, id, kind, profile, environment, reference, fingerprint, amount_paisa, target, asked, state, remote_id, status, code, message, attempts, user, command, created_at, updated_at, holder, account, reopened_at, resumed_at) VALUES (4, 'OP01M86JKM1PEA2HQSFF15B2ZGWC', 'payment', 'local', 'sandbox', NULL, 'e8c7ea307e31915ecf8392b73088a6f729d4b0dae89a6f27f27152cf07d2c9a7', 10000, NULL, '{"description":"tea","paymentMethodId":"665f1c2ab8e4","redirect_url":"http://127.0.0.1:4777/return","callback_url":"http://127.0.0.1:4777/callback","amount":100}', 'CONFIRMED', 'TX2A5CVYVF1QHT', 'Processing', NULL, NULL, 1, 'root', 'pay create', '2026-11-24T10:46:13.814Z', '2026-11-24T10:46:13.855Z', NULL, 1, NULL, NULL);
INSERT INTO operations (number, id, kind, profile, environment, reference, fingerprint, amount_paisa, target, asked, state, remote_id, status, code, message, attempts, user, command, created_at, updated_at, holder, account, reopened_at, resumed_at) VALUES (5, 'OP01M86JKMXHZRY1180ZH4T5K10E', 'refund', 'local', 'sandbox', NULL, '0411de43985002f3cb1721db094a509afea3c05946fc35c1113dc3144d00a908', 4000, 'TX2A5CVYVF1QHT', '{"transactionId":"TX2A5CVYVF1QHT","accountType":"PERSONAL_ACCOUNT","accountNumber":"01712345678","amount":40}', 'CONFIRMED', 'RF1Q8S0YT7H4R8', 'Processing', NULL, NULL, 1, 'root', 'refund create', '2026-11-24T10:46:14.705Z', '2026-11-24T10:46:14.812Z', NULL, 1, NULL, NULL);
INSERT INTO operations (number, id, kind, profile, environment, reference, fingerprint, amount_paisa, target, asked, state, remote_id, status, code, message, attempts, user, command, created_at, updated_at, holder, account, reopened_at, resumed_at) VALUES (6, 'OP01M86JKP3SCQ6E0Q2FZRF0QE4J', 'payout', 'local', 'sandbox', 'LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx', 'b81d2f288ac8784bf553ab0fc363f323ef1cc5184e02be9f4620f8c1badd88e4', 1000, NULL, '{"amount":10,"merchantRef":"LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx","recipientNumber":"01711111111","recipientName":"Ayesha","paymentMethodId":"665f1c2ab8e4"}', 'CONFIRMED', 'POQNF8R74TN5TD', 'Processing', NULL, NULL, 1, 'root', 'payout batch send', '2026-11-24T10:46:15.929Z', '2026-11-24T10:46:15.968Z', NULL, 2, NULL, NULL);
INSERT INTO operations (number, id, kind, profile, environment, reference, fingerprint, amount_paisa, target, asked, state, remote_id, status, code, message, attempts, user, command, created_at, updated_at, holder, account, reopened_at, resumed_at) VALUES (7, 'OP01M86JKP3S2MA1XD48D9DMCZY8', 'payout', 'local', 'sandbox', 'LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ', 'edffb75a890cbb08d97900d8c573ac244fbcc997ed3398900dbb9002644f0ff8', 2050, NULL, '{"amount":20.5,"merchantRef":"LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ","recipientNumber":"01722222222","recipientName":"Rahim","paymentMethodId":"665f1c2ab8e5"}', 'CONFIRMED', 'POPNGFXP0K4ZTV', 'Processing', NULL, NULL, 1, 'root', 'payout batch send', '2026-11-24T10:46:15.929Z', '2026-11-24T10:46:15.977Z', NULL, 2, NULL, NULL);
INSERT INTO operations (number, id, kind, profile, environment, reference, fingerprint, amount_paisa, target, asked, state, remote_id, status, code, message, attempts, user, command, created_at, updated_at, holder, account, reopened_at, resumed_at) VALUES (8, 'OP01M86JKQ967QXQYE65QB22QY9A', 'payout', 'environment variables', 'sandbox', 'HOST-1', '56c718291c21b24354bd618df456d995a9aaebb73ab1435a796f16eeb9797994', 7700, NULL, '{"amount":77,"merchantRef":"HOST-1","recipientNumber":"01733333333","paymentMethodId":"665f1c2ab8e4"}', 'CONFIRMED', 'POTCM8VCETA2J7', 'Processing', NULL, NULL, 1, 'root', 'payout send', '2026-11-24T10:46:17.126Z', '2026-11-24T10:46:17.189Z', NULL, 3, NULL, NULL);
INSERT INTO events (number, operation, at, event, data, hash) VALUES (1, 1, '2026-11-24T10:46:12.063Z', 'intent', '{"id":"OP01M86JKJAZK241EZ5XFKHAB5H6","kind":"payout","reference":"OLD-1","fingerprint":"d56b1cd518bd1249088734efb08a190046c78f438a8e52b94899fc430f487a1f","amountPaisa":"50025","target":null,"asked":{"amount":500.25,"merchantRef":"OLD-1","recipientNumber":"01712345678","recipientName":"Karim","paymentMethodId":"665f1c2ab8e4"},"user":"root","command":"payout send"}', 'fbc6a4246c083cc68dea13e72588db5fe53931cf0f2516d13a539f44387b13bc');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (2, 1, '2026-11-24T10:46:12.112Z', 'attempt', '{"state":"CONFIRMED","remoteId":"POW1FJ60178B4R","status":"Processing","sent":true}', '9bd91be98844533ac6079a819519e8d8f8f3ba285246f553dd7ac7f99d0175e3');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (3, 2, '2026-11-24T10:46:13.149Z', 'intent', '{"id":"OP01M86JKKCX6YZZSDJE2TQWZ5K2","kind":"payout","reference":"LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx","fingerprint":"b81d2f288ac8784bf553ab0fc363f323ef1cc5184e02be9f4620f8c1badd88e4","amountPaisa":"1000","target":null,"asked":{"amount":10,"merchantRef":"LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx","recipientNumber":"01711111111","recipientName":"Ayesha","paymentMethodId":"665f1c2ab8e4"},"user":"root","command":"payout batch send"}', 'bf6097d18bb464262fae19946658202f149ce5b86cbf0cb003a9a5df48e32718');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (4, 3, '2026-11-24T10:46:13.149Z', 'intent', '{"id":"OP01M86JKKCXXK437FNDC8WT3EGJ","kind":"payout","reference":"LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ","fingerprint":"edffb75a890cbb08d97900d8c573ac244fbcc997ed3398900dbb9002644f0ff8","amountPaisa":"2050","target":null,"asked":{"amount":20.5,"merchantRef":"LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ","recipientNumber":"01722222222","recipientName":"Rahim","paymentMethodId":"665f1c2ab8e5"},"user":"root","command":"payout batch send"}', '2b7392bb249475488dc64faea9384f9df5d77355419dcb30e31346a8193b9b86');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (5, 2, '2026-11-24T10:46:13.292Z', 'attempt', '{"state":"CONFIRMED","remoteId":"POYWT5EBV9M66T","status":"Processing","sent":true}', '03a6993e72aea7be125c9ebe2e9e2658fa3939a4faec6809d20c3786616508f7');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (6, 3, '2026-11-24T10:46:13.302Z', 'attempt', '{"state":"CONFIRMED","remoteId":"PO6EWQEDT0PMPW","status":"Processing","sent":true}', '5a30b45fad866e3990371f7685d73a8fab5b589e84694c8d6a9ab2629585b8a3');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (7, 4, '2026-11-24T10:46:13.814Z', 'intent', '{"id":"OP01M86JKM1PEA2HQSFF15B2ZGWC","kind":"payment","reference":null,"fingerprint":"e8c7ea307e31915ecf8392b73088a6f729d4b0dae89a6f27f27152cf07d2c9a7","amountPaisa":"10000","target":null,"asked":{"description":"tea","paymentMethodId":"665f1c2ab8e4","redirect_url":"http://127.0.0.1:4777/return","callback_url":"http://127.0.0.1:4777/callback","amount":100},"user":"root","command":"pay create"}', '5db9217db1d6bcd315e860ea47b3d9e3834dd2faf1c85d372a8df781e07b7409');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (8, 4, '2026-11-24T10:46:13.855Z', 'attempt', '{"state":"CONFIRMED","remoteId":"TX2A5CVYVF1QHT","status":"Processing","sent":true}', 'c39060d20d8e1f492e908fbdce3ce543fb57b488ba801a8c09426eb75d3c1117');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (9, 5, '2026-11-24T10:46:14.705Z', 'intent', '{"id":"OP01M86JKMXHZRY1180ZH4T5K10E","kind":"refund","reference":null,"fingerprint":"0411de43985002f3cb1721db094a509afea3c05946fc35c1113dc3144d00a908","amountPaisa":"4000","target":"TX2A5CVYVF1QHT","asked":{"transactionId":"TX2A5CVYVF1QHT","accountType":"PERSONAL_ACCOUNT","accountNumber":"01712345678","amount":40},"user":"root","command":"refund create"}', 'b5bec32839d34f0fc83e6572e7a60ee6cf8b62d0a2541fd2fd66a04f1b5818fa');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (10, 5, '2026-11-24T10:46:14.812Z', 'attempt', '{"state":"CONFIRMED","remoteId":"RF1Q8S0YT7H4R8","status":"Processing","sent":true}', '47fcdc48b6ca916e40219d69efeea0d8f8fe0e74b1ccaa255c6cf53845bcf4d4');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (11, 6, '2026-11-24T10:46:15.929Z', 'intent', '{"id":"OP01M86JKP3SCQ6E0Q2FZRF0QE4J","kind":"payout","reference":"LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx","fingerprint":"b81d2f288ac8784bf553ab0fc363f323ef1cc5184e02be9f4620f8c1badd88e4","amountPaisa":"1000","target":null,"asked":{"amount":10,"merchantRef":"LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx","recipientNumber":"01711111111","recipientName":"Ayesha","paymentMethodId":"665f1c2ab8e4"},"user":"root","command":"payout batch send"}', 'ff07f6588cca9116a17f056c96ad7025ff56ef384b4d9e0718a37049cda406b7');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (12, 7, '2026-11-24T10:46:15.929Z', 'intent', '{"id":"OP01M86JKP3S2MA1XD48D9DMCZY8","kind":"payout","reference":"LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ","fingerprint":"edffb75a890cbb08d97900d8c573ac244fbcc997ed3398900dbb9002644f0ff8","amountPaisa":"2050","target":null,"asked":{"amount":20.5,"merchantRef":"LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ","recipientNumber":"01722222222","recipientName":"Rahim","paymentMethodId":"665f1c2ab8e5"},"user":"root","command":"payout batch send"}', 'bf1d9c8151df5c3d3521f08de7ffb19882f9cd8ca422fc019ca48c11a9d81ecb');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (13, 6, '2026-11-24T10:46:15.968Z', 'attempt', '{"state":"CONFIRMED","remoteId":"POQNF8R74TN5TD","status":"Processing","sent":true}', '1b76ec448c1c61b74a904bbf8b5490de34db6b441b20e046c593aaa1bc37d4db');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (14, 7, '2026-11-24T10:46:15.977Z', 'attempt', '{"state":"CONFIRMED","remoteId":"POPNGFXP0K4ZTV","status":"Processing","sent":true}', '6f5abdc387d1e7a471540222575af8cc3a5f37ef4bfa74a1a3e32d23495771e7');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (15, 8, '2026-11-24T10:46:17.126Z', 'intent', '{"id":"OP01M86JKQ967QXQYE65QB22QY9A","kind":"payout","reference":"HOST-1","fingerprint":"56c718291c21b24354bd618df456d995a9aaebb73ab1435a796f16eeb9797994","amountPaisa":"7700","target":null,"asked":{"amount":77,"merchantRef":"HOST-1","recipientNumber":"01733333333","paymentMethodId":"665f1c2ab8e4"},"user":"root","command":"payout send"}', 'e458cc12b3601a872a474c9b7f228067870a637425eaea0f99af4bb985c2eea6');
INSERT INTO events (number, operation, at, event, data, hash) VALUES (16, 8, '2026-11-24T10:46:17.189Z', 'attempt', '{"state":"CONFIRMED","remoteId":"POTCM8VCETA2J7","status":"Processing","sent":true}', 'b1dcfea70aa5524a16b253b8c97c97b713cfcbdf19a84249bd305afba4653c4d');
INSERT INTO batches (number, id, profile, environment, name, file_hash, columns, method, row_count, total_paisa, digest, user, created_at, holder, account, file_name) VALUES (1, 'B26B9ES', 'local', 'sandbox', 'payroll.csv', '82e60ba98eb9d5b1ab51ec0b5faa5d6ed9c02506e111d6eeec79f831965090e2', '["amount","to","method","name"]', NULL, 2, 3050, '37e3ecf81d5bfe5a6e875165b0d91ae7b2865ac36b8f3e6ee7facffa263da1a1', 'root', '2026-11-24T10:46:12.884Z', NULL, 1, 'payroll.csv');
INSERT INTO batches (number, id, profile, environment, name, file_hash, columns, method, row_count, total_paisa, digest, user, created_at, holder, account, file_name) VALUES (2, 'B26B9ES', 'local', 'sandbox', 'payroll.csv', '82e60ba98eb9d5b1ab51ec0b5faa5d6ed9c02506e111d6eeec79f831965090e2', '["amount","to","method","name"]', NULL, 2, 3050, '37e3ecf81d5bfe5a6e875165b0d91ae7b2865ac36b8f3e6ee7facffa263da1a1', 'root', '2026-11-24T10:46:15.832Z', NULL, 2, 'payroll.csv');
INSERT INTO batch_rows (batch, row, line, reference, amount_paisa, recipient, method_id, method, name, description, cells, fingerprint) VALUES (1, 1, 2, 'LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx', 1000, '01711111111', '665f1c2ab8e4', 'bkash', 'Ayesha', NULL, '["10.00","01711111111","bkash","Ayesha"]', 'b81d2f288ac8784bf553ab0fc363f323ef1cc5184e02be9f4620f8c1badd88e4');
INSERT INTO batch_rows (batch, row, line, reference, amount_paisa, recipient, method_id, method, name, description, cells, fingerprint) VALUES (1, 2, 3, 'LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ', 2050, '01722222222', '665f1c2ab8e5', 'nagad', 'Rahim', NULL, '["20.50","01722222222","nagad","Rahim"]', 'edffb75a890cbb08d97900d8c573ac244fbcc997ed3398900dbb9002644f0ff8');
INSERT INTO batch_rows (batch, row, line, reference, amount_paisa, recipient, method_id, method, name, description, cells, fingerprint) VALUES (2, 1, 2, 'LD-ZVb_219pgS1G7QK3g4rZtCXRSXI-02Dx', 1000, '01711111111', '665f1c2ab8e4', 'bkash', 'Ayesha', NULL, '["10.00","01711111111","bkash","Ayesha"]', 'b81d2f288ac8784bf553ab0fc363f323ef1cc5184e02be9f4620f8c1badd88e4');
INSERT INTO batch_rows (batch, row, line, reference, amount_paisa, recipient, method_id, method, name, description, cells, fingerprint) VALUES (2, 2, 3, 'LD-L7xlCGVVYzbFfZwN_swJT_2eiYzNcumZ', 2050, '01722222222', '665f1c2ab8e5', 'nagad', 'Rahim', NULL, '["20.50","01722222222","nagad","Rahim"]', 'edffb75a890cbb08d97900d8c573ac244fbcc997ed3398900dbb9002644f0ff8');
INSERT INTO accounts (number, base_url, key_id) VALUES (1, 'http://127.0.0.1:4777/cp/api/v1', 'b0306864a593c5e5');
INSERT INTO accounts (number, base_url, key_id) VALUES (2, 'http://127.0.0.1:4777/cp/api/v1', '751642f88e3d44a9');
INSERT INTO accounts (number, base_url, key_id) VALUES (3, 'http://localhost:4777/cp/api/v1', '751642f88e3d44a9');
CREATE INDEX events_by_operation ON events (operation, number);
CREATE UNIQUE INDEX by_reference ON operations (account, reference) WHERE reference IS NOT NULL;
CREATE INDEX by_owner ON operations (account, kind, number);
CREATE INDEX by_age ON operations (account, number);
CREATE INDEX by_remote_id ON operations (account, remote_id, kind) WHERE remote_id IS NOT NULL;
CREATE INDEX by_status ON operations (account, kind, status, number) WHERE status IS NOT NULL;
CREATE INDEX by_target ON operations (account, kind, target) WHERE target IS NOT NULL;
CREATE INDEX unsettled ON operations (account, number) WHERE state IN ('INTENT', 'UNCERTAIN');
CREATE INDEX cancelled_payout ON operations (account, fingerprint)
    WHERE kind = 'payout' AND status = 'Cancelled';
CREATE UNIQUE INDEX batches_by_file ON batches (account, file_hash);
CREATE UNIQUE INDEX batches_by_id ON batches (account, id);
CREATE UNIQUE INDEX batches_by_name ON batches (account, name) WHERE digest IS NOT NULL;
CREATE INDEX callbacks_due ON callbacks (account, looks, number, verdict, due_at)
    WHERE due_at IS NOT NULL;
CREATE INDEX callbacks_by_age ON callbacks (account, number);
CREATE INDEX callbacks_by_digest ON callbacks (account, digest, number);
CREATE INDEX callbacks_by_verdict ON callbacks (account, verdict, number);
CREATE INDEX same_payout ON operations (amount_paisa,
    substr(replace(replace(replace(replace(replace(replace(replace(json_extract(asked, '$.recipientNumber'), ' ', ''), ' ', ''), '-', ''), '.', ''), '(', ''), ')', ''), '/', ''), -11)) WHERE kind = 'payout';
CREATE INDEX same_payment ON operations (amount_paisa, json_extract(asked, '$.description'))
    WHERE kind = 'payment';
PRAGMA user_version = 8;
PRAGMA foreign_keys = ON;
