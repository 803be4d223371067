import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import { join } from "node:path";
import { failed, passed, type Verdict, warning } from "./finding.ts";
import type { Patient } from "./patient.ts";

type Host = Patient["host"];

export function configFolder({ folders, platform }: Host): Promise<Verdict> {
  const place = { folder: folders.config, variable: "LENDEN_CONFIG_DIR", platform };
  return folderVerdict({ ...place, file: "profiles.json", holds: "keys" });
}

export function dataFolder({ folders, platform }: Host): Promise<Verdict> {
  const place = { folder: folders.data, variable: "LENDEN_DATA_DIR", platform };
  return folderVerdict({ ...place, file: "ledger.db", holds: "names, numbers and amounts" });
}

interface Place {
  folder: string;
  variable: string;
  /** The file in it that others should not read, and what it would tell them. */
  file: string;
  holds: string;
  platform: Host["platform"];
}

async function folderVerdict({ folder, variable, file, holds, platform }: Place): Promise<Verdict> {
  const own = `set ${variable} to a folder of your own`;
  if (await isBelowFile(folder))
    return failed(`${folder} would lie in a file.`, `Put a folder there, or ${own}.`);
  const found = await foundAt(folder);
  if (!found) return passed(`${folder}, made when it is first needed`);
  if (!found.isDirectory()) {
    return failed(
      `${folder} is a link, or no folder; it is not followed.`,
      `Put the real folder in its place, or ${own}.`,
    );
  }
  if (!(await isUsable(folder)))
    return failed(`${folder} cannot be written.`, `Check its permissions, or ${own}.`);
  const path = join(folder, file);
  const inside = await foundAt(path);
  if (inside && !inside.isFile())
    return failed(`${path} is a link, or no plain file.`, "Put the real file in its place.");
  // Windows has other means than modes, and its folders of a user are the user's own.
  if (platform === "win32") return passed(folder);
  if (inside && isOpen(inside.mode)) {
    return failed(
      `${path} holds ${holds}, and others may read it (mode ${modeText(inside.mode)}).`,
      `chmod 600 '${path}'; lenden does so itself when it next uses the file.`,
    );
  }
  return isOpen(found.mode)
    ? warning(
        `Others may look into ${folder} (mode ${modeText(found.mode)}).`,
        `chmod 700 '${folder}'`,
      )
    : passed(`${folder}, open to you alone`);
}

async function foundAt(path: string) {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

function isBelowFile(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOTDIR",
  );
}

function isUsable(folder: string): Promise<boolean> {
  return access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

function isOpen(mode: number): boolean {
  return (mode & 0o077) !== 0;
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8);
}
