import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { inDatabase, type Merchant } from "../support/merchant.ts";
import { merchantWithPayouts, reconciledBy } from "./small-statement.ts";

let merchant: Merchant;
/** The API's ID of the payout W-7. */
let id: string;

beforeEach(async () => {
  merchant = await merchantWithPayouts([["W-1", "1250.50", "01712345678"]], onTestFinished);
  const what = ["--amount", "500", "--to", "01812345678", "--method", "bkash", "--yes"];
  id = await merchant.id(["payout", "send", "--ref", "W-7", ...what]);
});

/** The API has the payout W-7 with its last status, and lenden knows it. */
async function end(status: "Completed" | "Cancelled") {
  await merchant.set("payout", id, status);
  await merchant.lenden(["payout", "get", id]);
}

async function reconciled(lines: string[], ...more: string[]) {
  const { code, stderr, found } = await reconciledBy(merchant, lines, "--mapping", "w", ...more);
  const shown = found.lines?.map(({ line, result, explained, proposals }) =>
    [
      ...[line, result, explained],
      ...proposals.map(({ reference, isReturn }) =>
        isReturn ? `returns ${reference}` : reference,
      ),
    ]
      .filter(Boolean)
      .join(" "),
  );
  return { code, stderr, shown };
}

const entries = async () =>
  JSON.parse((await merchant.lenden(["report", "--json"])).stdout).accounts[0].total;

const named = ["Trx,Reference,Receiver,Debit,Credit", "T1,W-1,01712345678,1250.50,"];
const debit = "T2,W-7,01812345678,500,";
const foreign = ["--map", "Trx=line-id"];

describe("a cancelled payout whose money comes back on a line without its reference", () => {
  beforeEach(() => end("Cancelled"));

  test.each([
    ["no recipient", "T3,,,,500"],
    ["the same number", "T3,,+8801812345678,,500"],
    ["a masked number", "T3,,018*****678,,500"],
  ])("is proposed for the line with %s, and accepted once", async (_, credit) => {
    const lines = [...named, debit, credit];
    const open = await reconciled(lines, ...foreign);
    expect(open).toMatchObject({
      code: 5,
      shown: ["2 matched", "3 differs", "4 only-in-statement returns W-7"],
    });
    expect(open.stderr).toContain("W-7 is Cancelled, and line 4 may");
    const closed = {
      code: 0,
      shown: ["2 matched", "3 matched", "4 only-in-statement accepted"],
    };
    expect(await reconciled(lines, "--accept", "4=W-7:returned")).toMatchObject(closed);
    expect(await reconciled(lines)).toMatchObject(closed);
    // The newest line may be the first one.
    const newest = [lines[0] ?? "", credit, debit];
    expect(await reconciled(newest)).toMatchObject({
      shown: ["2 only-in-statement accepted", "3 matched"],
    });
    expect(await entries()).toMatchObject({ net: "-1250.5", entries: { amount: "0" } });
  });

  test.each([
    ["another recipient", "T3,,01912345678,,500"],
    ["another amount", "T3,,,,500.01"],
    ["the same direction", "T3,,,500,"],
  ])("is not proposed for a line with %s", async (_, credit) => {
    const { code, stderr, shown } = await reconciled([...named, debit, credit], ...foreign);
    expect({ code, line: shown?.[2] }).toEqual({ code: 5, line: "4 only-in-statement" });
    expect(stderr).toContain("W-7 is Cancelled, and no line");
  });

  test("is tied to both lines if none has its reference", async () => {
    const lines = [...named, "T2,,01812345678,500,", "T3,,01812345678,,500"];
    expect(await reconciled(lines, ...foreign)).toMatchObject({
      code: 6,
      shown: ["2 matched", "3 only-in-statement W-7", "4 only-in-statement returns W-7"],
    });
    const all = ["--accept-unique", "--reason", "same number and amount"];
    const closed = { code: 0, shown: ["2 matched", "3 matched", "4 only-in-statement accepted"] };
    expect(await reconciled(lines, ...all)).toMatchObject(closed);
    expect(await reconciled(lines)).toMatchObject(closed);
    // The debit alone may be a payment by hand.
    const byHand = await reconciled([...named, "T8,,01812345678,500,"]);
    expect(byHand).toMatchObject({ code: 6, shown: ["2 matched", "3 only-in-statement"] });
  });

  describe("in a file without signs", () => {
    const rows = ["Trx,Reference,Type,Amount,Balance", "T1,W-1,B2C Payment,1250.50,8749.50"];
    const sent = "T2,W-7,B2C Payment,500,8249.50";

    test("is the line that names it in the words of a reversal", async () => {
      const both = [sent, "T3,W-7,Reversal of B2C,500,8749.50"];
      const shown = ["2 matched", "3 matched", "4 matched"];
      expect(await reconciled([...rows, ...both], ...foreign)).toMatchObject({ code: 0, shown });
      const newest = [both[1] ?? "", both[0] ?? "", rows[1] ?? ""];
      expect(await reconciled([rows[0] ?? "", ...newest])).toMatchObject({ code: 0, shown });
    });

    test("is proposed for the words of a reversal, and for no other", async () => {
      const open = [sent, "T3,,Reversal of B2C,500,8749.50", "T4,,B2C Payment,500,8249.50"];
      expect(await reconciled([...rows, ...open], ...foreign)).toMatchObject({
        shown: ["2 matched", "3 differs", "4 only-in-statement returns W-7", "5 only-in-statement"],
      });
      const lines = [...rows, ...open.slice(0, 2)];
      expect(await reconciled(lines, "--accept", "4=W-7:returned")).toMatchObject({ code: 0 });
    });
  });

  test("is accepted for each half if the other one is in another statement", async () => {
    for (const [line, proposal] of [
      [debit, undefined],
      ["T3,W-7,,,500", undefined],
      ["T3,,01812345678,,500", "3 only-in-statement returns W-7"],
    ]) {
      const lines = [...named, line ?? ""];
      const open = await reconciled(lines, ...foreign);
      expect(open).toMatchObject({
        code: proposal ? 6 : 5,
        shown: ["2 matched", proposal ?? "3 differs"],
      });
      const closed = { code: 0, shown: ["2 matched", "3 only-in-statement accepted"] };
      expect(await reconciled(lines, "--accept", "3=W-7:in October")).toMatchObject(closed);
      expect(await reconciled(lines)).toMatchObject(closed);
    }
  });

  test("warns of an entry that counts the return again", async () => {
    const lines = [...named, debit, "T3,,,,500"];
    const instead = "--accept '4=W-7:<reason>'";
    const explained = await reconciled(lines, ...foreign, "--explain", "4=other:a top-up");
    expect(explained).toMatchObject({ code: 5, stderr: expect.stringContaining(instead) });
    expect((await reconciled(lines)).stderr).toContain(instead);
    const refused = await reconciled(lines, "--accept", "4=W-7:returned");
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'4=none:<reason>'"),
    });
    await reconciled(lines, "--explain", "4=none:returned");
    expect(await reconciled(lines, "--accept", "4=W-7:returned")).toMatchObject({ code: 0 });
  });
});

