/** Hands things over to one reader; whoever gives one waits until it was taken. */
export interface Channel<Item> extends AsyncIterable<Item> {
  give(item: Item): Promise<void>;
  /** No more is taken, and nobody waits any longer. */
  end(): void;
}

export function openChannel<Item>(): Channel<Item> {
  const given: { item: Item; taken: () => void }[] = [];
  let isOver = false;
  let wake = (): void => {};
  return {
    give: (item) =>
      new Promise((taken) => {
        if (isOver) return taken();
        given.push({ item, taken });
        wake();
      }),
    end: () => {
      isOver = true;
      for (const { taken } of given.splice(0)) taken();
      wake();
    },
    async *[Symbol.asyncIterator]() {
      while (!isOver) {
        const next = given.shift();
        if (next) {
          try {
            yield next.item;
          } finally {
            next.taken();
          }
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
