import type { Command } from "../cli/command/define-command.ts";
import { api } from "./api.ts";
import { callbackList } from "./callback/list.ts";
import { callbackListen } from "./callback/listen.ts";
import { callbackReplay } from "./callback/replay.ts";
import { callbackShow } from "./callback/show.ts";
import { callbackTest } from "./callback/test.ts";
import { callbackVerify } from "./callback/verify.ts";
import { completion } from "./completion.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { ledgerBackup } from "./ledger/backup.ts";
import { ledgerCheck } from "./ledger/check.ts";
import { ledgerExport } from "./ledger/export.ts";
import { ledgerList } from "./ledger/list.ts";
import { ledgerResolve } from "./ledger/resolve.ts";
import { ledgerRestore } from "./ledger/restore.ts";
import { ledgerShow } from "./ledger/show.ts";
import { methods } from "./methods.ts";
import { payCreate } from "./pay/create.ts";
import { payGet } from "./pay/get.ts";
import { payList } from "./pay/list.ts";
import { payWait } from "./pay/wait.ts";
import { batchCancel } from "./payout/batch/cancel.ts";
import { batchCheck } from "./payout/batch/check.ts";
import { batchExport } from "./payout/batch/export.ts";
import { batchList } from "./payout/batch/list.ts";
import { batchResolve } from "./payout/batch/resolve.ts";
import { batchSend } from "./payout/batch/send.ts";
import { batchStatus } from "./payout/batch/status.ts";
import { batchTemplate } from "./payout/batch/template.ts";
import { payoutGet } from "./payout/get.ts";
import { payoutList } from "./payout/list.ts";
import { payoutSend } from "./payout/send.ts";
import { payoutSign } from "./payout/sign.ts";
import { payoutVerify } from "./payout/verify.ts";
import { payoutWait } from "./payout/wait.ts";
import { profileAdd } from "./profile/add.ts";
import { profileRemove, profileRename, profileSet, profileUse } from "./profile/change.ts";
import { profileList, profileShow } from "./profile/show.ts";
import { refundCancel } from "./refund/cancel.ts";
import { refundCreate } from "./refund/create.ts";
import { refundGet } from "./refund/get.ts";
import { refundList } from "./refund/list.ts";
import { refundWait } from "./refund/wait.ts";
import { sandboxExec } from "./sandbox/exec.ts";
import { sandboxInfo } from "./sandbox/info.ts";
import { sandboxRequests } from "./sandbox/requests.ts";
import { sandboxSet } from "./sandbox/set.ts";
import { sandboxStart } from "./sandbox/start.ts";
import { triggerPayment, triggerPayout } from "./sandbox/trigger.ts";

/** All commands, in the order in which the help shows them. */
export const commands: Command[] = [
  methods,
  payCreate,
  payGet,
  payWait,
  payList,
  payoutSend,
  payoutGet,
  payoutWait,
  payoutList,
  batchTemplate,
  batchCheck,
  batchSend,
  batchStatus,
  batchList,
  batchExport,
  batchResolve,
  batchCancel,
  payoutSign,
  payoutVerify,
  refundCreate,
  refundGet,
  refundWait,
  refundList,
  refundCancel,
  sandboxStart,
  sandboxExec,
  triggerPayment,
  triggerPayout,
  sandboxSet,
  sandboxRequests,
  sandboxInfo,
  profileAdd,
  profileList,
  profileShow,
  profileUse,
  profileSet,
  profileRename,
  profileRemove,
  ledgerShow,
  ledgerList,
  ledgerResolve,
  ledgerExport,
  ledgerCheck,
  ledgerBackup,
  ledgerRestore,
  doctor,
  callbackListen,
  callbackVerify,
  callbackList,
  callbackShow,
  callbackReplay,
  callbackTest,
  api,
  completion,
  demo,
];
