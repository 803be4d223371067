import { realpathSync } from "node:fs";
import { dirname, sep } from "node:path";

/** SQLite's log needs memory that all processes share, which no network file system offers. */
const networked =
  /^(?:nfs\d?|cifs|smb\d?|smbfs|ncpfs|afs|ceph|lustre|gpfs|glusterfs|fuse\.(?:sshfs|s3fs|rclone|gcsfuse|glusterfs|ceph.*|davfs.*|juicefs))$/;

/** The layers of a container image, of which the topmost one is deleted with the container. */
const layered = /^(?:overlay|overlayfs|aufs|fuse\.(?:fuse-overlayfs|unionfs.*))$/;

/** The type of the network file system that a directory is on, such as `nfs4`; undefined if it is on none. */
export function networkFileSystemOf(directory: string, mounts: string): string | undefined {
  const type = fileSystemOf(directory, mounts);
  return networked.test(type) ? type : undefined;
}

/** The type of a container's own layer that a directory is on, such as `overlay`; undefined if it is on none. */
export function containerLayerOf(directory: string, mounts: string): string | undefined {
  const type = fileSystemOf(directory, mounts);
  return layered.test(type) ? type : undefined;
}

/** @param mounts as in /proc/self/mountinfo; of several mounts on one path, the last one counts */
function fileSystemOf(directory: string, mounts: string): string {
  const path = withEnd(existing(directory));
  let found = { at: "", type: "" };
  for (const line of mounts.split("\n")) {
    const [mount = "", source = ""] = line.split(" - ");
    const at = withEnd(unescaped(mount.split(" ")[4] ?? ""));
    if (at.length >= found.at.length && path.startsWith(at))
      found = { at, type: source.split(" ")[0] ?? "" };
  }
  return found.type;
}

/** The real path of a directory, or of its nearest parent that exists. */
function existing(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    const parent = dirname(directory);
    return parent === directory ? directory : existing(parent);
  }
}

function withEnd(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}

/** A space is written as `\040`. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
