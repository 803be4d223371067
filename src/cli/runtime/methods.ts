import type { PaymentMethod } from "../../api/contract/index.ts";
import type { Context, MethodWanted } from "../command/context.ts";

/** Where the methods are kept, and the service that knows them. */
type Where = Pick<Context, "methodCache" | "world">;

/** The methods of the account, as they were kept; asks the service where they were not. */
export async function methods({ methodCache, world }: Where): Promise<PaymentMethod[]> {
  const { listMethods } = await import("../../operations/method.ts");
  const cache = await methodCache();
  return cache.read() ?? listMethods(await world(), cache);
}

/** The id of the method that was named; of a dry run, without asking the service. */
export async function methodId(
  { method = "", methodId: id, dryRun }: MethodWanted,
  { methodCache, world }: Where,
): Promise<string> {
  if (id !== undefined) return id;
  const { findKeptMethod, findMethod, unknownMethod } = await import("../../operations/method.ts");
  const cache = await methodCache();
  if (!dryRun) return (await findMethod(method, await world(), cache)).id;
  const known = findKeptMethod(method, cache);
  if (known) return known.id;
  const methods = cache.read();
  if (methods) throw unknownMethod(method, methods);
  return `(the id of ${method}, looked up when it is sent)`;
}
