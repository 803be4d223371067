// Loaded before the tool (node --require): closing a database fails after the tool has committed to it.
for (const name of ["node:sqlite", "libsql"]) {
  const Database = databaseOf(name);
  if (!Database) continue;
  const { close, exec } = Database.prototype;
  const changed = new WeakSet();
  Database.prototype.exec = function commits(/** @type {string} */ sql) {
    if (sql === "COMMIT") changed.add(this);
    return exec.call(this, sql);
  };
  Database.prototype.close = function fails() {
    close.call(this);
    if (changed.has(this)) throw new Error("disk I/O error");
  };
}

/** Node 20 has no SQLite. @param {string} name */
function databaseOf(name) {
  try {
    const loaded = require(name);
    return loaded.DatabaseSync ?? loaded;
  } catch {
    return undefined;
  }
}
