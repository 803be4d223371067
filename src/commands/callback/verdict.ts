import type { Checked, CheckedRecord } from "../../callbacks/verify.ts";
import { type Field, field, text } from "../../cli/output/view.ts";
import type { FailureKind } from "../../domain/failure.ts";
import { formatAmount } from "../../domain/money.ts";

/** A callback that may not have been verified yet. */
interface Judged extends Pick<Checked, "because" | "records"> {
  verdict: string | null;
}

/** The rows of a card that say what was claimed, beside what the service has. */
export function verdictFields({ verdict, because, records }: Judged): Field[] {
  return [
    field("verdict", "Verdict", text(verdict)),
    field("because", "Because", text(because)),
    ...records.flatMap((record, index) => [
      field(`records.${index}.id`, "About", text(nameOf(record))),
      field(`records.${index}.claimed`, "It claims", text(claimText(record))),
      field(`records.${index}.verified`, "The service says", text(verifiedText(record))),
    ]),
  ];
}

/** `payment TX8F3K2Q` */
export function nameOf({ kind, id }: CheckedRecord): string {
  return kind ? `${kind} ${id}` : id;
}

export function claimText({ claimed: { status, amount } }: CheckedRecord): string {
  return [status, amount].filter((one) => one !== null).join(", ") || "nothing";
}

export function verifiedText({ verified }: CheckedRecord): string {
  if (!verified) return "nothing: it does not know this id";
  const { status, amount, description } = verified;
  return [status, formatAmount(amount), description].filter((one) => one !== null).join(", ");
}

/** How a check ends for a script. */
export function endingOf({ verdict }: Checked): FailureKind | undefined {
  if (verdict === "verified") return undefined;
  return verdict === "unchecked" ? "unreachable" : "unverified";
}
