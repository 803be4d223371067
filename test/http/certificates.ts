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
  /** Of the same authority, and over since 2020. */
  expired: { key: string; cert: string };
}

let created: Certificates | undefined;

/** An authority that no machine trusts, and what it signed. openssl creates them once in each process. */
export function makeCertificates(): Certificates {
  created ??= createCertificates();
  return created;
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

function createCertificates(): Certificates {
  const folder = scratchFolder();
  const authorityFile = join(folder, "authority.pem");
  openssl(folder, [
    ...["req", "-x509", ...newKey, "-days", "2", "-subj", "/CN=test authority"],
    ...["-keyout", "authority.key", "-out", "authority.pem"],
  ]);
  const signed = (name: string, names: string) => {
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
    openssl(folder, [
      ...["req", ...newKey, "-subj", `/CN=${name}`],
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
  const ended = (name: string) => {
    writeFileSync(join(folder, "index.txt"), "");
    writeFileSync(join(folder, "ca.cnf"), authorityConfig);
    signed(name, "DNS:localhost"); // for its key and its request
    openssl(folder, [
      ...[
        "ca",
        "-batch",
        "-notext",
        "-config",
        "ca.cnf",
        "-create_serial",
        "-cert",
        "authority.pem",
      ],
      ...["-keyfile", "authority.key", "-in", `${name}.csr`, "-out", `${name}.pem`],
      ...["-startdate", "20200101000000Z", "-enddate", "20200201000000Z"],
      ...["-extfile", `${name}.ext`],
    ]);
    return {
      key: readFileSync(join(folder, `${name}.key`), "utf8"),
      cert: readFileSync(join(folder, `${name}.pem`), "utf8"),
    };
  };
  return {
    expired: ended("expired.test"),
    authorityFile,
    ...signed("service.test", "DNS:service.test,DNS:localhost,IP:127.0.0.1"),
    otherName: signed("other.test", "DNS:other.test"),
  };
}

const authorityConfig = `[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
[any]
commonName = supplied
`;

function openssl(folder: string, args: string[]): void {
  execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
}
