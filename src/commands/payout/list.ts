import { listCommand } from "../listing.ts";

export const payoutList = listCommand({ kind: "payout", group: "payout", idKey: "payoutId" });
