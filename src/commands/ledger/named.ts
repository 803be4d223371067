import { placeIn } from "../../cli/command/common-flags.ts";
import type { Ledger, Operation } from "../../cli/command/context.ts";
import { Failure } from "../../domain/failure.ts";

/** The operation of a name, or the failure that says that there is none. */
export async function operationNamed(name: string, ledger: Ledger): Promise<Operation> {
  const place = placeIn(name);
  const found =
    place === undefined
      ? ((await ledger.find(name)) ?? (await ledger.findElsewhere(name)))
      : await ledger.latest(place);
  if (found) return found;
  throw new Failure(
    "not-found",
    `The ledger has no operation ${JSON.stringify(name)} of this account.`,
    { hint: "To list them, run 'lenden ledger list'." },
  );
}
