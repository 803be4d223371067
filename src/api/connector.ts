import type { buildConnector } from "undici";
import connectorWith from "undici/lib/core/connect.js";

/** What happened to one address, as in the errors that Node itself collects. */
class AddressFailure extends Error {
  readonly address: string;
  readonly code: string;

  constructor(address: string, code: string) {
    super(`${code} ${address}`);
    this.address = address;
    this.code = code;
  }
}

/**
 * undici's connector, whose timeout hides what happened to the addresses of a name. Here it rejects with an
 * AggregateError of them, as Node does if all addresses failed in time.
 */
export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = connectorWith(options);
  return (target, callback) => {
    const failures = new Map<string, AddressFailure>();
    let current: string | undefined;
    const failed = (address: string, code: string) =>
      failures.set(address, new AddressFailure(address, code));
    const socket = connect(target, (...result) => {
      const [error] = result;
      if (error === null || current === undefined || !isTimeout(error)) return callback(...result);
      failed(current, "ETIMEDOUT");
      callback(new AggregateError(failures.values(), error.message), null);
    });
    // A socket that tries several addresses, one after the other, reports each.
    socket.on("connectionAttempt", (address) => {
      current = address;
    });
    socket.on("connectionAttemptTimeout", (address) => failed(address, "ETIMEDOUT"));
    socket.on("connectionAttemptFailed", (address, _port, _family, error) =>
      failed(address, "code" in error ? String(error.code) : "UNKNOWN"),
    );
  };
}

function isTimeout(error: Error): boolean {
  return "code" in error && error.code === "UND_ERR_CONNECT_TIMEOUT";
}
