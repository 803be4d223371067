import { agentBugs } from "./agents.js";
/**
 * Bugs that are decorators: `decorate` gets what is at the seam and gives what is wrong instead of it.
 * One of `tests` has to fail: files, then perhaps `-t` and a pattern of titles. They are few and quick, and
 * the same in every run: what random seeds catch today may escape tomorrow.
 *
 * @typedef {{ name: string, seam: string, decorate: (...asked: any[]) => any, tests: string[] }} Bug
 * @type {Bug[]}
 */
import { batchBugs } from "./batches.js";
import { clientBugs } from "./client.js";
import { databaseBugs } from "./database.js";
import { decideBugs } from "./decide.js";
import { hostBugs } from "./host.js";
import { limitBugs } from "./limits.js";
import { otherLoginBugs } from "./other-logins.js";
import { overlapBugs } from "./overlaps.js";
import { payoutBugs } from "./payouts.js";
import { payrollBugs } from "./payrolls.js";
import { profileBugs } from "./profiles.js";
import { rawBugs } from "./raw.js";
import { recordBugs } from "./records.js";
import { resolveBugs } from "./resolve.js";
import { sealBugs } from "./seals.js";
import { serverBugs } from "./server.js";
import { statementBugs } from "./statements.js";
import { verificationBugs } from "./verification.js";
import { wireBugs } from "./wire.js";
export const bugs = [
  ...agentBugs,
  ...databaseBugs,
  ...wireBugs,
  ...clientBugs,
  ...hostBugs,
  ...decideBugs,
  ...limitBugs,
  ...otherLoginBugs,
  ...overlapBugs,
  ...payoutBugs,
  ...payrollBugs,
  ...batchBugs,
  ...recordBugs,
  ...resolveBugs,
  ...profileBugs,
  ...rawBugs,
  ...sealBugs,
  ...serverBugs,
  ...statementBugs,
  ...verificationBugs,
];
