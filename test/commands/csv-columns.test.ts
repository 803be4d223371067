import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resultColumns } from "../../src/batches/header.ts";
import { scratchFolder } from "../support/helpers.ts";
import { busyMerchant } from "./busy-merchant.ts";

/** Scripts and spreadsheets read CSV by the places of its columns: each of these may only grow at its end. */
const columns: Record<string, string> = {
  "pay list":
    "id,amount,description,status,createdAt,account,method,refunded,refundPending,refundsDiffering,payment_url,state,updatedAt,operation,test,login,actor",
  "payout list":
    "id,merchantRef,amount,recipientNumber,status,createdAt,account,recipientName,method,batch,description,state,message,updatedAt,operation,test,login,actor",
  "refund list":
    "id,amount,accountNumber,status,createdAt,account,transactionId,accountType,note,state,message,updatedAt,operation,test,login,actor",
  "ledger list":
    "operation,kind,reference,amount,state,createdAt,account,status,remoteId,target,method,batch,message,updatedAt,test,login,actor",
  "ledger export":
    "operation,kind,reference,remoteId,target,amount,state,status,code,message,attempts,createdAt,updatedAt,profile,environment,baseUrl,user,command,account,recipient,name,method,batch,payment,localTime,completedAt,completedLocalTime,login,actor",
  "payout batch list":
    "batch,name,rows,total,accepted,failed,conflict,uncertain,unsent,createdAt,status,cancelledAt,user,login",
  "callback list":
    "number,receivedAt,count,verdict,about,claimed,verified,forwarded,source,explanation,handler",
  report:
    "environment,account,day,name,payments,paymentsCount,refunds,refundsCount,payouts,payoutsCount,net,unknown,unknownCount,inProgress,inProgressCount,noLongerCompleted,noLongerCompletedCount,differingCount,entries,entriesCount",
  "sandbox statement": "date,id,reference,type,amount,fee,balance,status",
};

test("the columns of CSV stay in their order", async () => {
  const { merchant } = await busyMerchant();
  const found = Object.keys(columns).map(async (line) => {
    const { stdout } = await merchant.lenden([...line.split(" "), "-o", "csv"]);
    return [line, stdout.split("\r\n")[0]];
  });
  expect(Object.fromEntries(await Promise.all(found))).toEqual(columns);
  const statement = await merchant.lenden(["sandbox", "statement"]);
  const file = join(scratchFolder(), "statement.csv");
  writeFileSync(file, statement.stdout);
  const { stdout } = await merchant.lenden(["reconcile", file, "--yes", "-o", "csv"]);
  expect(stdout.split("\r\n")[0]).toBe("result,line,id,amount,operation,detail");
  expect(resultColumns.join(" ")).toBe(
    "payoutId state status code message sentAt updatedAt existing",
  );
});
