import { baseUrlInUse, keyPlace, profileInUse, secretPlace, webAddress } from "./account.ts";
import { certificateOf } from "./certificate.ts";
import { type Attempt, attempt, type Finding, skipped, type Verdict } from "./finding.ts";
import { configFolder, dataFolder } from "./folders.ts";
import { ledgerHealth } from "./ledger.ts";
import { nameLookup } from "./lookup.ts";
import { extraAuthorities, nodeVersion, verification, versions } from "./machine.ts";
import type { Patient } from "./patient.ts";
import { proxyOnTheWay, routeTo } from "./route.ts";
import { accessOf, askService, clockOf, whitelistOf } from "./service.ts";
import { connectionTo } from "./wire.ts";

/** Looks at everything that a payment depends on, one after the other; each finding comes at once. */
export async function* examine(patient: Patient): AsyncIterable<Finding> {
  const { host } = patient;
  yield named("lenden", versions(patient));
  yield named("node", nodeVersion(host));
  // Before anything reads the profiles: that mends their modes, and nobody would hear of it.
  yield await checked("config", () => configFolder(host));
  yield await checked("data", () => dataFolder(host));
  yield await checked("ledger", () => ledgerHealth(host));
  yield* accountFindings(patient);
  yield await checked("authorities", () => extraAuthorities(host));
  yield named("verification", verification(host));
  yield* serviceFindings(patient);
}

async function* accountFindings(patient: Patient): AsyncIterable<Finding> {
  const settings = await attempt(() => patient.settings());
  yield named("profile", judged(settings, profileInUse));
  if ("verdict" in settings) {
    yield* allSkipped(["base-url", "key", "payout-secret"], "the profile cannot be used");
    return;
  }
  yield named("base-url", baseUrlInUse(settings.value));
  yield await checked("key", () => keyPlace(settings.value, patient));
  yield await checked("payout-secret", () => secretPlace(settings.value, patient));
}

/** From the address to an answer: what cannot be reached need not be asked. */
async function* serviceFindings(patient: Patient): AsyncIterable<Finding> {
  const { host } = patient;
  const settings = await attempt(() => patient.settings());
  const baseUrl = "value" in settings ? settings.value.baseUrl : undefined;
  const url = baseUrl && webAddress(baseUrl.value);
  if (!url) {
    const checks = ["proxy", "name", "connection", "certificate", "access", "clock", "whitelist"];
    yield* allSkipped(checks, "there is no base URL to go to");
    return;
  }
  const route = routeTo(url, host.env);
  yield named("proxy", proxyOnTheWay(route));
  const looked = await attempt(() => nameLookup(route, host));
  yield named(
    "name",
    judged(looked, ({ verdict }) => verdict),
  );
  const connected = await connectionTo(route, "value" in looked ? looked.value.addresses : []);
  yield named("connection", connected.verdict);
  const certificate = certificateOf(connected, host.now());
  yield named("certificate", certificate);
  const isTrusted = connected.isOpen && certificate.state !== "failed";
  yield* isTrusted ? answerFindings(patient) : allSkipped(["access", "clock"], "nobody was asked");
  yield named("whitelist", whitelistOf(url));
}

async function* answerFindings(patient: Patient): AsyncIterable<Finding> {
  const account = await attempt(() => patient.account());
  if ("verdict" in account) {
    yield* allSkipped(["access", "clock"], "there is no key to ask with");
    return;
  }
  const asked = await attempt(() => askService(patient));
  yield named("access", judged(asked, accessOf));
  yield named("clock", "value" in asked ? clockOf(asked.value) : skipped("there was no answer"));
}

async function checked(check: string, look: () => Promise<Verdict>): Promise<Finding> {
  return named(
    check,
    judged(await attempt(look), (verdict) => verdict),
  );
}

function judged<Value>(attempted: Attempt<Value>, judge: (value: Value) => Verdict): Verdict {
  return "value" in attempted ? judge(attempted.value) : attempted.verdict;
}

function* allSkipped(checks: string[], why: string): Iterable<Finding> {
  for (const check of checks) yield named(check, skipped(why));
}

function named(check: string, verdict: Verdict): Finding {
  return { check, ...verdict };
}
