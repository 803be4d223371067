import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect } from "vitest";
import { terminalTest } from "../terminal/terminal.ts";
import { hostileIds, type Machine, openMachine } from "./machine.ts";
import { expectNothingRun, openShell, type TestedShell } from "./shells.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await openMachine();
});

/** In `npm test` one shell stands for all. */
const shells: TestedShell[] = process.env.LENDEN_DEEP ? ["bash", "zsh", "fish"] : ["bash"];

for (const name of shells) {
  describe.skipIf(!isInstalled(name))(`Tab in ${name}`, () => {
    terminalTest("completes commands, flags and their words", async () => {
      const shell = await openShell(name, machine);
      await shell.completes("lenden payo", "lenden payout");
      await shell.completes("lenden payout ba", "lenden payout batch");
      await shell.completes("lenden help payout ba", "lenden help payout batch");
      await shell.lists("lenden refund ", ["create", "get", "wait", "list", "cancel"]);
      await shell.completes("lenden completion fi", "lenden completion fish");
      await shell.completes("lenden pay create --desc", "lenden pay create --description");
      await shell.completes("lenden pay list --status Com", "lenden pay list --status Completed");
      await shell.completes("lenden pay list --status=Can", "lenden pay list --status=Cancelled");
      await shell.completes("lenden -o nd", "lenden -o ndjson");
      await shell.completes("lenden --json pay list --qui", "lenden --json pay list --quiet");
      const bangla = "lenden pay create --description 'বিকাশ' --pay";
      await shell.completes(bangla, `${bangla}er`);
    });

    terminalTest("completes what is on this machine", async () => {
      const [newer, older] = machine.payments;
      const shell = await openShell(name, machine);
      await shell.completes("lenden --profile s", "lenden --profile shop");
      await shell.completes("lenden pay create --method=nag", "lenden pay create --method=nagad");
      await shell.lists("lenden pay get ", [newer, older]);
      const part = newer.slice(0, -1);
      await shell.completes(
        `lenden --profile shop pay get ${part}`,
        `lenden --profile shop pay get ${newer}`,
      );
      await shell.completes("lenden ledger show @l", "lenden ledger show @last");
      await shell.completes(
        "lenden payout batch status B",
        `lenden payout batch status ${machine.batch}`,
      );
      await shell.completes(
        "lenden payout batch check pay",
        "lenden payout batch check payroll\\ november.csv",
      );
      await shell.completes(
        "lenden payout batch status pay",
        "lenden payout batch status payroll\\ november.csv",
      );
      await shell.completes(
        "lenden api POST /x --input=pay",
        "lenden api POST /x --input=payroll\\ november.csv",
      );
    });

    terminalTest("offers no flag twice, nothing for free text, nothing after --", async () => {
      const shell = await openShell(name, machine);
      await shell.leaves("lenden pay create --amount 5 --am");
      await shell.leaves("lenden -o json pay get --outp");
      await shell.completes(
        "lenden sandbox start --fault a:b --fau",
        "lenden sandbox start --fault a:b --fault",
      );
      await shell.leaves("lenden pay create --amount ");
      await shell.leaves("lenden profile rename shop ");
      await shell.leaves("lenden pay get -- T");
      await shell.leaves("lenden --profile unknown pay get T");
    });

    terminalTest("completes another command after 'sandbox exec --'", async () => {
      const shell = await openShell(name, machine);
      await shell.completes(
        "lenden sandbox exec -- unmistak",
        "lenden sandbox exec -- unmistakable",
      );
      await shell.completes(
        "lenden sandbox exec --port 0 -- cat payr",
        "lenden sandbox exec --port 0 -- cat payroll\\ november.csv",
      );
    });

    terminalTest("neither offers nor runs what is hidden in the ledger", async () => {
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
