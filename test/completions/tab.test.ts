import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect } from "vitest";
import { terminalTest } from "../terminal/terminal.ts";
import { hostileIds, type Machine, openMachine } from "./machine.ts";
import { expectNothingRun, openShell, type TestedShell } from "./shells.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await openMachine();
});

/** One shell in `npm test`, all in the deep tests. */
const shells: TestedShell[] = process.env.LENDEN_DEEP ? ["bash", "zsh", "fish"] : ["bash"];

for (const name of shells) {
  describe.skipIf(!isInstalled(name))(`Tab in ${name}`, () => {
    // complete.test.ts has all candidates; these are words that a shell splits, quotes or adds.
    terminalTest("completes words as this shell splits and quotes them", async () => {
      const shell = await openShell(name, machine);
      await shell.completes("lenden payout ba", "lenden payout batch");
      await shell.lists("lenden refund ", ["create", "get", "wait", "list", "cancel"]);
      await shell.completes("lenden pay list --status=Can", "lenden pay list --status=Cancelled");
      const bangla = "lenden pay create --description 'বিকাশ' --pay";
      await shell.completes(bangla, `${bangla}er`);
      const [newer, older] = machine.payments;
      await shell.lists("lenden pay get ", [newer, older]);
      await shell.completes("lenden ledger show @l", "lenden ledger show @last");
      await shell.leaves("lenden pay create --amount ");
    });

    terminalTest("completes files, and another command after 'sandbox exec --'", async () => {
      const shell = await openShell(name, machine);
      const file = "payroll\\ november.csv";
      for (const line of ["lenden payout batch check ", "lenden api POST /x --input="])
        await shell.completes(`${line}pay`, line + file);
      await shell.completes(
        "lenden sandbox exec -- unmistak",
        "lenden sandbox exec -- unmistakable",
      );
      const sheet = "lenden payout batch check --method=bkash wages";
      await shell.completes(sheet, `${sheet}.xlsx`);
      const cat = "lenden sandbox exec --port 0 -- cat ";
      await shell.completes(`${cat}payr`, cat + file);
    });

    terminalTest("neither offers nor runs shell code from the ledger", async () => {
      const shell = await openShell(name, machine);
      await shell.completes("lenden payout get ", `lenden payout get ${machine.payout}`);
      const listed = await shell.lists("lenden payout send --method ", ["bkash", "nagad"]);
      await shell.lists("lenden ledger show ", ["H-0"]);
      await shell.completes(
        "lenden payout batch export B",
        `lenden payout batch export ${machine.batch}`,
      );
      for (const id of hostileIds) expect(listed).not.toContain(id);
      expectNothingRun(machine);
    });
  });
}

function isInstalled(shell: TestedShell): boolean {
  return spawnSync(shell, ["--version"]).error === undefined;
}
