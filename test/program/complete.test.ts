import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { main } from "../../src/cli/completion/complete.ts";
import { processHost } from "../../src/platform/host.ts";
import { hostileIds, type Machine, openMachine } from "../completions/machine.ts";
import { scratchFolder } from "../run.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await openMachine();
});

/** What is answered, as value and sentence. */
async function answer(
  asked: string[],
  folder = machine.folder,
  env: Record<string, string> = {},
): Promise<[string, string][]> {
  let text = "";
  const lastOutput = {
    isTTY: false,
    write: (more: string) => {
      text += more;
      return true;
    },
  };
  const folders = { ...processHost().folders, config: folder, data: join(folder, "data") };
  const code = await main(["__complete", ...asked], { ...processHost(), env, folders, lastOutput });
  expect(code).toBe(0);
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => {
    const [value = "", about = "", ...more] = line.split("\t");
    expect(more).toEqual([]);
    return [value, about];
  });
}

const values = async (asked: string[], folder?: string, env?: Record<string, string>) =>
  (await answer(asked, folder, env)).map(([value]) => value);

/** The same files once more, to be changed. */
function copied(folder: string): string {
  const copy = scratchFolder();
  for (const name of ["profiles.json", "data"])
    cpSync(join(folder, name), join(copy, name), { recursive: true });
  return copy;
}

describe("what a Tab asks for", () => {
  test("profiles, with their environment", async () => {
    expect(await answer(["profile"])).toEqual([["shop", "sandbox"]]);
  });

  test("methods by their code, with their name", async () => {
    expect((await answer(["method"]))[0]).toEqual(["bkash", "bKash"]);
  });

  test("records newest first, with amount, status and age", async () => {
    const found = await answer(["payment"]);
    expect(found.map(([value]) => value)).toEqual(machine.payments);
    expect(found[0]?.[1]).toBe("BDT 250.50, Processing, just now");
  });

  test("no more than what begins with what is typed", async () => {
    const [newest] = machine.payments;
    expect(await values(["payment", `--typed=${newest}`])).toEqual([newest]);
    expect(await values(["payment", "--typed=nothing"])).toEqual([]);
  });

  test("@last and those before it, once somebody types @, with the id behind it", async () => {
    const [newest, older] = machine.payments;
    const found = await answer(["payment", "--typed=@"]);
    expect(found.map(([value]) => value)).toEqual(["@last", "@2"]);
    expect(found.map(([, about]) => about.split(",")[0])).toEqual([newest, older]);
  });

  test("batches, with name, rows and total", async () => {
    const [[id, about] = []] = await answer(["batch"]);
    expect(id).toBe(machine.batch);
    expect(about).toMatch(/, 1 row, BDT 5\.00, just now$/);
    const [[newest, behind] = []] = await answer(["batch", "--typed=@"]);
    expect([newest, behind]).toEqual(["@last", expect.stringContaining(`${machine.batch}, `)]);
  });

  test("operations by reference, else by id, what is uncertain first", async () => {
    const found = await values(["operation"]);
    expect(found[0]).toBe("H-0");
    expect(found[1]).toMatch(/^OP[0-9A-Z]{26}$/);
    expect(found).toContain("H-1");
    expect(new Set(found).size).toBe(found.length);
    const [[newest, about] = []] = await answer(["operation", "--typed=@"]);
    expect([newest, about?.slice(0, 28)]).toEqual(["@last", found[1]]);
  });
});

describe("of whose account", () => {
  test("of the profile that is named", async () => {
    expect(await values(["payment", "--profile=shop"])).toEqual(machine.payments);
    expect(await values(["payment", "--profile=nobody"])).toEqual([]);
    expect(await values(["payment"], machine.folder, { LENDEN_PROFILE: "nobody" })).toEqual([]);
  });

  test("of the base URL that is named", async () => {
    expect(await values(["payment", "--base-url=https://other.example"])).toEqual([]);
  });

  test("also where the key lies behind a command, which is not run", async () => {
    const folder = copied(machine.folder);
    const file = join(folder, "profiles.json");
    const kept = JSON.parse(readFileSync(file, "utf8"));
    kept.profiles.shop.apiKey = { command: `touch ${join(folder, "asked")}` };
    writeFileSync(file, JSON.stringify(kept));
    expect(await values(["payment"], folder)).toHaveLength(2);
    expect(await values(["method"], folder)).toContain("bkash");
    expect(existsSync(join(folder, "asked"))).toBe(false);
  });
});

describe("what is not there, or no good", () => {
  test("nothing on a new machine, and no file is made", async () => {
    const folder = scratchFolder();
    for (const what of ["profile", "method", "payment", "operation", "batch", "rubbish", ""])
      expect(await values([what], folder, { LENDEN_BASE_URL: "http://127.0.0.1:1" })).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("nothing of damaged files", async () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, "data"));
    for (const name of ["profiles.json", "data/recent.json", `data/methods-${"0".repeat(24)}.json`])
      writeFileSync(join(folder, name), '{"profiles":{"a":1,"b":{"environment":"x"}},"meth');
    const env = { LENDEN_BASE_URL: "http://127.0.0.1:1", LENDEN_API_KEY: "x" };
    for (const what of ["profile", "method", "payment"])
      expect(await values([what], folder, env)).toEqual([]);
  });

  test("only values that mean themselves in every shell, and sentences without control characters", async () => {
    const found = [
      ...(await answer(["payout"])),
      ...(await answer(["method"])),
      ...(await answer(["batch"])),
      ...(await answer(["operation"])),
    ];
    expect(found.map(([value]) => value)).toContain(machine.payout);
    for (const [value, about] of found) {
      expect(hostileIds).not.toContain(value);
      expect(value).toMatch(/^[\w-]+$/);
      expect(about).not.toMatch(/\p{Cc}/u);
    }
  });
});
