import type * as z from "zod/mini";

/**
 * Who may call: any key, a key with a payout signature, or a sandbox key alone (docs/api.md §4).
 */
type Access = "key" | "signature" | "sandbox key";

/**
 * What a second request would do. `safe`: nothing. `same reference`: the API returns the existing payout.
 * `settles`: nothing, and the record shows whether the first one took effect. `never`: create a second
 * payment or refund.
 */
type Repeat = "safe" | "same reference" | "settles" | "never";

type Method = "GET" | "POST" | "PATCH";
export type Route = `${Method} /${string}`;

export interface Endpoint<R extends Route = Route, Body = unknown, Data = unknown> {
  route: R;
  method: Method;
  /** The path with its parameters as `:name`, relative to the base URL. */
  path: string;
  access: Access;
  repeat: Repeat;
  summary: string;
  /** The field of `data` that must equal the ID in the path: a response may be about another record. */
  about: string | undefined;
  body: z.ZodMiniType<Body> | undefined;
  /** The schema of the response's `data`; undefined if the specification does not show it. */
  data: z.ZodMiniType<Data> | undefined;
}

export type Contract = Record<string, Endpoint>;

/** The names of the parameters in a path: `/refund/retrieve/:id` → `id`. */
type Parameters<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Parameters<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The input of a call: path parameters and body fields. The client adds the timestamp. */
export type Input<E> =
  E extends Endpoint<infer R, infer Body, infer _>
    ? { [Name in Parameters<R>]: string } & (unknown extends Body
        ? unknown
        : Omit<Body, "timestamp">)
    : never;

/** The `data` of a response. */
export type Data<E> = E extends Endpoint<infer _R, infer _B, infer D> ? D : never;

interface Spec<Body, Data>
  extends Pick<Endpoint<Route, Body, Data>, "access" | "repeat" | "summary"> {
  about?: string;
  body?: z.ZodMiniType<Body>;
  data?: z.ZodMiniType<Data>;
}

/** Declares an endpoint, for the client and for the local sandbox. */
export function endpoint<R extends Route, Body = unknown, Data = unknown>(
  route: R,
  spec: Spec<Body, Data>,
): Endpoint<R, Body, Data> {
  const [method, path = "/"] = route.split(" ");
  if (method !== "GET" && method !== "POST" && method !== "PATCH")
    throw new TypeError(`not a route: ${route}`);
  return { route, method, path, ...spec, about: spec.about, body: spec.body, data: spec.data };
}
