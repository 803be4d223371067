import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

/** What comes together: rooms of ours and packages, and after the stroke modules of Node's own. */
const groups = {
  entry: "bin src src/program src/ui rolldown | os stream stream/promises string_decoder",
  glance: "src/config src/contract src/program src/ui fastest-levenshtein",
  // Of what a command does there is little in it: its flags, its words.
  commands: `src/batch src/batches src/callbacks src/ledger src/commands src/contract src/frame src/program src/ui
    fastest-levenshtein | crypto`,
  line: "commander src/http | crypto module net process v8 vm",
  account: "src/config zod",
  service: "src/http src/operations undici | assert diagnostics_channel",
  table: `cli-table3 @colors/colors
    string-width emoji-regex is-fullwidth-code-point ansi-regex strip-ansi`,
  ledger: "src/sqlite ulid libsql @neon-rs/load detect-libc | child_process dgram sqlite",
  file: "csv-parse | worker_threads",
  listener: "| cluster dns http https timers/promises tls",
  sandbox: `src/sandbox src/sqlite hono @hono/node-server
    | constants http2 perf_hooks stream/web util/types worker_threads zlib`,
  profile: `conf dot-prop env-paths debounce-fn mimic-function semver uint8array-extras atomically
    stubborn-fs stubborn-utils when-exit ajv ajv-formats fast-deep-equal fast-uri
    json-schema-traverse`,
};

type Group = keyof typeof groups;

const call: Group[] = ["entry", "commands", "line", "account", "service"];
const write: Group[] = [...call, "ledger", "table"];

/**
 * What a command may load until it ends or is ready, and how many kB of source that may be at most: a
 * little more than it is today. Whoever needs more says so here.
 */
const mayLoad: Record<string, { kB: number; of: Group[] }> = {
  "--version": { kB: 7, of: ["entry"] },
  "--help": { kB: 7, of: ["entry"] },
  Tab: { kB: 14, of: ["entry", "glance"] },
  "methods --json": { kB: 580, of: call },
  methods: { kB: 620, of: [...call, "table"] },
  "pay create": { kB: 745, of: write },
  "payout send": { kB: 745, of: write },
  "payout batch send": { kB: 800, of: [...write, "file"] },
  "callback listen": { kB: 760, of: [...write, "listener"] },
  "sandbox start": { kB: 925, of: [...write, "listener", "sandbox", "profile"] },
};

interface Size {
  command: string;
  bytes: number;
  files: { owners: Record<string, number> }[];
  node: { name: string }[];
}

const sizes = measured();

test("every command that is measured has its line here", () => {
  expect(sizes.map(({ command }) => command).sort()).toEqual(Object.keys(mayLoad).sort());
});

test.each(sizes)("$command loads no more than it may", ({ command, bytes, files, node }) => {
  const { kB = 0, of = [] } = mayLoad[command] ?? {};
  const allowed = of.map((group) => groups[group].split("|"));
  const [code, own] = [0, 1].map((side) => new Set(allowed.flatMap((one) => wordsOf(one[side]))));
  const owners = files.flatMap((file) => Object.keys(file.owners)).map(onAnyMachine);
  expect(owners.filter((owner) => !code?.has(owner))).toEqual([]);
  expect(node.map(({ name }) => name).filter((name) => !own?.has(name))).toEqual([]);
  expect(bytes / 1000).toBeLessThan(kB);
});

/** One run of each, by what `npm run size` measures with. */
function measured(): Size[] {
  const tool = resolve(import.meta.dirname, "../bench/size.js");
  const printed = execFileSync(process.execPath, [tool, "--rounds", "1", "--json"], {
    encoding: "utf8",
  });
  return JSON.parse(printed).sizes;
}

/** libsql has a package for each kind of machine. */
function onAnyMachine(owner: string): string {
  return owner.startsWith("@libsql/") ? "libsql" : owner;
}

function wordsOf(text = ""): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
