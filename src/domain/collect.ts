/** All items of an asynchronous list, for one that is known to be short. Array.fromAsync needs Node 22. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The names of the fields of an object, in their order. */
export function keysOf<Keyed extends object>(keyed: Keyed): (keyof Keyed & string)[] {
  return Object.keys(keyed).filter((key): key is keyof Keyed & string => key in keyed);
}

type Words<Text extends string> = Text extends `${infer First} ${infer Others}`
  ? First | Words<Others>
  : Text;

/** The names in a text, separated by spaces. */
export function namesIn<Text extends string>(text: Text): Words<Text>[] {
  return text.split(" ").filter((name): name is Words<Text> => name !== "");
}

/** Creates a value when it is first needed, at most once. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** As `once`, for a value that a process may need for days: what failed is tried again the next time. */
export function onceMade<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    const own = made ?? make();
    made = own;
    own.catch(() => {
      if (made === own) made = undefined;
    });
    return own;
  };
}
