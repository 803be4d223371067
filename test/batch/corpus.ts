import { accidents } from "./accidents.ts";
import { type Damage, damages, sound, soundTotal } from "./damages.ts";
import {
  type Export,
  exportedBytes,
  exportedText,
  isForeign,
  narrowExports,
  utf8Exports,
} from "./exports.ts";
import { soundText, strangers } from "./strangers.ts";

/** A file that is peculiar or wrong, and what is to be said about it. */
export interface Case {
  name: string;
  bytes: Buffer;
  delimiter: string;
  /** Each problem as `line column`, in their order; none: the file is good. */
  finds: string[];
  /** Of a good file. */
  rows: number;
  total: string;
}

const asItShouldBe = { delimiter: ",", rows: sound.length - 1, total: soundTotal };

function exported({ name, table, finds }: Damage, how: Export): Case {
  const bytes = exportedBytes(exportedText(table, how), how);
  return {
    ...asItShouldBe,
    name: `${name} (${how.program})`,
    bytes,
    delimiter: how.delimiter,
    finds,
  };
}

function named(name: string): string[][] {
  return sound.with(3, (sound[3] ?? []).with(4, name));
}

/** What only an encoding of one byte a character spoils. */
const accented: Damage[] = [
  { name: "an accent", table: named("José"), finds: [] },
  { name: "curly quotes", table: named("Mina “Moon” Das"), finds: [] },
  { name: "a currency", table: named("from 5 €"), finds: [] },
  {
    name: "a bad amount before an accent",
    table: named("José").with(1, (sound[1] ?? []).with(1, "x")),
    finds: ["2 amount"],
  },
];

/** Bytes that are no UTF-8 end the reading on their line; what became `?` is a name all the same. */
function narrowly(damage: Damage, how: Export): Case {
  const text = exportedText(damage.table, how);
  const foreign = [...text].findIndex((character) => isForeign(character, how));
  const line = [...text]
    .slice(0, foreign)
    .join("")
    .split(/\r\n|[\r\n]/).length;
  const finds =
    foreign < 0
      ? damage.finds.filter((one) => !one.endsWith(" name"))
      : [...damage.finds.filter((one) => Number.parseInt(one, 10) < line), String(line)];
  return exported({ ...damage, finds }, how);
}

const isWide = ({ name, table }: Damage) =>
  /[^\0-\x7f]/.test(String(table)) && name !== "a header in Bangla";

const key = ({ bytes, delimiter }: Case) => `${delimiter}${bytes.toString("latin1")}`;

/** The same damage can come out as the same bytes: one of them is enough. */
function distinct(cases: Case[]): Case[] {
  return [...new Map(cases.toReversed().map((one) => [key(one), one])).values()].toReversed();
}

/** All of it: more than 500 files, each of which is told apart by its name and by its bytes. */
export const corpus: Case[] = [
  ...distinct([
    ...utf8Exports.flatMap((how) => damages.map((damage) => exported(damage, how))),
    ...narrowExports.flatMap((how) =>
      [...damages.filter(isWide), ...accented].map((damage) => narrowly(damage, how)),
    ),
  ]),
  ...accidents.map(([name, spoil, finds]) => ({
    ...asItShouldBe,
    name,
    bytes: Buffer.from(spoil(soundText)),
    finds,
  })),
  ...strangers.map(([name, bytes, finds]) => ({
    ...asItShouldBe,
    name,
    bytes: Buffer.from(bytes),
    finds,
  })),
];
