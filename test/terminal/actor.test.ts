import { expect } from "vitest";
import { openMerchant, payoutNumber } from "../support/merchant.ts";
import { openTerminal, terminalTest } from "./terminal.ts";

terminalTest("who acts in a terminal is a person, or an agent that has a terminal", async () => {
  const merchant = await openMerchant();
  const { env } = merchant;
  const actorOf = async (reference: string, more: Record<string, string> = {}, stdout?: string) => {
    const options = stdout === undefined ? {} : { stdout };
    const terminal = await openTerminal(payoutNumber(reference.charCodeAt(0), reference), {
      env: { ...env, ...more },
      ...options,
    });
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    return merchant.json(["ledger", "show", reference]);
  };
  expect(await actorOf("PERSON")).toMatchObject({ actor: "person" });
  expect(await actorOf("PIPED", {}, "/dev/null")).toMatchObject({ actor: "person" });
  expect(await actorOf("SCRIPT", { LENDEN_ACTOR: "script" })).toMatchObject({ actor: "script" });
  const claude = { CLAUDECODE: "1", LENDEN_ACTOR: "person" };
  expect(await actorOf("AGENT", claude)).toMatchObject({ actor: "agent" });
});
