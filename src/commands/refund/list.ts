import { listCommand } from "../listing.ts";

export const refundList = listCommand({
  kind: "refund",
  group: "refund",
  idKey: "refundRequestId",
});
