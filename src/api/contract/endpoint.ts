import type * as z from "zod/mini";

/**
 * Who may call: any key, a key with a payout signature, or a sandbox key alone (service.md §4).
 */
export type Access = "key" | "signature" | "sandbox key";

/**
 * What a second sending would do. `safe`: nothing. `same reference`: the service answers with the
 * payout it already has. `settles`: the record can be looked at to see whether it happened.
 * `never`: it would be a second payment or refund.
 */
export type Repeat = "safe" | "same reference" | "settles" | "never";

type Method = "GET" | "POST" | "PATCH";
export type Route = `${Method} /${string}`;
type Schema = z.ZodMiniType;

export interface Endpoint<R extends Route = Route, Body = unknown, Data = unknown> {
  route: R;
  method: Method;
  /** The path with its parameters as `:name`, relative to the base URL. */
  path: string;
  access: Access;
  repeat: Repeat;
  summary: string;
  /** The field of `data` that must be the id in the path: an answer may be about another record. */
  about: string | undefined;
  body: z.ZodMiniType<Body> | undefined;
  /** The shape of the answer's `data`; undefined where the specification shows no answer. */
  data: z.ZodMiniType<Data> | undefined;
}

type Contract = Record<string, Endpoint>;

/** The names of the parameters in a path: `/refund/retrieve/:id` → `id`. */
type Parameters<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Parameters<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** What a caller gives: the path's parameters and the body's fields. The client adds the timestamp. */
export type Input<E> =
  E extends Endpoint<infer R, infer Body, infer _>
    ? { [Name in Parameters<R>]: string } & (unknown extends Body
        ? unknown
        : Omit<Body, "timestamp">)
    : never;

/** What a caller gets: the answer's `data`. */
export type Data<E> = E extends Endpoint<infer _R, infer _B, infer D> ? D : never;

/** Joins what the client and the local sandbox are both derived from. */
export function endpoint<R extends Route, BodySchema extends Schema, DataSchema extends Schema>(
  route: R,
  spec: {
    access: Access;
    repeat: Repeat;
    summary: string;
    about?: string;
    body?: BodySchema;
    data?: DataSchema;
  },
): Endpoint<R, z.infer<BodySchema>, z.infer<DataSchema>>;
export function endpoint(
  route: Route,
  spec: {
    access: Access;
    repeat: Repeat;
    summary: string;
    about?: string;
    body?: Schema;
    data?: Schema;
  },
): Endpoint {
  const { method, path } = splitRoute(route);
  return { route, method, path, ...spec, about: spec.about, body: spec.body, data: spec.data };
}
export type { Contract };

function splitRoute(route: Route): { method: Method; path: string } {
  const [method, path = "/"] = route.split(" ");
  if (method === "GET" || method === "POST" || method === "PATCH") return { method, path };
  throw new TypeError(`not a route: ${route}`);
}
