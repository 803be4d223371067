import type { Whose } from "../../config/glance.ts";
import { formatDay } from "../../domain/local-time.ts";
import { agoText } from "../output/time.ts";
import { type Entry, keptAccounts } from "./recent-kept.ts";

interface Asked {
  what: string;
  typed: string;
  whose: Whose;
}

/** What was kept of the ledger when it was last changed, newest first. */
export function recentCandidates(
  { what, typed, whose }: Asked,
  { folder, nowMs }: { folder: string; nowMs: number },
): { value: string; about: string }[] {
  const own = keptAccounts(folder).find(
    ({ profile, baseUrl }) => profile === whose.profile && baseUrl === whose.baseUrl,
  );
  const entries = own?.lists[what] ?? [];
  const found = typed.startsWith("@") ? entries.map(byPlace) : openFirst(entries);
  return found.map(({ value, about, at }) => ({
    value,
    about: `${about}, ${agoText(at, nowMs) ?? formatDay(at)}`,
  }));
}

/** `@last`, `@2` and so on, with the name that each stands for. */
function byPlace({ value, about, at }: Entry, index: number): Entry {
  return { value: index === 0 ? "@last" : `@${index + 1}`, about: `${value}, ${about}`, at };
}

/** What nobody knows yet comes first: it is what one looks for. */
function openFirst(entries: Entry[]): Entry[] {
  return [...entries.filter(({ isOpen }) => isOpen), ...entries.filter(({ isOpen }) => !isOpen)];
}
