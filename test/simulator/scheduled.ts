/** Lets other processes run before the call that awaits it proceeds. */
export type Point = () => Promise<void>;

/** The names of ledger calls that returned a promise: from then on there is a point before them, too. */
const awaited = new Set<PropertyKey>();

/**
 * A ledger, or a part of one, whose awaited calls are scheduling points: other processes may run before and
 * after each call that returns a promise, and before each item of an asynchronous iteration. Synchronous
 * calls stay as they are.
 */
export function scheduled<Part extends object>(part: Part, point: Point): Part {
  return new Proxy(part, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return wrapped(member, point);
      return (...values: unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(member, target, values);
        if (awaited.has(name)) return around(call, point);
        const result = call();
        if (!(result instanceof Promise)) return wrapped(result, point);
        awaited.add(name);
        return around(() => result, point);
      };
    },
  });
}

async function around(call: () => unknown, point: Point): Promise<unknown> {
  await point();
  try {
    return await call();
  } finally {
    await point();
  }
}

/** The batches and callbacks of a ledger are parts of it; its rows and answers are not. */
function wrapped(value: unknown, point: Point): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isIterated(value)) return each(value, point);
  const hasCalls = Object.values(value).some((one) => typeof one === "function");
  return hasCalls ? scheduled(value, point) : value;
}

async function* each(items: AsyncIterable<unknown>, point: Point): AsyncIterable<unknown> {
  for await (const item of items) {
    await point();
    yield item;
  }
}

function isIterated(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
