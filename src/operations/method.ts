import type { PaymentMethod } from "../api/contract/index.ts";
import { namesRocket } from "../domain/mobile.ts";
import { didYouMean } from "../domain/nearest.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { OperationDeps } from "./deps.ts";
import { dataOf } from "./response-failure.ts";

export interface MethodCache {
  read(): PaymentMethod[] | undefined;
  write(methods: PaymentMethod[]): void | Promise<void>;
}

/** Retrieves the payment methods, and caches them. */
export async function listMethods(
  deps: OperationDeps,
  cache: MethodCache,
): Promise<PaymentMethod[]> {
  const methods = dataOf(await deps.client.listMethods({}));
  await cache.write(methods);
  return methods;
}

/**
 * Finds the IDs of methods. The API is queried once at most, if the cached list does not have a name, and
 * each name is looked up once.
 */
export function createMethodLookup(deps: OperationDeps, cache: MethodCache) {
  const known = new Map<string, Result<string>>();
  let methods = cache.read() ?? [];
  let listed: Promise<PaymentMethod[]> | undefined;
  const find = async (name: string): Promise<Result<string>> => {
    let found = findMethodId(name, methods);
    if (!found.ok) {
      listed ??= listMethods(deps, cache);
      methods = await listed;
      found = findMethodId(name, methods);
    }
    if (found.ok) known.set(name, found);
    return found;
  };
  return {
    idOf: (name: string): Result<string> | Promise<Result<string>> => known.get(name) ?? find(name),
    /** Without a request: of a method that was looked up, or that the cache has. */
    isRocket: (name: string): boolean => isRocket(name, methods),
  };
}

/** True if a method is Rocket by its name, its code, or what it was named: it has account numbers of 12 digits. */
export function isRocket(wanted: string, methods: PaymentMethod[]): boolean {
  const named = methods.find((one) => namesOf(one).includes(fold(wanted)));
  return namesRocket(wanted) || (named !== undefined && namesOf(named).some(namesRocket));
}

function namesOf({ codeName, providerName, id }: PaymentMethod): string[] {
  return [codeName, providerName, id].map(fold);
}

/**
 * The ID of a method by its ID, code name or provider name, in any case. A name must match only one method,
 * because another one would pay through a different provider.
 */
export function findMethodId(wanted: string, methods: PaymentMethod[]): Result<string> {
  if (methods.some(({ id }) => id === wanted)) return ok(wanted);
  const folded = fold(wanted);
  const found = methods.filter((one) => namesOf(one).includes(folded));
  const [first, second] = found;
  const name = JSON.stringify(wanted);
  if (second) return err(`The account has more than one method ${name}; use its ID.`);
  if (first) return ok(first.id);
  const codes = methods.map(({ codeName }) => codeName);
  const meant = didYouMean(wanted, [...codes, ...methods.map((one) => one.providerName)]);
  const list = codes.join(", ") || "none";
  return err(`The account has no method ${name}.${meant} Its methods: ${list}.`);
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}