describe("a completed payout with a second line", () => {
  beforeEach(() => end("Completed"));

  const back = "T3,W-7,01812345678,,500";

  test.each([
    ["debited twice", [debit, "T3,W-7,01812345678,500,"], ["3 matched", "4 twice"], "-2250.5"],
    ["credited back", [debit, back], ["3 matched", "4 twice"], "-1250.5"],
    ["credited back, the newest line first", [back, debit], ["3 twice", "4 matched"], "-1250.5"],
  ])("%s: differs, and an entry counts its money", async (_, two, shown, net) => {
    const lines = [...named, ...two];
    const open = await reconciled(lines, ...foreign);
    expect(open).toMatchObject({ code: 5, shown: ["2 matched", ...shown] });
    expect(open.stderr).toContain(`'lenden payout get ${id}'`);
    const line = shown.find((one) => one.includes("twice"))?.split(" ")[0];
    expect(open.stderr).toContain(`--explain '${line}=other:<reason>'`);

    const accepted = await reconciled(lines, "--accept", `${line}=W-7:it is`);
    expect(accepted).toMatchObject({ code: 2, stderr: expect.stringContaining(`line ${line}`) });
    const explained = await reconciled(lines, "--explain", `${line}=other:ticket 55`);
    expect(explained).toMatchObject({ code: 0 });
    expect(await reconciled(lines)).toMatchObject({ code: 0 });
    expect(await entries()).toMatchObject({ net });
  });

  test("withdraws the entry after the API has it as Cancelled", async () => {
    const lines = [...named, debit, back];
    await reconciled(lines, ...foreign, "--explain", "4=other:ticket 55");
    await inDatabase(merchant.booksFile, (books) =>
      books.prepare("UPDATE records SET status = 'Cancelled' WHERE id = ?").run(id),
    );
    await merchant.lenden(["payout", "get", id]);
    const counted = await reconciled(lines);
    expect(counted).toMatchObject({
      code: 5,
      shown: ["2 matched", "3 matched", "4 matched entry"],
    });
    expect(counted.stderr).toContain("--explain '4=none:<reason>'");
    expect(await reconciled(lines, "--explain", "4=none:returned")).toMatchObject({ code: 0 });
    expect(await reconciled(lines)).toMatchObject({ code: 0 });
    expect(await entries()).toMatchObject({ net: "-1250.5", entries: { amount: "0" } });
  });

  test("is missing if the only line has money that came back, and that is an entry", async () => {
    const lines = [...named, back];
    expect(await reconciled(lines, ...foreign)).toMatchObject({
      code: 5,
      shown: ["2 matched", "3 differs"],
    });
    const explained = await reconciled(lines, "--explain", "3=other:ticket 55");
    expect(explained).toMatchObject({ code: 6, stderr: expect.stringContaining("W-7, BDT 500") });
    expect(await reconciled(lines, "--explain", "3=none:no")).toMatchObject({ code: 5 });
  });

  test.each([
    ["--accept", "9=W-1:x", "no line 9"],
    ["--accept", "2=W-1:x", "line 2 matches"],
    ["--accept", "3=W-7:x", "line 3 differs from its operation in amount"],
    ["--explain", "3=other:x", "line 3 is differs"],
  ])("rejects %s %s, which has no effect", async (flag, typed, why) => {
    const lines = [...named, "T2,W-7,01812345678,501,"];
    const { code, stderr } = await reconciled(lines, ...foreign, flag, typed);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) });
  });
});

