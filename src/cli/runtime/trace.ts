import type { Exchange, Request } from "../../api/transport.ts";
import { withoutSecrets } from "../command/preview.ts";
import { clean } from "../output/terminal-text.ts";

const longest = 4096;

/** Shows every exchange for `--verbose`, as it went over the wire, secrets masked. */
export function tracer(
  show: (text: string) => void,
  scrub: (text: string) => string,
): (request: Request, exchange: Exchange) => void {
  return (request, exchange) => {
    show(`> ${request.method} ${request.url.href}`);
    for (const [name, value] of Object.entries(withoutSecrets(request.headers)))
      show(`> ${name}: ${value}`);
    if (request.body !== undefined) show(`> ${request.body}`);
    // Cut last of all: half a secret would not be found any more.
    for (const line of answerLines(exchange)) show(`< ${scrub(clean(line)).slice(0, longest)}`);
  };
}

function answerLines(exchange: Exchange): string[] {
  if (exchange.kind === "broken") {
    const { fault, sent } = exchange;
    return [
      `${fault.reason} (${fault.code}), ${sent ? "after the request was sent" : "nothing was sent"}`,
    ];
  }
  const { status, headers, bytes } = exchange;
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [String(status), ...shown, new TextDecoder().decode(bytes)];
}
