import { existsSync } from "node:fs";
import { proxySettings } from "../api/proxy.ts";
import type { RawOutcome } from "../api/raw.ts";
import type { Account } from "../config/account.ts";
import { masked } from "../domain/api-keys.ts";
import { Failure } from "../domain/failure.ts";
import { formatDay } from "../domain/local-time.ts";
import { toleratedClockMs } from "../domain/timestamp.ts";
import { isLoopback, parseUrl } from "../domain/url.ts";
import { ledgerPath } from "../ledger/head.ts";
import type { Result } from "../verification/stored.ts";
import {
  type CheckContext,
  check,
  type Finding,
  failed,
  passed,
  skipped,
  type Verdict,
  warning,
} from "./finding.ts";

interface Response {
  outcome: RawOutcome;
  /** Undefined if the response has no `Date`. */
  clockAheadMs: number | undefined;
}

const apiChecks = ["connection", "access", "clock", "ip-allowlist"];

/** Checks profile, API key, payout secret and base URL, then makes one request, as every command does. */
export async function* checkApi(context: CheckContext): AsyncIterable<Finding> {
  let account: Account | undefined;
  yield await check("profile", async () => {
    const { profile, shadows } = await context.config.settings();
    if (!profile) return skipped("No profile is in use.");
    const how = profile.source === "default profile" ? "the default" : `from ${profile.source}`;
    const message = `Profile ${profile.value} is in use (${how}).`;
    return shadows.length > 0
      ? warning([message, ...shadows].join(" "), "Unset the variables that should not apply.")
      : passed(message);
  });
  yield await check("key", async () => {
    account = await context.config.account();
    return passed(`${masked(account.apiKey)} is a ${account.environment} key.`);
  });
  yield await check("payout-secret", async () => {
    const { profile, payoutSecret } = await context.config.settings();
    if (payoutSecret) await context.config.payoutSecret();
    return payoutSecret
      ? passed(`Payout secret found in ${payoutSecret.source}.`)
      : warning(
          "No payout secret is set. Payouts cannot be signed.",
          `Set LENDEN_PAYOUT_SECRET, or run 'lenden profile ${profile ? `rotate ${profile.value}` : "add"}'.`,
        );
  });
  const skips = (names: string[], message: string): Finding[] =>
    names.map((name) => ({ check: name, ...skipped(message) }));
  if (!account)
    return yield* skips(
      ["base-url", ...apiChecks, "verification"],
      "Not checked, because there is no valid API key with a base URL.",
    );
  const url = new URL(account.baseUrl);
  // Without user, password and query: any of them may be a secret.
  yield await check("base-url", () => passed(`The base URL is ${url.origin}${url.pathname}.`));

  let response: Response | undefined;
  yield await check("connection", async () => {
    try {
      const found = await requestMethods(context);
      if (found.outcome.status !== null) response = found;
      return connection(url, found.outcome);
    } catch (error) {
      if (!(error instanceof Failure) || error.details.code === undefined) throw error;
      return unreachable(url, error, context.host.env);
    }
  });
  const found = response;
  if (found) {
    yield await check("access", () => access(found));
    yield await check("clock", () => clock(found));
  } else yield* skips(["access", "clock"], "Not checked, because the API did not respond.");
  yield await check("ip-allowlist", () => ipAllowlist(url));
  yield await check("verification", () => verification(context));
}

async function requestMethods({ api, host }: CheckContext): Promise<Response> {
  const startedMs = host.now();
  const outcome = await api.raw({ method: "GET", path: "/payment/methods", body: undefined });
  const dateMs = Date.parse(String(outcome.headers.date));
  const aheadMs = dateMs - (startedMs + host.now()) / 2;
  return { outcome, clockAheadMs: Number.isNaN(aheadMs) ? undefined : aheadMs };
}

function connection({ host }: URL, { answer, status }: RawOutcome): Verdict {
  if (status !== null) return passed(`${host} responded.`);
  const why = answer.kind === "unclear" ? ` (${answer.why})` : "";
  return failed(
    `${host} sent no valid response${why}.`,
    "Check the base URL and the proxy, then run 'lenden doctor' again.",
  );
}

/** Cause and hint by the code of the network error; the first that matches. Without a cause, the failure names it. */
const causes: [codes: RegExp, cause: string | undefined, hint: string][] = [
  [/^(?:ENOTFOUND|EAI_)/, "its name cannot be resolved", "Check the host, the network and DNS."],
  [/^ECONNREFUSED$/, undefined, "Check host and port."],
  [/^E(?:.*UNREACH|ADDRNOTAVAIL)$/, undefined, "Check the network of this machine."],
  [/TIMEOUT|^ETIMEDOUT$/, undefined, "Check the firewall, and set HTTPS_PROXY if needed."],
  [/^CERT_(?:HAS|NOT)/, "its certificate is not valid now", "Check the date of this machine."],
  [/ALTNAME|HOSTNAME/, "its certificate is for another host", "Check the host in the base URL."],
  [
    /CERT|^UNABLE_TO_|^INVALID_CA/,
    "its certificate is not trusted",
    "Set NODE_EXTRA_CA_CERTS to the CA file of your proxy or virus scanner.",
  ],
  [
    /^(?:ERR_SSL|ERR_TLS|EPROTO)/,
    "TLS failed",
    "Check the port: the API must use TLS 1.2 or later.",
  ],
  [/./, "the connection failed", "Check the base URL, the network and the firewall."],
];

