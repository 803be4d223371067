import { expect, test } from "vitest";
import { totalsOf } from "../../src/batches/rows.ts";
import { amountText } from "../../src/domain/amount.ts";
import { runs } from "../support/helpers.ts";
import { openMerchant } from "../support/merchant.ts";
import { type Case, corpus, noTable } from "./corpus.ts";
import { checkPath, examiner, fileOf, places } from "./files.ts";

const longest = 300_000;

test(
  "reads every file of the corpus, and finds each problem at its line and column",
  async () => {
    const examine = examiner();
    const cases = corpus;
    const found: Found[] = [];
    for (const { name, bytes, delimiter } of cases) {
      const read = await examine(bytes, delimiter).catch(() => undefined);
      const { total } = totalsOf(read?.rows ?? []);
      const finds = read ? places(read.findings) : noTable;
      found.push(foundOf(name, finds, total.count, amountText(total.sumPaisa)));
    }
    expect(wrongOf(found, cases)).toEqual(wrongOf(cases.map(expected), found));
  },
  longest,
);

test(
  "batch check finds the same, and batch send sends nothing of a file with a problem",
  async () => {
    const merchant = await openMerchant();
    const cases = everyNth(runs(10, 1));
    const found: Found[] = [];
    for (const { name, bytes, delimiter, finds } of cases) {
      const path = fileOf(bytes);
      const flags = ["--delimiter", delimiter];
      const seen = await checkPath(merchant.lenden, path, flags);
      const isTable = seen.code === 0 || seen.problems.length > 0;
      const where = isTable ? places(seen.problems) : noTable;
      found.push(foundOf(name, where, seen.rows, seen.total));
      expect({ name, code: seen.code }).toEqual({ name, code: finds.length > 0 ? 2 : 0 });
      if (finds.length === 0) continue;
      const sent = await merchant.lenden(["payout", "batch", "send", path, ...flags, "--yes"]);
      expect({ name, ...sent }).toMatchObject({ name, code: 2, stdout: "" });
      expect(sent.stderr).not.toMatch(/^\s+at /m);
    }
    expect(wrongOf(found, cases)).toEqual(wrongOf(cases.map(expected), found));
    expect(await merchant.books("payouts")).toEqual([]);
    expect(await merchant.moneyRequests()).toEqual([]);
  },
  longest,
);

interface Found {
  name: string;
  finds: string[];
  rows?: number;
  total?: string;
}

/** What a file with a problem adds up to is of no interest. */
function foundOf(name: string, finds: string[], rows: number, total: string): Found {
  return finds.length > 0 ? { name, finds } : { name, finds, rows, total };
}

function expected({ name, finds, rows, total }: Case): Found {
  return foundOf(name, finds, rows, total);
}

/** Those that differ, so that a failure shows them alone. */
function wrongOf(all: Found[], others: (Found | Case)[]): Found[] {
  const texts = others.map((one) => JSON.stringify("bytes" in one ? expected(one) : one));
  return all.filter((one, index) => JSON.stringify(one) !== texts[index]);
}

function everyNth(step: number): Case[] {
  return corpus.filter((_, index) => index % step === 0);
}
