// Loaded into lenden before its own code: each commit takes 4 ms longer, and blocks the thread
// meanwhile, as on a disk whose fsync takes that long.
const fsyncMs = 4;
const cell = new Int32Array(new SharedArrayBuffer(4));

const { prototype } = engine();
const { exec } = prototype;
prototype.exec = function (sql) {
  if (sql === "COMMIT") Atomics.wait(cell, 0, 0, fsyncMs);
  return exec.call(this, sql);
};

/** The same choice as in src/platform/sqlite/engines.ts. */
function engine() {
  try {
    return require("node:sqlite").DatabaseSync;
  } catch {
    return require("libsql");
  }
}
