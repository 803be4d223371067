import type { Request } from "../../api/transport.ts";
import { withoutSecrets } from "../../domain/api-keys.ts";
import { card, field, text, type View } from "../output/view.ts";

const signature = "x-payout-signature";

/** The result of `--dry-run`: the request that would be sent, with secrets masked. */
export class Preview {
  /** Tells it from the result of a command, which need not load this file. */
  readonly isPreview = true;
  readonly request: { method: string; url: string; headers: Record<string, string>; body: unknown };

  constructor({ method, url, headers, body }: Request) {
    const parsed: unknown = body === undefined ? null : JSON.parse(body);
    const signed = signature in headers ? { [signature]: "(made when it is sent)" } : {};
    const shown = { ...withoutSecrets(headers), ...signed };
    this.request = { method, url: url.href, headers: shown, body: parsed };
  }

  view(): View {
    const { method, url, headers, body } = this.request;
    const bodyFields = typeof body === "object" && body !== null ? Object.entries(body) : [];
    return card("Request (dry run: not sent, and not compared with the ledger)", "", [
      field("request", "Request", text(`${method} ${url}`)),
      ...Object.entries(headers).map(([name, value]) => field(name, name, text(value))),
      ...bodyFields.map(([name, value]) =>
        field(`body.${name}`, `body.${name}`, text(JSON.stringify(value))),
      ),
    ]);
  }
}