function unreachable(url: URL, failure: Failure, env: CheckContext["host"]["env"]): Verdict {
  const code = failure.details.code ?? "unknown";
  const [, cause, hint = ""] = causes.find(([codes]) => codes.test(code)) ?? [];
  const what = cause ? `Cannot connect to ${url.host}: ${cause}` : failure.message.slice(0, -1);
  const message = `${what} (${code}).`;
  // Only a local sandbox has no TLS. The failure's own hint names the command that starts it.
  if (url.protocol === "http:") return failed(message, failure.details.hint ?? hint);
  const { http, https = http } = proxySettings(env);
  const proxy = isLoopback(url) ? undefined : parseUrl(https ?? "");
  return failed(
    message,
    proxy
      ? `${hint} Check the proxy ${proxy.host} too: its user and password, and what it allows.`
      : hint,
  );
}

function access({ outcome: { answer, status } }: Response): Verdict {
  if (answer.kind === "data") return methods(answer.data);
  const said = answer.apiError.message ? `: ${answer.apiError.message}` : "";
  if (answer.kind === "refused" && answer.why === "access") {
    return failed(
      `The API rejected the key (HTTP ${status})${said}`,
      "Compare the key with the merchant dashboard (Settings → Development Info). Unless the API is a local sandbox, also add this machine's IP address to the allowlist there.",
    );
  }
  return failed(
    `The response is not valid (HTTP ${status}): ${answer.why}${said}`,
    "Check the base URL and its path. If it is right, contact the provider's support.",
  );
}

function methods(data: unknown): Verdict {
  const count = Array.isArray(data) ? data.length : 0;
  return count > 0
    ? passed(`The API accepts the key. Payment methods: ${count}.`)
    : warning(
        "The API accepts the key, but no payment method is enabled.",
        "Enable one in the merchant dashboard.",
      );
}

/** Warn before the clock is so far off that payouts fail. */
const warnAfterMs = 60_000;

function clock({ clockAheadMs }: Response): Verdict {
  if (clockAheadMs === undefined) return skipped("The response has no Date header.");
  const offMs = Math.abs(clockAheadMs);
  // `Date` has whole seconds.
  if (offMs <= 2_000) return passed("This machine's clock agrees with the API's.");
  const difference = `${Math.round(offMs / 1000)} s ${clockAheadMs > 0 ? "behind" : "ahead of"} the API's`;
  const message = `This machine's clock is ${difference}.`;
  if (offMs <= warnAfterMs) return passed(message);
  const hint = "Set the clock with NTP. lenden sends no payout if it is more than 4 minutes off.";
  return offMs > toleratedClockMs ? failed(message, hint) : warning(message, hint);
}

/** Offline: what 'lenden verify-api' stored for the account. */
async function verification({ config, host, ledger }: CheckContext): Promise<Verdict> {
  const never = {
    ...skipped("The API was never verified."),
    hint: "To test what lenden assumes about it, run 'lenden verify-api' with a sandbox profile.",
  };
  const { environment } = await config.recordsOwner();
  const { ledger: server, baseUrl } = await config.settings();
  // The check of the ledger reports a damaged one; none is created here.
  const exists = server !== undefined || existsSync(ledgerPath(host.folders.data));
  if (!environment || !exists) return never;
  const account = await ledger
    .records()
    .then((records) => records.account())
    .catch(() => undefined);
  if (account === undefined) return skipped("The ledger cannot be read.");
  const { storedFor } = await import("../verification/stored.ts");
  const { found, unreadable } = storedFor(host.folders.data, {
    ...{ environment, account },
    baseUrl: parseUrl(baseUrl?.value ?? "")?.href,
  });
  const again = "To test the API again, run 'lenden verify-api'.";
  if (unreadable[0])
    return warning(
      `Cannot read ${unreadable[0]}, the result of 'lenden verify-api'. Until then, lenden retries no payout of unknown outcome, and treats rejections as unknown outcomes.`,
      `Delete the file. ${again}`,
    );
  const [newest] = found;
  if (!newest) return never;
  const { results, at } = newest;
  const isOpen = ({ verdict }: Result) => verdict === "refuted" || verdict === "undecided";
  const tried = results.filter(({ verdict }) => verdict !== "skipped");
  const open = new Set(found.flatMap((one) => one.results.filter(isOpen).map(({ name }) => name)));
  const by = newest.account === account ? "" : ` with account ${newest.account}`;
  const message = `API verified ${formatDay(at)}${by}: ${tried.length - tried.filter(isOpen).length} of ${tried.length} assumptions hold.`;
  if (open.size === 0) return passed(message);
  return warning(`${message} Others: ${[...open].join(", ")}.`, again);
}

/** No response shows which addresses are on the list (docs/api.md §5). */
function ipAllowlist(url: URL): Verdict {
  if (isLoopback(url)) return skipped("An API on this machine needs no IP allowlist.");
  return {
    ...skipped("Only a payout shows whether this machine's IP address is on the allowlist."),
    hint: "Add the address in the merchant dashboard, Settings → Development Info.",
  };
}
