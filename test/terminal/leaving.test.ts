import { expect } from "vitest";
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

terminalTest(
  "Ctrl-C at any question leaves with 130, the terminal restored, nothing begun",
  async () => {
    const shop = await openShop();
    const left = await Promise.all(
      asked.map((question) => leftAt(question, shop, (terminal) => terminal.press("C-c"))),
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

async function nothingBegan(shop: Shop): Promise<void> {
  expect(await shop.books("refunds")).toEqual([]);
  const kinds = await shop.inLedger((database) =>
    database.prepare("SELECT DISTINCT kind FROM operations").all(),
  );
  expect(kinds.map(({ kind }) => kind)).toEqual(["payment"]);
}
