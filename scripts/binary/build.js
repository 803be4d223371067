// Makes dist-binary/lenden, one file to carry: the Node that runs this, with the built package in it.
// Usage: npm run build:binary, which runs this on Node 24, with a seed: V8 then makes the same caches
// of the same files each time.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";

const root = resolve(import.meta.dirname, "../..");
const made = join(root, "dist-binary", "lenden");
const scratch = mkdtempSync(join(tmpdir(), "lenden-binary-"));
const executable = join(scratch, "lenden");

/** The keychain's addon cannot be carried in one file. */
const leftOut = "keychain.cjs";

try {
  refuseElsewhere();
  makeBlob({ ...packageFiles(), ...scripts() });
  makeExecutable();
  tryOut();
  handOut();
} finally {
  rmSync(scratch, { recursive: true });
}
process.stdout.write(
  `dist-binary/lenden: ${(statSync(made).size / 1e6).toFixed(0)} MB, Node ${process.version}\n`,
);

/** What does not run this has another way to carry a script, or asks for a signed file. */
function refuseElsewhere() {
  const major = Number(process.versions.node.split(".")[0]);
  if (process.platform === "linux" && major >= 24) return;
  throw new Error(`One file is made on Linux, by Node 24 or later; this is ${process.version}.`);
}

/** Files that are carried as they are, by the names they have in the package. */
function packageFiles() {
  const texts = ["completions", "dist/help"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  return Object.fromEntries(
    ["package.json", ...texts.sort()].map((name) => [name, join(root, name)]),
  );
}

/** The files of dist/ as the launcher takes them: the text of a function, and V8's cache of it. */
function scripts() {
  const names = readdirSync(join(root, "dist")).filter(
    (name) => name.endsWith(".cjs") && name !== leftOut,
  );
  const pairs = names.sort().flatMap((name) => {
    const body = readFileSync(join(root, "dist", name), "utf8");
    const text = `(function (exports, require, module, __filename, __dirname) {${body}\n})`;
    return [
      [`dist/${name}`, kept(name, text)],
      [`dist/${name}.cache`, kept(`${name}.cache`, cacheOf(text))],
    ];
  });
  return Object.fromEntries(pairs);
}

/**
 * Every function of it, compiled: left to itself V8 would keep only what runs at once. Its flags are
 * part of the cache, so it is made with those that a start will have.
 */
function cacheOf(text) {
  setFlagsFromString("--no-lazy");
  const script = new Script(text);
  setFlagsFromString("--lazy");
  return script.createCachedData();
}

/** The way to the launcher stands in the blob, as it is written here: so it names no folder. */
function makeBlob(assets) {
  copyFileSync(join(import.meta.dirname, "launcher.cjs"), join(scratch, "launcher.cjs"));
  const config = {
    main: "launcher.cjs",
    output: "blob",
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS makes it load no other code, and opens it to no debugger.
    execArgvExtension: "none",
    // The files of dist/ have caches of their own. Of this one Node says aloud when V8 refuses it.
    useCodeCache: false,
    assets,
  };
  const file = kept("config.json", JSON.stringify(config));
  run(process.execPath, ["--experimental-sea-config", file], { cwd: scratch });
}

/** The name of the blob and the fuse are Node's own. */
function makeExecutable() {
  const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
  const postject = fileURLToPath(import.meta.resolve("postject/dist/cli.js"));
  copyFileSync(process.execPath, executable);
  chmodSync(executable, 0o755);
  const blob = ["NODE_SEA_BLOB", join(scratch, "blob"), "--sentinel-fuse", fuse];
  run(process.execPath, [postject, executable, ...blob]);
}

/** An older Node 24 would still take NODE_OPTIONS: such a file is not handed out. */
function tryOut() {
  run(executable, ["--version"], { env: { NODE_OPTIONS: "--require=/nowhere" } });
}

function handOut() {
  mkdirSync(join(root, "dist-binary"), { recursive: true });
  copyFileSync(executable, `${made}.new`);
  renameSync(`${made}.new`, made);
}

function kept(name, content) {
  const file = join(scratch, name);
  writeFileSync(file, content);
  return file;
}

function run(program, args, options = {}) {
  execFileSync(program, args, { stdio: "pipe", encoding: "utf8", ...options });
}
