import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { hostileIds, type Machine, openMachine } from "./machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await openMachine();
});

/** What Tab offers for a line, whose last word may be empty: each text with what it means. */
async function tab(
  line: string,
  directory = machine.folder,
  env: Record<string, string> = {},
): Promise<[string, string][]> {
  const words = line.split(" ");
  const { code, stdout, stderr } = await lenden(
    ["__complete", `--typed=${words.at(-1)}`, ...words.slice(0, -1)],
    {
      env: {
        LENDEN_CONFIG_DIR: directory,
        LENDEN_DATA_DIR: join(directory, "data"),
        ...env,
      },
    },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.split("\n").slice(0, -1);
  return lines.map((one) => {
    const [text = "", about = "", ...more] = one.split("\t");
    expect(more).toEqual([]);
    return [text, about];
  });
}

const texts = async (...asked: Parameters<typeof tab>) =>
  (await tab(...asked)).map(([text]) => text);

function copied(directory: string): string {
  const copy = scratchFolder();
  for (const name of ["profiles.json", "data"])
    cpSync(join(directory, name), join(copy, name), { recursive: true });
  return copy;
}

describe("Tab completes", () => {
  test.each([
    ["payo", ["payout"]],
    ["payout ba", ["batch"]],
    ["help payout ba", ["batch"]],
    ["help exit", ["exit-codes"]],
    ["refund ", ["create", "get", "wait", "list", "cancel"]],
    ["completion p", ["powershell"]],
    ["pay list --status Com", ["Completed"]],
    ["pay list --status=Can", ["--status=Cancelled"]],
    ["refund list --columns id,trans", ["id,transactionId"]],
    ["refund list --columns id,i", []],
    ["payout list --limit a", ["all"]],
    ["-o nd", ["ndjson"]],
    ["--json pay list --q", ["--quiet"]],
    ["pay create --amount 5 --am", []],
    ["-o json pay get --outp", []],
    ["sandbox start --fault a:b --fau", ["--fault"]],
    ["sandbox start --fault create", ["createPayment:", "createPayout:", "createRefund:"]],
    [
      "sandbox start --fault=createPayout:l",
      ["--fault=createPayout:latency", "--fault=createPayout:lost-reply"],
    ],
    ["sandbox exec --callback-fault d", ["duplicated"]],
    ["sandbox trigger payout PO1 --status ca", []],
    ["sandbox trigger payout PO1 --status Ca", ["Cancelled"]],
    ["pay create --amount ", []],
    ["profile rename shop ", []],
    ["pay get -- ", []],
    ["sandbox exec -- ", [":program"]],
    ["api POST /x --input=pa", [":file"]],
    ["payout batch check ", [":csv"]],
    ["payout batch status payr", [":csv"]],
    ["nonsense ", []],
    ["pay nonsense --no-i", ["--no-input"]],
  ])("%j with %j", async (line, expected) => {
    const found = await texts(line);
    if (line.endsWith("nonsense ")) expect(found).toContain("--help");
    else expect(found).toEqual(expected);
  });

  test("commands and flags with what they mean", async () => {
    expect(await tab("pay g")).toEqual([["get", "Show a payment"]]);
    expect(await tab("pay get --quie")).toEqual([["--quiet", expect.stringMatching(/id/i)]]);
  });

  test("profiles and methods", async () => {
    expect(await tab("--profile ")).toEqual([["shop", "sandbox, in use"]]);
    expect((await tab("pay create --method=b"))[0]).toEqual(["--method=bkash", "bKash"]);
  });

  test("records newest first, with amount and status", async () => {
    const found = await tab("pay get ");
    expect(found.map(([text]) => text)).toEqual(machine.payments);
    expect(found[0]?.[1]).toMatch(/^BDT 250\.50, two, Processing, /);
    expect(await texts(`pay get ${machine.payments[0]}`)).toEqual([machine.payments[0]]);
  });

  test("@last and the ones before it, with the ID behind each", async () => {
    const found = await tab("pay wait @");
    expect(found.map(([text]) => text)).toEqual(["@last", "@2"]);
    expect(found.map(([, about]) => about.split(",")[0])).toEqual(machine.payments);
  });

  test("batches with rows and total, and CSV files only if no batch matches", async () => {
    const [[id, about] = [], ...more] = await tab("payout batch status B");
    expect([id, more]).toEqual([machine.batch, []]);
    expect(about).toMatch(/BDT 5\.00, 1 row, /);
  });

  test("operations by reference or ID, unknown outcomes first", async () => {
    const found = await texts("ledger show ");
    expect(found[0]).toBe("H-0");
    expect(found).toContainEqual(expect.stringMatching(/^OP[0-9A-Z]{26}$/));
    expect(new Set(found).size).toBe(found.length);
  });
});

describe("Tab reads the account", () => {
  test("that the command line or the environment names", async () => {
    expect(await texts("--profile shop pay get ")).toEqual(machine.payments);
    expect(await texts("--profile unknown pay get ")).toEqual([]);
    expect(await texts("pay get ", machine.folder, { LENDEN_PROFILE: "unknown" })).toEqual([]);
    expect(await texts("pay get ", machine.folder, { LENDEN_ACCOUNT: "unknown" })).toEqual([]);
  });

  test("without running the command that prints the key", async () => {
    const directory = copied(machine.folder);
    const file = join(directory, "profiles.json");
    const kept = JSON.parse(readFileSync(file, "utf8"));
    kept.profiles.shop.apiKey = { command: `touch ${join(directory, "fetched")}` };
    writeFileSync(file, JSON.stringify(kept));
    expect(await texts("pay get ", directory)).toHaveLength(2);
    expect(await texts("pay create --method ", directory)).toContain("bkash");
    expect(existsSync(join(directory, "fetched"))).toBe(false);
  });
});

describe("Tab offers nothing, and creates nothing,", () => {
  const lines = ["--profile ", "pay create --method ", "pay get ", "ledger show "];

  test("on a new machine", async () => {
    const directory = scratchFolder();
    const env = { LENDEN_BASE_URL: "http://127.0.0.1:1" };
    for (const line of lines) expect(await texts(line, directory, env)).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("of damaged files, and leaves an empty ledger as it is", async () => {
    const directory = scratchFolder();
    mkdirSync(join(directory, "data", "methods"), { recursive: true });
    const method = `data/methods/methods-${"0".repeat(24)}.json`;
    for (const name of ["profiles.json", "data/ledger.db", method])
      writeFileSync(join(directory, name), name === "data/ledger.db" ? "" : '{"profiles":{"a":1');
    const env = { LENDEN_BASE_URL: "http://127.0.0.1:1", LENDEN_API_KEY: "x" };
    for (const line of lines) expect(await texts(line, directory, env)).toEqual([]);
    expect(readFileSync(join(directory, "data/ledger.db"), "utf8")).toBe("");
    expect(readdirSync(join(directory, "data"))).toHaveLength(2);
  });

  test("that means something to a shell or a terminal", async () => {
    const found = [
      ...(await tab("payout get ")),
      ...(await tab("payout send --method ")),
      ...(await tab("payout batch status ")),
      ...(await tab("ledger show ")),
    ].filter(([text]) => text !== ":csv");
    expect(found.map(([text]) => text)).toContain(machine.payout);
    for (const [text, about] of found) {
      expect(hostileIds).not.toContain(text);
      expect(text).toMatch(/^[\w-]+$/);
      expect(about).not.toMatch(/\p{Cc}/u);
    }
  });
});
