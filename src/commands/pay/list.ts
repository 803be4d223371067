import { listCommand } from "../listing.ts";

export const payList = listCommand({ kind: "payment", group: "pay", idKey: "transactionId" });
