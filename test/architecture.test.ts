import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../src");

/**
 * Which directory may import which: a directory or a file of src, or a package. `types:` means that only
 * types may be imported. Node's own modules are free, except for `api/contract` and `domain`.
 */
const mayImport: Record<string, string[]> = {
  domain: ["fastest-levenshtein", "node:crypto"],
  platform: ["domain", "ulid", "libsql", "@napi-rs/keyring"],
  "api/contract": ["domain", "zod/mini"],
  api: ["api/contract", "domain", "undici", "types:zod/mini"],
  config: ["api/contract", "domain", "platform", "conf", "zod/mini", "string-argv"],
  ledger: ["domain", "platform", "pg", "ulid"],
  operations: [
    "api/contract",
    "domain",
    "ledger/decide.ts",
    "ledger/limits.ts",
    "types:ledger",
    "types:api",
  ],
  batches: ["operations", "ledger", "domain", "tables"],
  tables: ["domain", "platform/files.ts", "zod/mini", "@e965/xlsx"],
  reconcile: [
    "tables",
    "operations",
    "domain",
    "platform/files.ts",
    "platform/sqlite/open.ts",
    "types:platform/sqlite/database.ts",
    "zod/mini",
    "types:ledger",
    "types:api/contract",
  ],
  report: [
    "domain",
    "ledger/decide.ts",
    "platform/sqlite/open.ts",
    "types:platform/sqlite/database.ts",
    "types:ledger",
  ],
  // Never `api`: a bug of the client must not hide in the server.
  sandbox: [
    "api/contract",
    "platform",
    "domain",
    "hono",
    "hono/html",
    "@hono/node-server",
    "zod/mini",
  ],
  verification: [
    "operations",
    "domain",
    "zod/mini",
    "types:api",
    "types:api/contract",
    "types:ledger",
  ],
  callbacks: [
    "api/contract",
    "domain",
    "operations",
    "platform/loopback.ts",
    "types:api",
    "types:ledger",
  ],
  conformance: ["api/contract", "domain", "operations", "platform", "sandbox", "types:api"],
  doctor: [
    "domain",
    "api/proxy.ts",
    "ledger/head.ts",
    "ledger/health.ts",
    "ledger/position.ts",
    "platform/compile-cache.ts",
    "platform/host.ts",
    "types:platform",
    "types:ledger",
    "verification/stored.ts",
    "types:api",
    "types:config",
  ],
  commands: [
    "cli",
    "domain",
    "api/contract",
    "api/signature.ts",
    "api/transport.ts",
    "operations",
    "batches",
    "reconcile",
    "tables",
    "report",
    "callbacks",
    "conformance",
    "verification",
    "doctor",
    "platform",
    "sandbox/exchange-text.ts",
    "sandbox/run-with.ts",
    "sandbox/server.ts",
    "sandbox/statement.ts",
    "mcp/server.ts",
    "ulid",
    "open",
    "config",
    "types:api",
    "types:ledger",
  ],
  // Its tools read and show what commands do.
  mcp: [
    "cli",
    "commands",
    "domain",
    "operations",
    "batches",
    "report",
    "ledger/batch.ts",
    "types:ledger",
    "types:platform",
    "types:api/contract",
    "@modelcontextprotocol/server",
  ],
  cli: [
    "domain",
    "platform",
    "config",
    "api",
    "api/contract",
    "ledger",
    "operations",
    "verification",
    "types:batches",
    "@inquirer/prompts",
    "chalk",
    "cli-table3",
    "commander",
    "fastest-levenshtein",
    "string-width",
    "ulid",
    "uqr",
    "zod/mini",
  ],
  "main.ts": ["cli", "commands/index.ts", "platform/host.ts"],
};

const imports = sources().flatMap((file) => importsOf(file));

test("every import goes in an allowed direction", () => {
  const wrong = imports.filter(({ from, to, isType }) => {
    const allowed = mayImport[from.directory] ?? [];
    const fits = (one: string) => one === to.directory || one === to.path;
    const isSameDirectory = to.directory === from.directory;
    return (
      !isSameDirectory &&
      !isFreeNode(from.directory, to.path) &&
      !allowed.some((one) => fits(one) || (isType && fits(one.replace("types:", ""))))
    );
  });
  expect(wrong.map(shown)).toEqual([]);
});

test("there are no import cycles, also of types", () => {
  const files = sources().map((file) => relative(root, file));
  expect(files.filter((path) => leadingTo(path).includes(path))).toEqual([]);
});

test("the ledger's store knows no database, and its decisions know no store", () => {
  const within = (path: string) => /^ledger\/(\w+)\//.exec(path)?.[1] ?? "";
  const wrong = imports.filter(({ from, to }) => {
    if (!from.path.startsWith("ledger/") || !to.path.startsWith("ledger/")) return false;
    const [one, other] = [within(from.path), within(to.path)];
    if (one === "sql") return other !== "sql" && other !== "";
    if (one === "sqlite") return other === "postgres";
    return decisions.includes(from.path) && other !== "";
  });
  expect(wrong.map(shown)).toEqual([]);
});

