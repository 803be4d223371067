import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { arch } from "node:os";
import { failed, passed, type Verdict, warning } from "./finding.ts";
import type { Patient } from "./patient.ts";

type Host = Patient["host"];

const oldestNode = [20, 19];

export function versions({ version, host }: Pick<Patient, "version" | "host">): Verdict {
  return passed(`${version} on ${host.platform} ${arch()}`);
}

export function nodeVersion({ nodeVersion: version }: Host): Verdict {
  const [major = 0, minor = 0] = version.replace("v", "").split(".").map(Number);
  const [least = 0, leastMinor = 0] = oldestNode;
  return major > least || (major === least && minor >= leastMinor)
    ? passed(version)
    : failed(`Node ${version} is too old.`, `Install Node ${oldestNode.join(".")} or later.`);
}

/** Node goes on without a word on stdout where it cannot read the file. */
export async function extraAuthorities({ env }: Host): Promise<Verdict> {
  const file = env.NODE_EXTRA_CA_CERTS;
  if (file === undefined) return passed("those that Node comes with");
  const trouble = await troubleWith(file);
  return trouble
    ? failed(
        `NODE_EXTRA_CA_CERTS names ${file}, ${trouble}.`,
        "Name a file of certificates in PEM form, or unset the variable.",
      )
    : passed(`those of Node, and those of NODE_EXTRA_CA_CERTS, ${file}`);
}

async function troubleWith(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return "which cannot be read";
  try {
    new X509Certificate(text);
    return undefined;
  } catch {
    return "which holds no certificate";
  }
}

export function verification({ env }: Host): Verdict {
  return env.NODE_TLS_REJECT_UNAUTHORIZED === "0"
    ? warning(
        "NODE_TLS_REJECT_UNAUTHORIZED=0 is set. lenden checks certificates all the same; other programs do not.",
        "Unset it; for a proxy's own authority set NODE_EXTRA_CA_CERTS.",
      )
    : passed("certificates are checked");
}
