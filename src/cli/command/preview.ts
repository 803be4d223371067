import type { Request } from "../../api/transport.ts";
import { masked } from "../../domain/api-keys.ts";
import { card, field, text, type View } from "../output/view.ts";

/** The result of `--dry-run`: the request that would be sent, with secrets masked. */
export class Preview {
  readonly request: { method: string; url: string; headers: Record<string, string>; body: unknown };

  constructor({ method, url, headers, body }: Request) {
    const parsed: unknown = body === undefined ? null : JSON.parse(body);
    this.request = { method, url: url.href, headers: withoutSecrets(headers), body: parsed };
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

/** Headers as they may be shown. A signature is as good as the payout it signs: it is masked too. */
export function withoutSecrets(headers: Record<string, string>): Record<string, string> {
  const secret = ["x-api-key", "x-payout-signature", "authorization", "proxy-authorization"];
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secret.includes(name.toLowerCase()) ? masked(value) : value,
    ]),
  );
}
