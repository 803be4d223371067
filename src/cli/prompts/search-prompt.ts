import {
  createPrompt,
  isDownKey,
  isEnterKey,
  isTabKey,
  isUpKey,
  makeTheme,
  useEffect,
  useKeypress,
  useMemo,
  usePagination,
  usePrefix,
  useState,
} from "@inquirer/core";
import { columnsOf } from "../output/columns.ts";
import { clean } from "../output/terminal-text.ts";
import { cut } from "../output/width.ts";
import type { Choice } from "./choice.ts";

interface SearchOptions {
  message: string;
  find: (typed: string) => Choice<string>[];
  /** The terminal, which may change its size at any moment. */
  terminal: NodeJS.WritableStream & { columns?: number };
}

type Where = Parameters<ReturnType<typeof createPrompt>>[1];

const pageSize = 7;

/**
 * One of many, narrowed by what is typed. What Enter takes is always what stands on the screen for
 * the very text that was typed: the list is made while the key is handled, and never arrives later.
 */
export function searchPrompt(options: SearchOptions, where: Where): Promise<string> {
  const prompt = createPrompt<string, SearchOptions>(({ message, find, terminal }, done) => {
    const theme = makeTheme();
    const [typed, setTyped] = useState("");
    const [place, setPlace] = useState(0);
    const [taken, setTaken] = useState<string>();
    const found = useMemo(() => find(typed), [typed]);
    const width = useWidth(terminal) - 3;
    const prefix = usePrefix({ status: taken === undefined ? "idle" : "done", theme });

    useKeypress((key, rl) => {
      if (taken !== undefined) return;
      const choice = found[place];
      if (isEnterKey(key)) {
        if (!choice) return rl.write(typed); // readline emptied its line at Enter
        setTaken(clean(choice.value));
        done(choice.value);
      } else if (isUpKey(key)) setPlace(Math.max(place - 1, 0));
      else if (isDownKey(key)) setPlace(Math.max(Math.min(place + 1, found.length - 1), 0));
      else if (isTabKey(key)) {
        rl.clearLine(0); // a tab means nothing here, and readline has put it into its line
        rl.write(typed);
      } else if (rl.line !== typed) {
        setPlace(0);
        setTyped(rl.line);
      }
    });

    const page = usePagination({
      items: found,
      active: place,
      renderItem: ({ item, isActive }) =>
        isActive
          ? theme.style.highlight(`❯ ${cut(item.name, width)}`)
          : `  ${cut(item.name, width)}`,
      pageSize,
      loop: false,
    });
    const head = `${prefix} ${theme.style.message(message, "idle")}`;
    if (taken !== undefined) return `${head} ${theme.style.answer(taken)}`;
    const below = [
      found.length === 0 ? theme.style.error("Nothing fits; type something else.") : page,
      theme.style.help("type to search · ↑↓ to choose · Enter to take"),
    ];
    return [`${head} ${typed}`, below.join("\n")];
  });
  return prompt(options, where);
}

/** The columns of the terminal; the question is drawn anew when they change. */
function useWidth(terminal: SearchOptions["terminal"]): number {
  const now = () => columnsOf(terminal);
  const [width, setWidth] = useState(now());
  useEffect(() => {
    const look = () => setWidth(now());
    terminal.on("resize", look);
    return () => void terminal.off("resize", look);
  }, []);
  return width;
}
