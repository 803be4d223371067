// The first script of lenden as one file. The built package lies inside the executable: each file of
// dist/ as the text of a function, and beside it what V8 made of that text, so that a start compiles
// next to nothing. Like the package, it loads a file when it is first needed.
const { getAsset, getRawAsset } = require("node:sea");
const { join } = require("node:path");
const { Script } = require("node:vm");

// A place in the executable, which is no folder: nothing on the disk can lie there.
const folder = join(process.execPath, "dist");
const loaded = new Map();

const argv = process.argv.slice(2);
// It reads a name from stdin, and looks it up; see src/doctor/lookup.ts.
if (argv[0] === "__lookup") load("lookup.cjs");
else {
  const { main, processHost } = load(argv[0] === "__complete" ? "complete.cjs" : "main.cjs");
  main(argv, processHost(parts())).then((code) => {
    process.exitCode = code;
    // As in bin/lenden.js: the terminal is gone, and Node would abort where it gives it back.
    if (code === 129) process.kill(process.pid, "SIGHUP");
  });
}

/** What src/platform/assets.ts describes. There is no keychain: its addon would have to be loaded from the disk. */
function parts() {
  return {
    shipped: (file) => getAsset(file, "utf8"),
    keepsCompiled: false,
    lookup: { program: process.execPath, args: ["__lookup"] },
  };
}

function load(file) {
  const known = loaded.get(file);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const filename = join(folder, file);
  const script = new Script(getAsset(`dist/${file}`, "utf8"), {
    filename,
    // Where V8 does not take it, it compiles the text.
    cachedData: Buffer.from(getRawAsset(`dist/${file}.cache`)),
  });
  script.runInThisContext()(module.exports, ask, module, filename, folder);
  return module.exports;
}

/** What a file of dist/ gets as `require`: the others, and Node's own modules. Nothing else is there. */
function ask(id) {
  return id.startsWith("./") ? load(id.slice(2)) : require(id);
}
