import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchFolder } from "../run.ts";

export interface Certificates {
  /** The authority's file, for NODE_EXTRA_CA_CERTS. */
  authorityFile: string;
  key: string;
  /** Signed by that authority, for localhost, 127.0.0.1 and service.test. */
  cert: string;
  /** Of the same authority, but for another name. */
  otherName: { key: string; cert: string };
}

/** An authority that nobody knows, and what it signed; made anew by openssl. */
export function makeCertificates(): Certificates {
  const folder = scratchFolder();
  const authorityFile = join(folder, "authority.pem");
  openssl(folder, [
    ...[
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=test authority",
    ],
    ...["-keyout", "authority.key", "-out", "authority.pem"],
  ]);
  const signed = (name: string, names: string) => {
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
    openssl(folder, [
      ...["req", "-newkey", "rsa:2048", "-nodes", "-subj", `/CN=${name}`],
      ...["-keyout", `${name}.key`, "-out", `${name}.csr`],
    ]);
    openssl(folder, [
      ...["x509", "-req", "-in", `${name}.csr`, "-CA", "authority.pem", "-CAkey", "authority.key"],
      ...["-CAcreateserial", "-days", "2", "-extfile", `${name}.ext`, "-out", `${name}.pem`],
    ]);
    return {
      key: readFileSync(join(folder, `${name}.key`), "utf8"),
      cert: readFileSync(join(folder, `${name}.pem`), "utf8"),
    };
  };
  return {
    authorityFile,
    ...signed("service.test", "DNS:service.test,DNS:localhost,IP:127.0.0.1"),
    otherName: signed("other.test", "DNS:other.test"),
  };
}

function openssl(folder: string, args: string[]): void {
  execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
}
