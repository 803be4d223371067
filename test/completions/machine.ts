import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { alter } from "../support/merchant.ts";
import { toolLine } from "../tool.js";

/** A person's machine: a profile, methods, payments and payouts, a file; `lenden` is on the PATH. */
export interface Machine {
  folder: string;
  /** The working directory of the shells. */
  work: string;
  env: Record<string, string>;
  /** Ids of two payments, newest first. */
  payments: [string, string];
  /** The one payout, and the one batch, whose ids mean no harm. */
  payout: string;
  batch: string;
}

/** What would be written by a value that a shell ran. */
const trap = "touch pwned";

/** Values that must not be offered: each means something to a shell or to a terminal. */
export const hostileIds = [
  `PO$(${trap})`,
  `PO\`${trap}\``,
  `PO;${trap}`,
  `PO'"; ${trap} #`,
  `PO\n${trap}`,
  "PO\u001b]0;title\u0007\u001b[31m",
  "PO one two",
  "PO*",
  "-POdash",
  "~PO",
];

export async function openMachine(): Promise<Machine> {
  const folder = scratchFolder();
  const [bin, work] = [join(folder, "bin"), join(folder, "work")];
  for (const one of [bin, work]) mkdirSync(one);
  writeFileSync(join(bin, "lenden"), `#!/bin/sh\nexec ${toolLine} "$@"\n`, { mode: 0o755 });
  writeFileSync(join(bin, "unmistakable"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(work, "payroll november.csv"), "amount,to,method\n5,01712345678,bkash\n");
  writeFileSync(join(work, "wages.xlsx"), "");
  const env = {
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(":"),
    HOME: folder,
    LENDEN_CONFIG_DIR: folder,
    LENDEN_DATA_DIR: join(folder, "data"),
  };
  return { folder, work, env, ...(await fill(folder, work, env)) };
}

async function fill(folder: string, work: string, env: Record<string, string>) {
  const sandbox = await startSandbox({ now: Date.now });
  const { baseUrl, apiKey, payoutSecret } = sandbox;
  const id = async (line: string[], stdin?: string): Promise<string> => {
    const { code, stdout, stderr } = await lenden([...line, "-q"], {
      env,
      ...(stdin ? { stdin } : {}),
    });
    if (code !== 0) throw new Error(`${line.join(" ")} ended with ${code}: ${stderr}`);
    return stdout.trim();
  };
  const add = ["profile", "add", "shop", "--base-url", baseUrl, "--key-stdin", "--secret-stdin"];
  await id(add, `${apiKey}\n${payoutSecret}\n`);
  const batch = await id(["payout", "batch", "send", join(work, "payroll november.csv")]);
  const payout = await id(["payout", "list"]);
  await poisonLedger(join(folder, "data"));
  const pay = ["pay", "create", "--method", "bkash", "--amount", "250.50", "--description"];
  const older = await id([...pay, "one"]);
  const newer = await id([...pay, "two"]);
  poisonMethods(join(folder, "data"));
  await sandbox.close();
  const payments: [string, string] = [newer, older];
  return { payments, payout, batch };
}

/** A service that was taken over could have answered with all of this; the first is uncertain. */
async function poisonLedger(data: string): Promise<void> {
  const database = await openDatabase(join(data, "ledger.db"));
  database.exec("CREATE TEMP TABLE copy AS SELECT * FROM operations WHERE kind = 'payout'");
  const change = database.prepare(
    "UPDATE copy SET number = number + 1, id = ?, reference = ?, remote_id = ?, status = ?",
  );
  for (const [index, id] of hostileIds.entries()) {
    change.run(`OP${index}`, `H-${index}`, id, id);
    database.exec("INSERT INTO operations SELECT * FROM copy");
  }
  const name = `$(${trap})\u001b[31m %F{red} \`${trap}\``;
  alter(database, () => void database.prepare("UPDATE batches SET name = ?").run(name));
  database.exec("UPDATE operations SET state = 'UNCERTAIN' WHERE reference = 'H-0'");
  database.close();
}

function poisonMethods(data: string): void {
  const directory = join(data, "methods");
  for (const name of readdirSync(directory)) {
    const kept = JSON.parse(readFileSync(join(directory, name), "utf8"));
    for (const id of hostileIds)
      kept.methods.push({ id, codeName: id, providerName: `$(${trap})\u001b[31m` });
    writeFileSync(join(directory, name), JSON.stringify(kept));
  }
}
