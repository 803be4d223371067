import { setTimeout as delay } from "node:timers/promises";

type Keyboard = NodeJS.ReadableStream & { isTTY?: boolean };

interface Key {
  ctrl?: boolean;
  name?: string;
}

/** Long enough for everything that waits in the terminal to arrive. */
const arrivalMs = 30;

/**
 * Throws away what was typed before a question could be read: it was not meant as its answer. Pasted
 * lines, and keys that were pressed too early, would say yes to it.
 */
export async function discardTyped(stdin: Keyboard): Promise<void> {
  if (!stdin.isTTY || !("setRawMode" in stdin) || typeof stdin.setRawMode !== "function") return;
  const ignore = (): void => {};
  stdin.setRawMode(true);
  stdin.on("data", ignore);
  stdin.resume();
  await delay(arrivalMs);
  stdin.pause();
  stdin.off("data", ignore);
  stdin.setRawMode(false);
}

/**
 * Does what readline does not while a question is open. After Ctrl-D it stops reading and tells nobody;
 * after Ctrl-Z it stops reading too; and when the terminal is gone it still sets its mode, which throws.
 *
 * @param onEnd the person closed the input
 * @param onGone the terminal is gone
 * @returns how to stop looking
 */
export function watchKeyboard(
  stdin: Keyboard,
  { onEnd, onGone }: { onEnd: () => void; onGone: () => void },
): () => void {
  let isOpen = true;
  let isEnd = false;
  const look = (_: unknown, { ctrl, name }: Key): void => {
    isEnd = ctrl === true && name === "d";
  };
  const paused = (): void => {
    const closes = isEnd;
    setImmediate(() => {
      if (!isOpen) return;
      if (closes) onEnd();
      else stdin.resume();
    });
  };
  stdin.on("keypress", look);
  stdin.on("pause", paused);
  stdin.prependListener("end", onGone);
  return () => {
    isOpen = false;
    stdin.off("keypress", look);
    stdin.off("pause", paused);
    stdin.off("end", onGone);
    stdin.pause();
  };
}