describe("a statement whose amounts contain the fees", () => {
  const header = "Trx,Reference,Receiver,Debit,Credit,Fee";
  const own = "T1,W-1,01712345678,1255.50,,5.00";
  const accept = ["--accept-unique", "--reason", "less its fee", "--record-fees"];

  test("proposes a payout by the amount without its fee", async () => {
    await end("Completed");
    const lines = [header, own, "T2,,01812345678,505,,5.00"];
    const open = await reconciled(lines, ...foreign);
    expect(open.shown).toEqual(["2 matched", "3 only-in-statement W-7"]);
    expect(await reconciled(lines, ...foreign, ...accept)).toMatchObject({ code: 0 });
    expect(await entries()).toMatchObject({ net: "-1760.5" });
    expect(await reconciled(lines)).toMatchObject({ code: 0 });
  });

  test.each([
    ["less its fee", "500", "T2,W-7,01812345678,505,,5.00", "-1260.5"],
    ["less its fee, by the number", "500", "T2,,01812345678,505,,5.00", "-1260.5"],
    ["with its fee", "505", "T2,W-7,01812345678,505,,5.00", "-1255.5"],
  ])("proposes a cancelled payout that came back %s", async (_, back, sent, net) => {
    await end("Cancelled");
    const lines = [header, own, sent, `T3,,01812345678,,${back},`];
    expect((await reconciled(lines, ...foreign)).shown?.[2]).toContain("returns W-7");
    expect(await reconciled(lines, ...foreign, ...accept)).toMatchObject({ code: 0 });
    expect(await entries()).toMatchObject({ net });
  });

  test.each([
    ["less its fee", "500", "-1260.5"],
    ["with its fee", "505", "-1255.5"],
  ])("matches both lines of a cancelled payout that came back %s", async (_, back, net) => {
    await end("Cancelled");
    const lines = [header, own, "T2,W-7,01812345678,505,,5.00", `T3,W-7,,,${back},`];
    const found = await reconciled(lines, ...foreign, "--record-fees");
    expect(found).toMatchObject({ code: 0, shown: ["2 matched", "3 matched", "4 matched"] });
    expect(await entries()).toMatchObject({ net });
  });
});

test("a hint names --accept only for a line that can be accepted", async () => {
  await end("Cancelled");
  const sent = (amount: string) => [...named, `T2,W-7,01812345678,${amount},`];
  const flag = "--accept '3=W-7:<reason>'";
  expect((await reconciled(sent("500"), ...foreign)).stderr).toContain(flag);
  const other = await reconciled(sent("505"), ...foreign);
  expect(other.stderr).toContain("no line has the money of line 3");
  expect(other.stderr).not.toContain("--accept");
});

test("an accepted half of a return says by how much the report and the statement differ", async () => {
  await end("Cancelled");
  const sent = [...named, debit];
  const told = "the report differs from the statements by BDT -500.00";
  expect((await reconciled(sent, ...foreign)).stderr).not.toContain(told);
  const here = await reconciledBy(merchant, sent, ...foreign, "--accept", "3=W-7:in December");
  expect(here.code).toBe(0);
  expect(JSON.stringify(here.found.warnings)).toContain(told);
  const both = await reconciledBy(merchant, [...sent, "T3,W-7,,,500"], ...foreign);
  expect(both).toMatchObject({ code: 0 });
  expect(JSON.stringify(both.found.warnings ?? [])).not.toContain(told);
});
