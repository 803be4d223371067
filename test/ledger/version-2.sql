PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
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
INSERT INTO "batch_rows" VALUES(1,1,2,'ROW-1',1000,'01712345678','665f1c2ab8e4','bkash',NULL,NULL,'["ROW-1","10","01712345678","bkash"]','4a3e22a2ff0a003a5878e4e40ad569bb6c590bb5d5f0af0915d0af8e4216d1e8');
INSERT INTO "batch_rows" VALUES(1,2,3,'ROW-2',2050,'01812345678','665f1c2ab8e5','nagad',NULL,NULL,'["ROW-2","20.50","01812345678","nagad"]','48389874b5eb84700f3fb4c8b754019ca00a9a485e708434fbbfac42cc6b79d4');
CREATE TABLE batches (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    profile TEXT NOT NULL,
    environment TEXT NOT NULL,
    base_url TEXT NOT NULL,
    key_id TEXT NOT NULL,
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
  ) STRICT;
INSERT INTO "batches" VALUES(1,'BGR9XY8','environment variables','sandbox','http://127.0.0.1:41999/cp/api/v1','c82ae6a2afdf270c','rows.csv','f0b8295d7ee85f0653357792b359f49474ffee7620790b9d7ce64dbe97f58406','["ref","amount","to","method"]',NULL,2,3050,'4aa79f6ca1b5ea460eecee83039b6f5e99d1d63f54bc24295d55d19c8b1df362','root','2026-11-21T23:10:29.774Z',NULL);
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL REFERENCES operations (number),
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
INSERT INTO "events" VALUES(1,1,'2026-11-21T23:10:29.259Z','intent','{"id":"OP01M80607WA48PR7N3WPCRCTP1J","kind":"payout","reference":"OLD-1","fingerprint":"da25a8f6a72d8dd6740bb298ed9043a238e07943f70ab57c639ff964363450b8","amountPaisa":"50025","target":null,"asked":{"amount":500.25,"merchantRef":"OLD-1","recipientNumber":"01712345678","paymentMethodId":"665f1c2ab8e4"},"user":"root","command":"payout send"}','2253b53012d25792b45187b00fc69e1c4003a4a387d25243dffda1c6497dc6ff');
INSERT INTO "events" VALUES(2,1,'2026-11-21T23:10:29.276Z','attempt','{"state":"CONFIRMED","remoteId":"POPJG8HSGTQBA9","status":"Processing","sent":true}','dac1425f917296168dbb3afc8c798a4f935ea8002db7df1b54dfcb7c48b3975c');
INSERT INTO "events" VALUES(3,2,'2026-11-21T23:10:29.512Z','intent','{"id":"OP01M8060845741ZG3KG2SHJ6G1H","kind":"payment","reference":null,"fingerprint":"94b15d7ddf324601f639029cfb57dfecc3d40854af3e05a8f374d59c9d9a54a8","amountPaisa":"10000","target":null,"asked":{"description":"tea","paymentMethodId":"665f1c2ab8e4","redirect_url":"https://a.example/","callback_url":"http://127.0.0.1:41999/callback","amount":100},"user":"root","command":"pay create"}','ad67984163fd0e54902a38b0795d46d24298dcee445ae7ef6b3e5948f71704c5');
INSERT INTO "events" VALUES(4,2,'2026-11-21T23:10:29.536Z','attempt','{"state":"CONFIRMED","remoteId":"TXV2P8VWHDDFPJ","status":"Processing","sent":true}','c0ae91f0b92f33ae01c7a9c201d580b20007522588cfbf49f1feba02bb34b43c');
INSERT INTO "events" VALUES(5,3,'2026-11-21T23:10:29.909Z','intent','{"id":"OP01M80608GKFBXBMCAWM4PDGV7C","kind":"payout","reference":"ROW-1","fingerprint":"4a3e22a2ff0a003a5878e4e40ad569bb6c590bb5d5f0af0915d0af8e4216d1e8","amountPaisa":"1000","target":null,"asked":{"amount":10,"merchantRef":"ROW-1","recipientNumber":"01712345678","paymentMethodId":"665f1c2ab8e4"},"user":"root","command":"payout batch send"}','4b959797486903e25b7562fbb24158dc373c30303bd9f3c7aab3c8df58b752f3');
INSERT INTO "events" VALUES(6,4,'2026-11-21T23:10:29.910Z','intent','{"id":"OP01M80608GPYM0XKRYJ55A3PKP5","kind":"payout","reference":"ROW-2","fingerprint":"48389874b5eb84700f3fb4c8b754019ca00a9a485e708434fbbfac42cc6b79d4","amountPaisa":"2050","target":null,"asked":{"amount":20.5,"merchantRef":"ROW-2","recipientNumber":"01812345678","paymentMethodId":"665f1c2ab8e5"},"user":"root","command":"payout batch send"}','5271673c70b6cc32169136c2aa193ef74aaec62a7b02355d971911b7574a8721');
INSERT INTO "events" VALUES(7,3,'2026-11-21T23:10:29.931Z','attempt','{"state":"CONFIRMED","remoteId":"POF3SMXGCA9REP","status":"Processing","sent":true}','60740308d342805477edc4e93a33914f7e0e9964758e560ab48840696a6bc9a7');
INSERT INTO "events" VALUES(8,4,'2026-11-21T23:10:29.933Z','attempt','{"state":"CONFIRMED","remoteId":"PO006432RQ3YTT","status":"Processing","sent":true}','11324f6e4923748921b0463f192b6e5ecbc48f04d4df9a89f1d0b6c756cd6ee0');
CREATE TABLE operations (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    profile TEXT NOT NULL,
    environment TEXT NOT NULL,
    base_url TEXT NOT NULL,
    key_id TEXT NOT NULL,
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
  ) STRICT;
