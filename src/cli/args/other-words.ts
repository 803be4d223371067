import { distance } from "fastest-levenshtein";

/** Names of commands in other tools, by the name here. They run nothing and only lead to suggestions. */
export const otherWords: Record<string, string[]> = {
  pay: ["payment", "payments", "charge", "charges", "checkout", "collect", "invoice", "link"],
  payout: ["payouts", "transfer", "transfers", "disburse", "disbursement", "withdraw", "cashout"],
  batch: ["bulk", "batches", "payroll", "salary", "import", "upload", "csv", "file"],
  refund: ["refunds", "payback", "reverse", "reversal", "return"],
  methods: ["method", "provider", "providers", "wallet", "wallets"],
  sandbox: ["mock", "simulator", "emulator", "serve", "server", "local", "fake"],
  trigger: ["simulate", "fulfil", "complete"],
  profile: ["profiles", "account", "accounts", "auth", "config", "configure", "context", "key"],
  ledger: ["log", "logs", "journal", "history", "audit", "operations"],
  callback: ["callbacks", "webhook", "webhooks", "listen", "events", "hook"],
  doctor: ["diagnose", "health", "ping", "check", "verify-setup"],
  completion: ["completions", "autocomplete", "complete"],
  api: ["request", "call", "raw", "curl", "rest"],
  demo: ["tour", "tutorial", "example", "quickstart", "try"],
  create: ["new", "make", "add", "issue"],
  send: ["create", "new", "make", "transfer", "disburse", "run", "start", "submit"],
  get: ["show", "view", "describe", "retrieve", "status", "fetch", "find", "info", "read"],
  show: ["get", "view", "describe", "retrieve", "info", "whoami", "current", "cat"],
  status: ["get", "show", "progress", "report", "watch"],
  list: ["ls", "all", "index", "history", "search"],
  wait: ["watch", "poll", "follow"],
  cancel: ["void", "abort", "stop", "delete", "remove", "rm"],
  add: ["create", "new", "login", "init", "configure", "setup", "signin"],
  remove: ["rm", "delete", "del", "logout", "forget"],
  rename: ["mv", "move"],
  use: ["switch", "select", "default", "activate"],
  set: ["edit", "update", "change"],
  check: ["validate", "lint", "verify"],
  verify: ["validate", "check"],
  template: ["example", "sample", "new", "init", "create"],
  export: ["download", "dump", "write"],
  resolve: ["fix", "reconcile"],
  requests: ["log", "logs", "events", "history"],
  exec: ["run", "with"],
  start: ["serve", "server", "up", "run"],
};

/**
 * Names of flags in other tools, without hyphens. None leads to --again, which may pay twice.
 */
export const otherFlags: Record<string, string[]> = {
  amount: ["amt", "sum", "total", "value", "bdt", "taka", "price"],
  to: ["recipient", "recipient-number", "receiver", "phone", "mobile", "number", "msisdn"],
  ref: ["reference", "merchant-ref", "merchantRef", "idempotency-key", "client-reference"],
  name: ["recipient-name", "recipientName", "beneficiary"],
  description: ["desc", "memo", "message", "purpose"],
  note: ["reason", "comment", "memo", "message"],
  method: ["provider", "payment-method", "via", "channel", "wallet"],
  "method-id": ["payment-method-id", "paymentMethodId"],
  payment: ["transaction", "transaction-id", "transactionId", "payment-id", "charge", "id"],
  "account-number": ["account", "to", "number", "phone", "mobile", "accountNumber"],
  "account-type": ["type", "accountType"],
  payer: ["customer", "phone", "mobile", "payer-number", "suggested-payer-number", "from"],
  "redirect-url": ["redirect", "return-url", "success-url", "redirect_url"],
  "callback-url": ["callback", "webhook", "webhook-url", "notify-url", "callback_url"],
  "wait-timeout": ["max-wait", "wait-for"],
  interval: ["poll", "poll-interval", "every"],
  since: ["from", "after", "start", "created-after"],
  until: ["to", "before", "end", "created-before"],
  limit: ["max", "count", "max-items", "per-page", "page-size", "top"],
  status: ["state", "filter"],
  concurrency: ["parallel", "jobs", "workers", "threads"],
  rate: ["rps", "throttle", "rate-limit"],
  "expect-total": ["total", "amount"],
  "expect-count": ["count", "rows"],
  follow: ["tail", "watch", "stream"],
  field: ["data", "form", "raw-field", "param"],
  input: ["body", "file", "json-body", "data-file"],
  include: ["headers", "head"],
  "dry-run": ["preview", "simulate", "noop", "what-if", "test"],
  yes: ["confirm", "assume-yes", "no-confirm"],
  output: ["format", "out"],
  quiet: ["silent", "id-only"],
  verbose: ["debug", "trace"],
  profile: ["account", "project", "context", "as"],
  "base-url": ["url", "host", "endpoint", "endpoint-url", "server", "api-base"],
  "no-input": ["non-interactive", "batch", "no-prompt", "no-interactive"],
  color: ["colour", "colors", "colours"],
  timeout: ["max-time", "deadline"],
  "key-file": ["api-key-file"],
  "secret-file": ["payout-secret-file"],
};

/** Other names of help topics. */
export const otherTopics: Record<string, string[]> = {
  flags: ["environment", "env", "variables", "options", "profiles"],
  formats: ["amounts", "numbers", "times", "durations", "ids", "references", "output"],
  "exit-codes": ["exits", "errors", "statuses", "ci"],
};

/** Flags that take a secret in other tools, without hyphens; here no flag does. */
const secretFlags = [
  ...["key", "apikey", "xapikey", "accesskey", "secretkey", "privatekey"],
  ...["token", "apitoken", "accesstoken", "authtoken", "bearer"],
  ...["secret", "secrets", "apisecret", "clientsecret", "payoutsecret"],
  ...["password", "passwd", "passphrase", "auth", "authorization", "credential", "credentials"],
];

/** True if a flag's name suggests that its value is a secret; a long name may be mistyped. */
export function namesSecret(bare: string): boolean {
  const name = bare.toLowerCase().replace(/[-_]/g, "");
  const most = name.length < 5 ? 0 : name.length < 6 ? 1 : 2;
  return secretFlags.some((secret) => secret === name || distance(secret, name) <= most);
}
