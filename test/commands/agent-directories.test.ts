import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { built, errorOf } from "../support/lenden.ts";
import { tool } from "../tool.js";

const agent = { CLAUDECODE: "1" };

describe("an agent uses the directories and the ledger of its profile", () => {
  const home = scratchFolder();
  /** Without the directories that other tests name. */
  const own = { HOME: home, LENDEN_CONFIG_DIR: undefined, LENDEN_DATA_DIR: undefined, ...agent };
  const usual = {
    LENDEN_CONFIG_DIR: join(home, ".config/lenden"),
    LENDEN_DATA_DIR: join(home, ".local/share/lenden"),
  };
  const url = "postgres://ann@db.example/lenden";

  test.each(["LENDEN_CONFIG_DIR", "LENDEN_DATA_DIR", "LENDEN_STATE_DIR"])(
    "%s names no other directory",
    async (name) => {
      const env = { ...own, [name]: join(home, "other") };
      const ended = await built(["ledger", "list", "--json"], { env });
      expect(ended).toMatchObject({ code: 4, stdout: "" });
      const { reason, message, hint } = errorOf(ended);
      expect(reason).toBe("agent.needs-person");
      expect(message).toContain(`An agent cannot use ${name}: `);
      expect(hint).toContain(`${name}=${join(home, "other")} lenden ledger list --json`);
    },
  );

  test.each(Object.entries(usual))("%s may name the usual directory", async (name, path) => {
    const env = { ...own, [name]: `${path}/` };
    expect(await built(["ledger", "list", "--json"], { env })).toMatchObject({ code: 0 });
  });

  test("LENDEN_LEDGER_URL names no other ledger than the profile", async () => {
    const { CLAUDECODE: _, ...person } = own;
    const key = "sk_sandbox_0123456789abcdef0123456789abcdef";
    const add = ["profile", "add", "shop", "--key-stdin", "--base-url", "https://api.example"];
    const added = await built([...add, "--ledger", url], { env: person, stdin: `${key}\n` });
    expect(added).toMatchObject({ code: 0 });
    const list = (ledger: string) =>
      built(["ledger", "list", "--json", "--timeout", "1s"], {
        env: { ...own, LENDEN_LEDGER_URL: ledger },
      });
    for (const other of [
      "postgres://ann@db.example/other",
      "postgres://bob@db.example/lenden",
      "x",
    ]) {
      const ended = await list(other);
      expect(ended).toMatchObject({ code: 4, stdout: "" });
      expect(errorOf(ended).message).toContain("An agent cannot use LENDEN_LEDGER_URL: ");
    }
    // The same ledger is looked for, with a password too.
    for (const same of [url, "postgresql://ann:secret@db.example:5432/lenden"])
      expect(errorOf(await list(same)).reason).toBe("ledger.unreachable");
    const shown = await list("postgres://ann:secret@db.example/other");
    expect(shown.stderr).not.toContain("secret");
  });

  test("the directories of 'sandbox exec' are no other ones", async () => {
    const lines = [
      "payout send --amount 5 --to 01712345678 --method bkash --ref A",
      "ledger show A",
    ];
    const [program, ...before] = tool;
    const script = lines
      .map((line) => `${[program, ...before].join(" ")} ${line} --json`)
      .join("&&");
    const ended = await built(["sandbox", "exec", "--", "sh", "-c", script], { env: own });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/"actor": "agent"/);
  });

  test("a key of production is not that of a sandbox", async () => {
    const env = { ...own, LENDEN_BASE_URL: "http://127.0.0.1:9", LENDEN_DATA_DIR: home };
    const key = { LENDEN_API_KEY: "public-ABC-ABCDEFGHIJKL-XYZ" };
    const ended = await built(["ledger", "list", "--json"], { env: { ...env, ...key } });
    expect(errorOf(ended).reason).toBe("agent.needs-person");
  });
});
