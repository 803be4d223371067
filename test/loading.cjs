// Loaded before the tool (node --require): writes down which files and which of Node's own modules it
// loads, and how many milliseconds each takes to be read and evaluated, without what it loads in its
// turn. Appends one line of JSON a thread to the file that LOADING names.
const Module = require("node:module");
const { appendFileSync } = require("node:fs");

const before = new Set(process.moduleLoadList);
const ownMs = new Map();
const load = Module._load;
let nestedMs = 0;

Module._load = function timed(request, parent, isMain) {
  const start = process.hrtime.bigint();
  const outerMs = nestedMs;
  nestedMs = 0;
  try {
    return load.call(this, request, parent, isMain);
  } finally {
    const ms = Number(process.hrtime.bigint() - start) / 1e6;
    const name = Module.isBuiltin(request)
      ? `node:${request.replace(/^node:/, "")}`
      : Module._resolveFilename(request, parent);
    if (!ownMs.has(name)) ownMs.set(name, ms - nestedMs);
    nestedMs = outerMs + ms;
  }
};

process.on("exit", () => {
  const files = [...ownMs].filter(([name]) => !name.startsWith("node:"));
  // What one of them loads by itself has no time of its own: it is in the time of that one.
  const node = process.moduleLoadList
    .filter((entry) => !before.has(entry) && /^NativeModule [^_]/.test(entry))
    .map((entry) => entry.replace("NativeModule ", "node:"))
    .filter(Module.isBuiltin)
    .map((name) => [name.replace("node:", ""), ownMs.get(name) ?? 0]);
  appendFileSync(process.env.LOADING, `${JSON.stringify({ files, node })}\n`);
});
