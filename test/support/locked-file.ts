import { spawn } from "node:child_process";
import { once } from "node:events";

/** Locks a database: against other writers, or against every other process. */
type Kind = "writers" | "all";

/** Another process keeps a database locked until the returned function is called. */
export async function lockFile(path: string, kind: Kind = "writers"): Promise<() => void> {
  const holder = spawn(process.execPath, ["-e", locking, path, sqlOf[kind]], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: import.meta.dirname,
  });
  await once(holder.stdout, "data");
  return () => holder.kill();
}

const sqlOf: Record<Kind, string> = {
  writers: "BEGIN IMMEDIATE",
  all: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
};

const locking = `
  const take = (database) => {
    database.exec("PRAGMA busy_timeout = 2000; " + process.argv[2]);
    console.log("locked");
    setInterval(() => database, 1000);
  };
  import("node:sqlite").then(
    ({ DatabaseSync }) => take(new DatabaseSync(process.argv[1])),
    () => take(new (require("libsql"))(process.argv[1])),
  );`;
