import { readFileSync } from "node:fs";
import tls from "node:tls";

/**
 * Trusts an authority in this process until the returned function is called. Node reads NODE_EXTRA_CA_CERTS
 * at its start alone, so that only another process could have it from there.
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
