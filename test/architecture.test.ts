import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../src");

/**
 * Who may import whom. A folder or a file of src, or a package; `types:` means that only types may
 * be taken. Node's own modules are free, but for `contract`, which is the service and nothing else.
 */
const mayImport: Record<string, string[]> = {
  "host.ts": ["parts.ts", "folders.ts", "error-code.ts"],
  "folders.ts": ["xdg.ts"],
  "xdg.ts": [],
  "make-folder.ts": ["error-code.ts"],
  "own-file.ts": [],
  "parts.ts": [],
  "failure.ts": [],
  "error-code.ts": [],
  "json.ts": [],
  "loopback.ts": ["failure.ts"],
  "state.ts": [],
  "nearest.ts": ["fastest-levenshtein"],
  "csv-guard.ts": [],
  "unsafe-characters.ts": [],
  contract: ["zod/mini", "node:crypto"],
  http: ["contract", "failure.ts", "json.ts", "undici", "types:zod/mini"],
  config: [
    "contract",
    "failure.ts",
    "json.ts",
    "error-code.ts",
    "make-folder.ts",
    "own-file.ts",
    "nearest.ts",
    "conf",
    "zod/mini",
    "string-argv",
  ],
  sqlite: ["failure.ts", "error-code.ts", "libsql"],
  ledger: ["sqlite", "contract", "failure.ts", "state.ts", "error-code.ts", "make-folder.ts"],
  batches: [
    "operations",
    "ledger",
    "contract",
    "failure.ts",
    "state.ts",
    "error-code.ts",
    "csv-guard.ts",
    "csv-parse",
  ],
  operations: [
    "state.ts",
    "contract",
    "failure.ts",
    "nearest.ts",
    "ledger/decide.ts",
    "types:ledger",
    "types:http",
  ],
  sandbox: [
    "contract",
    "sqlite",
    "failure.ts",
    "json.ts",
    "error-code.ts",
    "loopback.ts",
    "unsafe-characters.ts",
    "hono",
    "hono/html",
    "@hono/node-server",
    "zod/mini",
  ],
  callbacks: ["contract", "failure.ts", "json.ts", "loopback.ts", "types:http", "types:ledger"],
  ui: [
    "contract",
    "failure.ts",
    "csv-guard.ts",
    "unsafe-characters.ts",
    "chalk",
    "cli-table3",
    "string-width",
    "uqr",
    "@inquirer/prompts",
    "@inquirer/core",
  ],
  doctor: [
    "contract",
    "failure.ts",
    "error-code.ts",
    "http/proxy.ts",
    "ledger/head.ts",
    "ledger/health.ts",
    "types:frame",
  ],
  frame: [
    "contract",
    "failure.ts",
    "error-code.ts",
    "nearest.ts",
    "ui",
    "host.ts",
    "types:config",
    "types:ledger",
    "types:http",
    "types:operations",
    "types:sandbox",
  ],
  commands: [
    "frame",
    "state.ts",
    "contract",
    "failure.ts",
    "json.ts",
    "error-code.ts",
    "make-folder.ts",
    "xdg.ts",
    "nearest.ts",
    "csv-guard.ts",
    "operations",
    "batches",
    "doctor",
    "callbacks",
    "ui",
    "types:host.ts",
    "ulid",
    "open",
  ],
  program: ["*"],
  "main.ts": ["program", "host.ts"],
};

const imports = sources().flatMap((file) => importsOf(file));

test("every import goes in an allowed direction", () => {
  const wrong = imports.filter(({ from, to, isType }) => {
    const allowed = mayImport[from.room] ?? [];
    const fits = (one: string) => one === "*" || one === to.room || one === to.path;
    const sameRoom = to.room === from.room;
    return (
      !sameRoom &&
      !isFreeNode(from.room, to.path) &&
      !allowed.some((one) => fits(one) || (isType && fits(one.replace("types:", ""))))
    );
  });
  expect(wrong.map(shown)).toEqual([]);
});

test("no file leads back to itself, not even by types", () => {
  const files = sources().map((file) => relative(root, file));
  expect(files.filter((path) => leadingTo(path).includes(path))).toEqual([]);
});

test("commands never import each other", () => {
  const names = new Set(commandFiles().map((file) => relative(root, file)));
  const wrong = imports.filter(({ from, to }) => names.has(from.path) && names.has(to.path));
  expect(wrong.map(shown)).toEqual([]);
});

test("only host.ts reads process, and nothing prints through console", () => {
  const readers = sources().filter((file) =>
    /\b(?:process\.|console\.)/.test(withoutComments(file)),
  );
  expect(readers.map((file) => relative(root, file))).toEqual(["host.ts"]);
});

test("undici, conf, commander, hono, SQLite and the keychain each have one room", () => {
  const rooms = (pattern: RegExp) => [
    ...new Set(imports.filter(({ to }) => pattern.test(to.path)).map(({ from }) => from.room)),
  ];
  expect(rooms(/^undici/)).toEqual(["http"]);
  expect(rooms(/^conf$/)).toEqual(["config"]);
  expect(rooms(/^commander$/)).toEqual(["program"]);
  expect(rooms(/^@?hono/)).toEqual(["sandbox"]);
  expect(rooms(/^(node:sqlite|libsql)$/)).toEqual(["sqlite"]);
  expect(rooms(/^@napi-rs/)).toEqual(["program"]);
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
  from: { path: string; room: string };
  to: { path: string; room: string };
  isType: boolean;
}

function importsOf(file: string): Import[] {
  const path = relative(root, file);
  const statements = withoutComments(file).matchAll(
    /\bimport\s+(type\s)?([^;"]*?)\s*(?:from\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/g,
  );
  return [...statements].map(([, type, , named, dynamic]) => {
    const specifier = named ?? dynamic ?? "";
    const target = specifier.startsWith(".")
      ? relative(root, join(dirname(file), specifier))
      : packageOf(specifier);
    return {
      from: { path, room: roomOf(path) },
      to: { path: target, room: roomOf(target) },
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
  return sources().filter(
    (file) => /\bdefineCommand\(/.test(readFileSync(file, "utf8")) && file.includes("/commands/"),
  );
}

function withoutComments(file: string): string {
  return readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

function roomOf(path: string): string {
  return path.includes("node_modules") || path.startsWith("node:")
    ? path
    : (path.split("/")[0] ?? path);
}

function packageOf(specifier: string): string {
  return /^(?:undici|@hono\/node-server)\b/.exec(specifier)?.[0] ?? specifier;
}

function isFreeNode(room: string, path: string): boolean {
  return path.startsWith("node:") && room !== "contract";
}

function shown({ from, to }: Import): string {
  return `${from.path} imports ${to.path}`;
}
