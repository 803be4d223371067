/** Lets other processes run before the call that awaits it proceeds. */
type Point = () => Promise<void>;

interface Scheduling {
  point: Point;
  /** The calls that returned a promise, such as "batches.claim": from then on there is a point before them, too. */
  awaited: Set<string>;
  /** Of the part within the ledger. */
  path?: string;
}

/**
 * A ledger, or a part of one, whose awaited calls are scheduling points: other processes may run before and
 * after each call that returns a promise, and before each item of an asynchronous iteration. Synchronous
 * calls stay as they are.
 */
export function scheduled<Part extends object>(part: Part, scheduling: Scheduling): Part {
  const { point, awaited, path = "" } = scheduling;
  return new Proxy(part, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      const call = `${path}.${String(name)}`;
      if (typeof member !== "function")
        return isStore(name, member) ? scheduled(member, { ...scheduling, path: call }) : member;
      return (...values: unknown[]): unknown => {
        const work = (): unknown => Reflect.apply(member, target, values);
        if (awaited.has(call)) return around(work, point);
        const result = work();
        if (isIterated(result)) return each(result, point);
        if (!(result instanceof Promise)) return result;
        awaited.add(call);
        // The first one has started: another process that ran now would see it half done.
        const ended = result.catch(() => {});
        return ended.then(() => around(() => result, point));
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

/** The batches and callbacks of a ledger are parts of it. */
function isStore(name: string | symbol, member: unknown): member is object {
  return typeof member === "object" && (name === "batches" || name === "callbacks");
}

async function* each(items: AsyncIterable<unknown>, point: Point): AsyncIterable<unknown> {
  for await (const item of items) {
    await point();
    yield item;
  }
}

function isIterated(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