INSERT INTO "operations" VALUES(1,'OP01M80607WA48PR7N3WPCRCTP1J','payout','environment variables','sandbox','http://127.0.0.1:41999/cp/api/v1','c82ae6a2afdf270c','OLD-1','da25a8f6a72d8dd6740bb298ed9043a238e07943f70ab57c639ff964363450b8',50025,NULL,'{"amount":500.25,"merchantRef":"OLD-1","recipientNumber":"01712345678","paymentMethodId":"665f1c2ab8e4"}','CONFIRMED','POPJG8HSGTQBA9','Processing',NULL,NULL,1,'root','payout send','2026-11-21T23:10:29.259Z','2026-11-21T23:10:29.276Z',NULL);
INSERT INTO "operations" VALUES(2,'OP01M8060845741ZG3KG2SHJ6G1H','payment','environment variables','sandbox','http://127.0.0.1:41999/cp/api/v1','c82ae6a2afdf270c',NULL,'94b15d7ddf324601f639029cfb57dfecc3d40854af3e05a8f374d59c9d9a54a8',10000,NULL,'{"description":"tea","paymentMethodId":"665f1c2ab8e4","redirect_url":"https://a.example/","callback_url":"http://127.0.0.1:41999/callback","amount":100}','CONFIRMED','TXV2P8VWHDDFPJ','Processing',NULL,NULL,1,'root','pay create','2026-11-21T23:10:29.512Z','2026-11-21T23:10:29.536Z',NULL);
INSERT INTO "operations" VALUES(3,'OP01M80608GKFBXBMCAWM4PDGV7C','payout','environment variables','sandbox','http://127.0.0.1:41999/cp/api/v1','c82ae6a2afdf270c','ROW-1','4a3e22a2ff0a003a5878e4e40ad569bb6c590bb5d5f0af0915d0af8e4216d1e8',1000,NULL,'{"amount":10,"merchantRef":"ROW-1","recipientNumber":"01712345678","paymentMethodId":"665f1c2ab8e4"}','CONFIRMED','POF3SMXGCA9REP','Processing',NULL,NULL,1,'root','payout batch send','2026-11-21T23:10:29.909Z','2026-11-21T23:10:29.931Z',NULL);
INSERT INTO "operations" VALUES(4,'OP01M80608GPYM0XKRYJ55A3PKP5','payout','environment variables','sandbox','http://127.0.0.1:41999/cp/api/v1','c82ae6a2afdf270c','ROW-2','48389874b5eb84700f3fb4c8b754019ca00a9a485e708434fbbfac42cc6b79d4',2050,NULL,'{"amount":20.5,"merchantRef":"ROW-2","recipientNumber":"01812345678","paymentMethodId":"665f1c2ab8e5"}','CONFIRMED','PO006432RQ3YTT','Processing',NULL,NULL,1,'root','payout batch send','2026-11-21T23:10:29.910Z','2026-11-21T23:10:29.933Z',NULL);
CREATE UNIQUE INDEX by_reference ON operations (base_url, key_id, reference) WHERE reference IS NOT NULL;
CREATE INDEX by_owner ON operations (base_url, key_id, kind, number);
CREATE INDEX by_age ON operations (base_url, key_id, number);
CREATE INDEX by_remote_id ON operations (base_url, key_id, remote_id, kind) WHERE remote_id IS NOT NULL;
CREATE INDEX by_status ON operations (base_url, key_id, kind, status, number);
CREATE INDEX by_target ON operations (base_url, key_id, kind, target) WHERE target IS NOT NULL;
CREATE INDEX unsettled ON operations (base_url, key_id, number) WHERE state IN ('INTENT', 'UNCERTAIN');
CREATE INDEX events_by_operation ON events (operation, number);
CREATE INDEX same_payment ON operations (base_url, key_id, fingerprint) WHERE kind = 'payment';
CREATE INDEX cancelled_payout ON operations (base_url, key_id, fingerprint)
    WHERE kind = 'payout' AND status = 'Cancelled';
CREATE UNIQUE INDEX batches_by_file ON batches (base_url, key_id, file_hash);
CREATE UNIQUE INDEX batches_by_id ON batches (base_url, key_id, id);
CREATE UNIQUE INDEX batches_by_name ON batches (base_url, key_id, name) WHERE digest IS NOT NULL;
COMMIT;
PRAGMA user_version = 2;
PRAGMA foreign_keys = ON;
