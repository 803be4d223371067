import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type ConnectionOptions, checkServerIdentity, rootCertificates } from "node:tls";
import type { Account, RecordsOwner } from "../../config/account.ts";
import { fetchSecret } from "../../config/secrets.ts";
import type { LedgerSettings } from "../../config/settings.ts";
import { isInQuotes, removeQuotes } from "../../domain/api-keys.ts";
import { systemReason } from "../../domain/error-code.ts";
import { Failure, usage, whyAndHint } from "../../domain/failure.ts";
import { beginning } from "../../ledger/chain.ts";
import { serverHeadPath } from "../../ledger/head.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { readHead, writeHead } from "../../ledger/position.ts";
import type { ServerLogin } from "../../ledger/postgres/connection.ts";
import { createSchema } from "../../ledger/postgres/init.ts";
import { openServerLedger, type UnseenLedger } from "../../ledger/postgres/ledger.ts";
import type { ServerPlace } from "../../ledger/postgres/place.ts";
import { ownerRole, readerRole, writerRole } from "../../ledger/postgres/schema.ts";
import type { ServerIdentity } from "../../ledger/server-identity.ts";
import type { Recorder } from "../../ledger/worker.ts";
import type { Host } from "../../platform/host.ts";
import { secretSurroundings } from "./config-access.ts";
import type { RunParts } from "./parts.ts";

type ServerParts = Pick<RunParts, "host" | "scrubber" | "notice" | "closing" | "leftMs">;

/** Called before the first write to a ledger that is new to this machine. */
type ConfirmUnseen = (url: string, found: UnseenLedger) => Promise<void>;

/**
 * Opens a ledger on PostgreSQL. Nothing is created on this machine but the file of its stored head.
 *
 * @throws Failure if it cannot be reached or used; nothing was sent then
 */
export async function openServer(
  { host, scrubber, notice, closing, leftMs }: ServerParts,
  settings: LedgerSettings,
  owned: Account | RecordsOwner,
  recorder: Recorder,
  confirmUnseen?: ConfirmUnseen,
): Promise<Ledger> {
  const login = await serverLogin(settings, { host, scrubber, leftMs });
  const { monotonicMs, now: wallMs } = host;
  const worker = { ...recorder, monotonicMs, wallMs, leftMs };
  const headFile = serverHeadFile(host, settings);
  const { ledger, connection, close } = await openServerLedger(
    login,
    worker,
    headFile,
    confirmUnseen && ((found) => confirmUnseen(settings.url.value.text, found)),
  );
  closing.push(close);
  // A command that sends fails for this reason; a list would be taken for complete.
  const incomplete = "baseUrl" in owned ? undefined : connection.unaccepted();
  if (incomplete) notice(whyAndHint(incomplete));
  return ledger;
}

/** @returns also the roles of which each login has to be a member of one, and the statements that make it one */
export async function createServerLedger(
  settings: LedgerSettings,
  parts: Pick<RunParts, "host" | "scrubber" | "leftMs">,
) {
  const { isNew, server } = await createSchema(await serverLogin(settings, parts), parts.leftMs);
  if (isNew) storeNew(serverHeadFile(parts.host, settings), server);
  const grantOf = (role: string) => `GRANT ${role} TO <login>`;
  return {
    url: settings.url.value.text,
    isNew,
    ...{ role: writerRole, grant: grantOf(writerRole) },
    ...{ readerRole, readerGrant: grantOf(readerRole) },
    ...{ ownerRole, ownerGrant: grantOf(ownerRole) },
  };
}

/**
 * A ledger that this machine created is not new to it. A stored position stays, because the ledger that it is of was
 * lost.
 */
function storeNew(headFile: string, server: ServerIdentity): void {
  if (readHead(headFile) !== "missing") return;
  try {
    writeHead(headFile, { number: 0n, hash: beginning }, { server });
  } catch {
    // The first payout asks whether to use it.
  }
}

/** The ledger of the settings, for work on it as a whole. */
export function serverPlace(
  settings: LedgerSettings,
  parts: Pick<RunParts, "host" | "scrubber" | "leftMs">,
): ServerPlace {
  const { host, leftMs } = parts;
  return {
    url: settings.url.value.text,
    headFile: serverHeadFile(host, settings),
    login: () => serverLogin(settings, parts),
    host,
    leftMs,
  };
}

/** All logins of this machine share the stored head of a ledger. */
export function serverHeadFile({ folders }: Pick<Host, "folders">, { url }: LedgerSettings) {
  return serverHeadPath(folders, url.value.ledger);
}

/** How this run logs in. Every value is given, so that no variable of PostgreSQL's own tools replaces one. */
async function serverLogin(
  { url: { value: url }, password, ca }: LedgerSettings,
  { host, scrubber, leftMs }: Pick<RunParts, "host" | "scrubber" | "leftMs">,
): Promise<ServerLogin> {
  const tls = url.isLocal ? false : tlsOptions(url.host, ca?.value);
  const { text, port, database, user } = url;
  // Before the connection: the command may wait for a person.
  const secret = password && (await fetchSecret(password, secretSurroundings(host, leftMs))).value;
  if (secret !== undefined) scrubber.learnPassword(secret, text);
  const isVariable = password?.source === "LENDEN_LEDGER_PASSWORD";
  if (isVariable && secret !== undefined && isInQuotes(secret))
    throw new Failure("ledger.access-denied", "LENDEN_LEDGER_PASSWORD is in quotes.", {
      hint: `${removeQuotes} If the quotes belong to the password, use a password command.`,
    });
  return {
    ...{ text, host: url.host, port, database, user, tls },
    password: async () => {
      if (secret !== undefined) return secret;
      throw new Failure("ledger.access-denied", `The ledger ${text} requires a password.`, {
        hint: "Set LENDEN_LEDGER_PASSWORD, or a command that prints it: 'lenden profile set ledger-password-command <command>'.",
      });
    },
  };
}

/** The name is checked here: for an IP address, pg would compare the certificate with `localhost`. */
function tlsOptions(host: string, ca: string | undefined): ConnectionOptions {
  return {
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    ...(ca === undefined ? {} : { ca: [...rootCertificates, readCertificate(ca)] }),
  };
}

function readCertificate(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure("file.unreadable", `Cannot read ${file}: ${systemReason(error)}.`, {
      hint: "Set --ledger-ca to a file with the CA certificate in PEM format.",
    });
  }
  try {
    new X509Certificate(text);
    return text;
  } catch {
    throw usage([`--ledger-ca: ${file} is not a certificate in PEM format.`]);
  }
}
