/** All items of an asynchronous list, for one that is known to be short. Array.fromAsync needs Node 22. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
