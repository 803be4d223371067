import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { scratchFolder, until } from "../support/helpers.ts";
import { tool, toolLine } from "../tool.js";
import { answerAll, openShop, refundAnswers, type Shop } from "./shop.ts";
import { type Terminal, terminalTest } from "./terminal.ts";

const isDeep = process.env.LENDEN_DEEP === "1";
/** The prompts of a refund by their place: the first, a list, and the confirmation. */
const places = isDeep ? [0, 1, 2, 3, 4, 5] : [0, 2, 5];

/** Stops a refund at the prompt of this place. */
async function stoppedAt(place: number, shop: Shop, stop: (terminal: Terminal) => Promise<void>) {
  const terminal = await shop.open(["refund", "create"], { rows: 40 });
  const answers = refundAnswers(shop);
  await answerAll(terminal, answers.slice(0, place));
  await terminal.shows(answers[place]?.[0] ?? "Create a refund?");
  await stop(terminal);
  const { code, isRestored } = await terminal.ended();
  return { code, isRestored };
}

terminalTest.for<[string, number, (terminal: Terminal) => Promise<void>]>([
  // In a line with text, Ctrl-D deletes a letter.
  ["Ctrl-C", 130, (terminal) => terminal.press("C-u", "C-c")],
  ["Ctrl-D", 130, (terminal) => terminal.press("C-u", "C-d")],
  ["SIGTERM", 143, (terminal) => terminal.signal("SIGTERM")],
])(
  "%s at a prompt ends with %i, restores the terminal and sends nothing",
  async ([, code, stop]) => {
    const shop = await openShop();
    const stopped = await Promise.all(places.map((place) => stoppedAt(place, shop, stop)));
    expect(stopped).toEqual(places.map(() => ({ code, isRestored: true })));
    await expectNoRefund(shop);
  },
);

terminalTest("a terminal that is closed at a prompt ends the run by the signal", async () => {
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
  await expectNoRefund(shop);
});

terminalTest("a prompt that was suspended with Ctrl-Z continues after fg", async () => {
  const shop = await openShop();
  const terminal = await shop.open([], { program: ["bash", "--norc", "-i"], rows: 40 });
  await terminal.type(`${toolLine} refund create\n`);
  await terminal.shows("Which payment?");
  await terminal.press("C-z");
  await terminal.shows("Stopped");
  await terminal.type("fg\n");
  await terminal.answer("", shop.order42, shop.order42);
  await terminal.shows("Amount to refund");
  await terminal.press("C-c");
  await terminal.type("exit\n");
  expect((await terminal.ended()).code).toBe(130);
  await expectNoRefund(shop);
});

async function expectNoRefund(shop: Shop): Promise<void> {
  expect(await shop.books("refunds")).toEqual([]);
  const sql = "SELECT DISTINCT kind FROM operations";
  const kinds = await shop.inLedger((database) => database.prepare(sql).all());
  expect(kinds.map(({ kind }) => kind)).toEqual(["payment"]);
}
