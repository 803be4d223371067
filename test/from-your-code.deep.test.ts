import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import type { FaultOf } from "../src/sandbox/app.ts";
import { writePrograms } from "./support/doc-pages.ts";
import { scratchFolder } from "./support/helpers.ts";
import { interpreted, isMissing } from "./support/interpreters.ts";
import { builtEnv, type Outcome, runProgram } from "./support/lenden.ts";
import { openMerchant } from "./support/merchant.ts";
import { toolLine } from "./tool.js";

/** An order: its reference, amount and recipient. */
type Order = [reference: string, amount: string, to: string];

/** The programs of the page, and the file or the order that each is started with. */
const programs: Record<string, (order: Order) => string[]> = {
  "send.php": (order) => ["send.php", ...order],
  "SendPayout.php": (order) => [
    resolve(import.meta.dirname, "support/laravel.php"),
    "SendPayout.php",
    ...order,
  ],
  "send.py": (order) => ["send.py", ...order],
  "send-orders.sh": () => ["send-orders.sh", "orders.csv"],
};

/** Runs a program as a store does, which finds lenden on its PATH. */
async function startStore(
  name: string,
  { onTestFinished }: TestContext,
  script = `/bin/sh\nexec ${toolLine} "$@" $MORE_FLAGS\n`,
) {
  const sandbox = { isHanging: false };
  const faultOf: FaultOf = ({ endpoint }) =>
    sandbox.isHanging && endpoint === "createPayout"
      ? { rule: "hang-after", kind: "hang-after", number: 0 }
      : undefined;
  const merchant = await openMerchant({ faultOf }, onTestFinished);
  const folder = scratchFolder();
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/lenden"), `#!${script}`, { mode: 0o700 });
  writePrograms("docs/from-your-code.md", folder);
  const send = (order: Order, flags = ""): Promise<Outcome> => {
    writeFileSync(join(folder, "orders.csv"), `order,amount,to\n${order.join(",")}\n`);
    const [path = "", ...args] = programs[name]?.(order) ?? [];
    const PATH = `${join(folder, "bin")}:${process.env.PATH}`;
    const env = builtEnv({ ...merchant.env, PATH, MORE_FLAGS: flags });
    return runProgram([...interpreted(path), ...args], { env, cwd: folder });
  };
  const references = async () =>
    (await merchant.books("payouts")).map(({ merchantRef }) => merchantRef);
  return { sandbox, send, references };
}

describe.concurrent.each(Object.keys(programs))("%s of docs/from-your-code.md", (name) => {
  test("sends a payout, and sends it once if it runs again", async (context) => {
    context.skip(isMissing(name));
    const { send, references } = await startStore(name, context);
    for (const _ of ["first", "again"])
      expect(await send(["INV-7", "500", "01712345678"])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("accepted: Processing"),
      });
    expect(await references()).toEqual(["INV-7"]);
  });

  test("repeats a payout of unknown outcome with the same reference", async (context) => {
    context.skip(isMissing(name));
    const { sandbox, send, references } = await startStore(name, context);
    const order: Order = ["INV-8", "0.29", "01712345678"];
    sandbox.isHanging = true;
    expect((await send(order, "--timeout 10s")).stdout).toContain("retry");
    expect(await references()).toEqual(["INV-8"]);
    sandbox.isHanging = false;
    expect((await send(order)).stdout).toContain("accepted: Processing");
    expect(await references()).toEqual(["INV-8"]);
  });

  test("shows a rejected payout to a person", async (context) => {
    context.skip(isMissing(name));
    const { send, references } = await startStore(name, context);
    const { stdout, stderr } = await send(["INV-9", "500", "01955500001"]);
    expect(stdout + stderr).toMatch(/person: .*The API rejected the request/s);
    expect(await references()).toEqual([]);
  });

  test("shows to a person that lenden cannot be started", async (context) => {
    context.skip(isMissing(name));
    const { send } = await startStore(name, context, "/no/such/interpreter\n");
    const { stdout, stderr } = await send(["INV-10", "500", "01712345678"]);
    expect(stdout + stderr).toContain("person: ");
  });
});
