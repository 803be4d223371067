import { Failure, whatHappened } from "../domain/failure.ts";

const movedAtOnce = 8;

/**
 * A record that cannot be moved does not keep the others from it; any other failure ends it.
 *
 * @returns `failures`: the one that ended it first
 */
export async function moveAll<Record>(ids: string[], move: (id: string) => Promise<Record>) {
  const moved = new Map<string, Record>();
  const failures: Failure[] = [];
  const left = ids.values();
  let isOver = false;
  const work = async (): Promise<void> => {
    for (const id of left) {
      if (isOver) return;
      try {
        moved.set(id, await move(id));
      } catch (error) {
        const isOfRecord =
          error instanceof Failure && ["refused", "not-found", "conflict"].includes(error.kind);
        isOver ||= !isOfRecord;
        if (!(error instanceof Failure)) throw error;
        failures.splice(isOfRecord ? failures.length : 0, 0, error);
      }
    }
  };
  await Promise.all(Array.from({ length: movedAtOnce }, work));
  return { moved: ids.flatMap((id) => moved.get(id) ?? []), failures };
}

const mostProblems = 10;

/** One failure for all of them: the first decides. */
export function together([first, ...others]: Failure[], summary: string, hasMoved: boolean) {
  if (!first) return undefined;
  const problems = [...others.slice(0, mostProblems).map(whatHappened), summary];
  const effect = hasMoved ? { effect: "partly-sent" as const } : {};
  return new Failure(first.reason, whatHappened(first), { ...first.details, ...effect, problems });
}
