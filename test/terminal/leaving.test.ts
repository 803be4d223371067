import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { until } from "../merchant.ts";
import { scratchFolder } from "../run.ts";
import { tool, toolLine } from "../tool.js";
import { answerAll, openShop, refundAnswers, type Shop } from "./shop.ts";
import { type Terminal, terminalTest } from "./terminal.ts";

/** Every question of a refund's dialogue, and of the lists among them. */
const questions = [...refundAnswers.map(([question]) => question), "Create a refund?"];
/** Each runs the tool once: in `npm test` the first question, a list and the last. */
const isDeep = process.env.LENDEN_DEEP !== undefined;
const asked = questions.filter((_, place) => isDeep || [0, 2, 5].includes(place));

/** Leaves at the question, in a dialogue of its own. */
async function leftAt(question: string, shop: Shop, leave: (terminal: Terminal) => Promise<void>) {
  const terminal = await shop.open(["refund", "create"], { rows: 40 });
  await answerAll(terminal, refundAnswers.slice(0, questions.indexOf(question)));
  await terminal.shows(question);
  await leave(terminal);
  const { code, screen, isRestored } = await terminal.ended();
  return {
    question,
    code,
    isRestored,
    isSaid: screen.includes("Stopped before anything was sent."),
  };
}

terminalTest.for([
  ["Ctrl-C", "C-c"],
  ["Ctrl-D", "C-d"],
] as const)(
  "%s at any question leaves with 130, the terminal restored, nothing begun",
  async ([, key]) => {
    const shop = await openShop();
    const left = await Promise.all(
      // Where there is text, Ctrl-D takes a letter away instead.
      asked.map((question) => leftAt(question, shop, (terminal) => terminal.press("C-u", key))),
    );
    expect(left).toEqual(
      asked.map((question) => ({ question, code: 130, isRestored: true, isSaid: true })),
    );
    await nothingBegan(shop);
  },
);

terminalTest(
  "SIGTERM at a question leaves with 143, the terminal restored, nothing begun",
  async () => {
    const shop = await openShop();
    const left = await Promise.all(
      asked.map((question) => leftAt(question, shop, (terminal) => terminal.signal("SIGTERM"))),
    );
    expect(left).toEqual(
      asked.map((question) => ({ question, code: 143, isRestored: true, isSaid: false })),
    );
    await nothingBegan(shop);
  },
);

terminalTest("a terminal that is closed at a question ends it by the signal", async () => {
  const shop = await openShop();
  const codeFile = join(scratchFolder(), "code");
  const outliving = `trap '' HUP; "$@"; echo $? >"$0.new"; mv "$0.new" "$0"`;
  const terminal = await shop.open(["refund", "create"], {
    program: ["sh", "-c", outliving, codeFile, ...tool],
  });
  await terminal.shows("Which payment?");
  await terminal.close();
  await until(() => existsSync(codeFile));
  expect(Number(readFileSync(codeFile, "utf8"))).toBe(128 + constants.signals.SIGHUP);
  await nothingBegan(shop);
});

terminalTest("a question that was left with Ctrl-Z is there again after fg", async () => {
  const shop = await openShop();
  const terminal = await shop.open([], { program: ["bash", "--norc", "-i"], rows: 40 });
  await terminal.type(`${toolLine} refund create\n`);
  await terminal.shows("Which payment?");
  await terminal.press("C-z");
  await terminal.shows("Stopped");
  await terminal.type("fg\n");
  await terminal.type(shop.order42);
  await terminal.press("Enter");
  await terminal.shows("Amount to pay back");
  await terminal.press("C-c");
  await terminal.type("exit\n");
  expect((await terminal.ended()).code).toBe(130);
  await nothingBegan(shop);
});

async function nothingBegan(shop: Shop): Promise<void> {
  expect(await shop.books("refunds")).toEqual([]);
  const kinds = await shop.inLedger((database) =>
    database.prepare("SELECT DISTINCT kind FROM operations").all(),
  );
  expect(kinds.map(({ kind }) => kind)).toEqual(["payment"]);
}
