import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import tls from "node:tls";
import { onTestFinished } from "vitest";
import { scratchFolder } from "./helpers.ts";
import { listen } from "./server.ts";

export interface Certificates {
  /** The authority's file, for NODE_EXTRA_CA_CERTS. */
  authorityFile: string;
  key: string;
  /** Signed by that authority, for localhost, 127.0.0.1, 0.0.0.0 and service.test. */
  cert: string;
  /** Of the same authority, but for another name. */
  otherName: { key: string; cert: string };
  /** Of the same authority, and expired since 2020. */
  expired: { key: string; cert: string };
}

let created: Certificates | undefined;

/** An authority that no machine trusts, and what it signed. openssl creates them once in each process. */
export function makeCertificates(): Certificates {
  created ??= createCertificates();
  return created;
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

function createCertificates(): Certificates {
  const folder = scratchFolder();
  const openssl = (command: string) =>
    execFileSync("openssl", command.split(" "), { cwd: folder, stdio: "pipe" });
  const newKey = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  openssl(`req -x509 ${newKey} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem`);
  writeFileSync(join(folder, "index.txt"), "");
  writeFileSync(join(folder, "ca.cnf"), authorityConfig);
  const signed = (name: string, names: string, sign: string) => {
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
    openssl(`req ${newKey} -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`);
    openssl(`${sign} -in ${name}.csr -extfile ${name}.ext -out ${name}.pem`);
    const read = (file: string) => readFileSync(join(folder, file), "utf8");
    return { key: read(`${name}.key`), cert: read(`${name}.pem`) };
  };
  const today = "x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days 2";
  const until2020 =
    "ca -batch -notext -config ca.cnf -create_serial -cert ca.pem -keyfile ca.key -startdate 20200101000000Z -enddate 20200201000000Z";
  return {
    authorityFile: join(folder, "ca.pem"),
    ...signed("service.test", "DNS:service.test,DNS:localhost,IP:127.0.0.1,IP:0.0.0.0", today),
    otherName: signed("other.test", "DNS:other.test", today),
    expired: signed("expired.test", "DNS:localhost", until2020),
  };
}

/**
 * Trusts an authority in this process until the returned function is called. Node reads NODE_EXTRA_CA_CERTS
 * only when a process starts.
 */
export function trustAuthority(file: string): () => void {
  const authority = readFileSync(file, "utf8");
  const { createSecureContext } = tls;
  tls.createSecureContext = (options) => {
    const secure = createSecureContext(options);
    secure.context.addCACert(authority);
    return secure;
  };
  return () => {
    tls.createSecureContext = createSecureContext;
  };
}

/** A proxy on loopback that connects every name to one local port. `asked`: its requests. */
export async function connectProxy(targetPort: number, answer = "200 Connection established") {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    outgoing.writeHead(501).end();
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (incoming, near: Socket, first: Buffer) => {
    asked.push(`CONNECT ${incoming.url}`);
    near.on("error", () => {});
    if (!answer.startsWith("200")) return void near.end(`HTTP/1.1 ${answer}\r\n\r\n`);
    const far = connect(targetPort, "127.0.0.1", () => {
      near.write(`HTTP/1.1 ${answer}\r\n\r\n`);
      far.write(first);
      far.pipe(near);
      near.pipe(far);
    });
    sockets.add(far);
    far.on("error", () => near.destroy());
    far.on("close", () => near.destroy());
    near.on("close", () => far.destroy());
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port, url: `http://127.0.0.1:${port}`, asked };
}