const decisions = [
  "decide",
  "columns",
  "events",
  "finding",
  "intent",
  "rows",
  "chain",
  "batch",
].map((name) => `ledger/${name}.ts`);

test("commands never import each other", () => {
  const names = new Set(commandFiles().map((file) => relative(root, file)));
  const wrong = imports.filter(({ from, to }) => names.has(from.path) && names.has(to.path));
  expect(wrong.map(shown)).toEqual([]);
});

test("a command is one file, except for families", () => {
  const several = commandFiles().filter((file) => definitionsIn(file) > 1);
  expect(several.map((file) => relative(root, file))).toEqual([
    "commands/payout/signature.ts",
    "commands/resource-commands.ts",
  ]);
});

test("only host.ts reads process, and nothing prints through console", () => {
  const readers = sources().filter((file) =>
    /\b(?:process\.|console\.)/.test(withoutComments(file)),
  );
  expect(readers.map((file) => relative(root, file))).toEqual(["platform/host.ts"]);
});

test("comments name only files that exist", () => {
  const project = resolve(root, "..");
  const files = ["bin", "scripts", "src", "test"].flatMap((directory) =>
    readdirSync(join(project, directory), { recursive: true, encoding: "utf8" }).map(
      (name) => `/${directory}/${name.replaceAll("\\", "/")}`,
    ),
  );
  const missing = files
    .filter((name) => /\.[jt]s$/.test(name))
    .flatMap((name) => {
      const comments = readFileSync(join(project, name), "utf8").match(
        /^\s*(?:\/\/|\/?\*).*$|\s\/\/ .*$/gm,
      );
      const named = comments?.join("\n").match(/[\w./-]+\.[jt]s\b/g) ?? [];
      return named
        .filter((one) => !files.some((file) => file.endsWith(`/${one.replace(/^[./]+/, "")}`)))
        .map((one) => `${name} names ${one}`);
    });
  expect(missing).toEqual([]);
});

test("undici, conf, commander, hono, SQLite and the keychain are each imported by one directory", () => {
  const importers = (pattern: RegExp) => [
    ...new Set(imports.filter(({ to }) => pattern.test(to.path)).map(({ from }) => from.directory)),
  ];
  expect(importers(/^undici/)).toEqual(["api"]);
  expect(importers(/^conf$/)).toEqual(["config"]);
  expect(importers(/^commander$/)).toEqual(["cli"]);
  expect(importers(/^@?hono/)).toEqual(["sandbox"]);
  expect(importers(/^(node:sqlite|libsql)$/)).toEqual(["platform"]);
  expect(importers(/^@napi-rs/)).toEqual(["platform"]);
  expect(importers(/^@modelcontextprotocol/)).toEqual(["mcp"]);
  const ofPostgres = imports.filter(({ to }) => to.path === "pg").map(({ from }) => from.path);
  expect(ofPostgres).toEqual(["ledger/postgres/connection.ts"]);
});

/** All that a file imports, directly or not. */
function leadingTo(file: string): string[] {
  const importedBy = (path: string) =>
    imports.filter(({ from }) => from.path === path).map(({ to }) => to.path);
  const found = new Set(importedBy(file));
  for (const path of found) for (const next of importedBy(path)) found.add(next);
  return [...found];
}

interface Import {
  from: { path: string; directory: string };
  to: { path: string; directory: string };
  isType: boolean;
}

function importsOf(file: string): Import[] {
  const path = relative(root, file);
  const statements = withoutComments(file).matchAll(
    /^(?:import|export(?=[^;"=]*\sfrom\s))\s+(type\s)?([^;"]*?)\s*(?:from\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/gm,
  );
  return [...statements].map(([, type, , named, dynamic]) => {
    const specifier = named ?? dynamic ?? "";
    const target = specifier.startsWith(".")
      ? relative(root, join(dirname(file), specifier))
      : packageOf(specifier);
    return {
      from: { path, directory: directoryOf(path) },
      to: { path: target, directory: directoryOf(target) },
      isType: type !== undefined,
    };
  });
}

function sources(): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => join(root, name))
    .sort();
}

function commandFiles(): string[] {
  return sources().filter((file) => definitionsIn(file) > 0 && file.includes("/commands/"));
}

function definitionsIn(file: string): number {
  return [...readFileSync(file, "utf8").matchAll(/\b(?:define|write)Command\(/g)].length;
}

function withoutComments(file: string): string {
  return readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

function directoryOf(path: string): string {
  if (path.includes("node_modules") || path.startsWith("node:")) return path;
  return path.startsWith("api/contract/") ? "api/contract" : (path.split("/")[0] ?? path);
}

function packageOf(specifier: string): string {
  return (
    /^(?:undici|@hono\/node-server|@modelcontextprotocol\/server)\b/.exec(specifier)?.[0] ??
    specifier
  );
}

function isFreeNode(directory: string, path: string): boolean {
  return path.startsWith("node:") && !["api/contract", "domain"].includes(directory);
}

function shown({ from, to }: Import): string {
  return `${from.path} imports ${to.path}`;
}
