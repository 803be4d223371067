import type { Command } from "../frame/command.ts";
import { api } from "./api.ts";
import { demo } from "./demo.ts";
import { methods } from "./methods.ts";
import { payCreate } from "./pay/create.ts";
import { payGet } from "./pay/get.ts";
import { payoutGet } from "./payout/get.ts";
import { payoutSend } from "./payout/send.ts";
import { payoutSign } from "./payout/sign.ts";
import { payoutVerify } from "./payout/verify.ts";
import { profileAdd } from "./profile/add.ts";
import { profileList } from "./profile/list.ts";
import { profileRemove } from "./profile/remove.ts";
import { profileRename } from "./profile/rename.ts";
import { profileSet } from "./profile/set.ts";
import { profileShow } from "./profile/show.ts";
import { profileUse } from "./profile/use.ts";
import { refundCancel } from "./refund/cancel.ts";
import { refundCreate } from "./refund/create.ts";
import { refundGet } from "./refund/get.ts";
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
  payoutSend,
  payoutGet,
  payoutSign,
  payoutVerify,
  refundCreate,
  refundGet,
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
  api,
  demo,
];
