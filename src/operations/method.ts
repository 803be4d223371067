import type { PaymentMethod } from "../api/contract/index.ts";
import { type Failure, usage } from "../domain/failure.ts";
import { didYouMean } from "../domain/nearest.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { OperationDeps } from "./deps.ts";
import { dataOf } from "./response-failure.ts";

interface Kept {
  read(): PaymentMethod[] | undefined;
  write(methods: PaymentMethod[]): void | Promise<void>;
}

/** Retrieves the payment methods, and caches them. */
export async function listMethods(deps: OperationDeps, kept: Kept): Promise<PaymentMethod[]> {
  const methods = dataOf(await deps.client.listMethods({}));
  await kept.write(methods);
  return methods;
}

/**
 * Finds a method by its ID, code name or provider name, in any case. The API is queried only if the cached list
 * does not have it.
 *
 * @throws Failure `usage` that lists the methods of the account; nothing that moves money was sent
 */
export async function findMethod(
  wanted: string,
  deps: OperationDeps,
  kept: Kept,
): Promise<PaymentMethod> {
  const known = findKeptMethod(wanted, kept);
  if (known) return known;
  const methods = await listMethods(deps, kept);
  const found = match(wanted, methods);
  if (found) return found;
  throw unknownMethod(wanted, methods);
}

/** The failure of an unknown method, which lists those of the account. */
export function unknownMethod(wanted: string, methods: PaymentMethod[]): Failure {
  const names = methods.map(
    ({ id, codeName, providerName }) => `${codeName} (${providerName}, ${id})`,
  );
  return usage(
    [
      isAmbiguous(wanted, methods)
        ? `--method: the account has more than one ${JSON.stringify(wanted)}; use its ID.`
        : `--method: the account has no method ${JSON.stringify(wanted)}.${meantBy(wanted, methods)}`,
    ],
    `The account has: ${names.join(", ") || "none"}.`,
  );
}

/**
 * Finds methods by name for many rows. The API is queried once at most, and each name is looked up once.
 */
export function createMethodLookup(
  deps: OperationDeps,
  kept: Kept,
): (name: string) => Result<string> | Promise<Result<string>> {
  const found = new Map<string, Result<string>>();
  let methods = kept.read() ?? [];
  let asked: Promise<PaymentMethod[]> | undefined;
  const look = async (name: string): Promise<Result<string>> => {
    let reading = methodNamed(name, methods);
    if (!reading.ok) {
      asked ??= listMethods(deps, kept);
      methods = await asked;
      reading = methodNamed(name, methods);
    }
    if (reading.ok) found.set(name, reading);
    return reading;
  };
  return (name) => found.get(name) ?? look(name);
}

function methodNamed(name: string, methods: PaymentMethod[]): Result<string> {
  const method = match(name, methods);
  if (method) return ok(method.id);
  const codes = methods.map(({ codeName }) => codeName).join(", ");
  return err(
    isAmbiguous(name, methods)
      ? "The account has more than one of this name; use its ID."
      : `The account has no such method. It has: ${codes || "none at all"}.${meantBy(name, methods)}`,
  );
}

/** Finds a method in the cached list: a dry run sends no request. */
export function findKeptMethod(
  wanted: string,
  kept: Pick<Kept, "read">,
): PaymentMethod | undefined {
  return match(wanted, kept.read() ?? []);
}

function isAmbiguous(wanted: string, methods: PaymentMethod[]): boolean {
  const folded = fold(wanted);
  return (
    methods.filter(({ codeName, providerName }) =>
      [codeName, providerName].some((name) => fold(name) === folded),
    ).length > 1
  );
}

/**
 * An ID matches exactly. A name must match only one method, because another one would pay through a
 * different provider.
 */
function match(wanted: string, methods: PaymentMethod[]): PaymentMethod | undefined {
  const exact = methods.find(({ id }) => id === wanted);
  if (exact) return exact;
  const folded = fold(wanted);
  const found = methods.filter((method) =>
    [method.codeName, method.providerName, method.id].some((name) => fold(name) === folded),
  );
  return found.length === 1 ? found[0] : undefined;
}

function meantBy(wanted: string, methods: PaymentMethod[]): string {
  return didYouMean(
    wanted,
    methods.flatMap(({ codeName, providerName }) => [codeName, providerName]),
  );
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}
