import { crc32, createInflateRaw } from "node:zlib";
import { errorCode } from "../domain/error-code.ts";

/** The file is no archive that can be checked; the message says why. */
export class UnusableArchive extends Error {
  readonly kind: "damaged" | "too-large" | "password";

  constructor(kind: UnusableArchive["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A zip file of which every entry was inflated once. */
export interface Archive {
  names: string[];
  /** The bytes of an entry, inflated again; undefined if there is none of that name. */
  read(name: string): Promise<Buffer | undefined>;
}

interface Entry {
  name: string;
  isDeflated: boolean;
  data: Buffer;
  crc: number;
  /** Where the entry begins and ends in the file. */
  from: number;
  to: number;
}

/**
 * Checks a zip file without a library that believes its headers: each entry is inflated, and what comes out is
 * counted and not kept. What is read later has passed.
 *
 * @param most bytes of all entries together
 * @throws UnusableArchive
 */
export async function openArchive(bytes: Buffer, most: number): Promise<Archive> {
  const entries = entriesOf(bytes);
  let left = most;
  for (const entry of entries.values()) left -= await inflate(entry, left, () => {});
  const size = most - left;
  if (size > fewBytes && size > mostTimes * bytes.byteLength)
    throw new UnusableArchive(
      "too-large",
      `It is more than ${mostTimes} times as large when it is inflated.`,
    );
  return {
    names: [...entries.keys()],
    async read(name) {
      const entry = entries.get(name);
      if (!entry) return undefined;
      const pieces: Buffer[] = [];
      await inflate(entry, most, (piece) => pieces.push(piece));
      return Buffer.concat(pieces);
    },
  };
}

/** Tables are compressed to a tenth or so. What shrinks much more was made to fill the memory. */
const mostTimes = 200;
const fewBytes = 10_000_000;

/** @returns how many bytes came out */
async function inflate(
  { name, data, crc, isDeflated }: Entry,
  most: number,
  take: (piece: Buffer) => void,
): Promise<number> {
  let [size, sum] = [0, 0];
  for await (const piece of isDeflated ? inflated(name, data) : [data]) {
    size += piece.byteLength;
    if (size > most) {
      const message = "It has more than 100 MB when it is inflated.";
      throw new UnusableArchive("too-large", message);
    }
    sum = crc32(piece, sum);
    take(piece);
  }
  if (sum !== crc) throw damaged(`its entry ${name} is damaged`);
  return size;
}

async function* inflated(name: string, data: Buffer): AsyncGenerator<Buffer> {
  const stream = createInflateRaw({ chunkSize: 64 * 1024 });
  stream.end(data);
  try {
    for await (const piece of stream) yield piece;
  } catch (error) {
    if (error instanceof UnusableArchive || errorCode(error) === undefined) throw error;
    throw damaged(`its entry ${name} is damaged`);
  } finally {
    stream.destroy();
  }
  // Bytes behind the end would be another content for another program.
  if (stream.bytesWritten !== data.byteLength) throw damaged(`its entry ${name} is ambiguous`);
}

function damaged(why: string): UnusableArchive {
  return new UnusableArchive("damaged", `The file is damaged: ${why}.`);
}

const signatures = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 };
const mostEntries = 10_000;

/** The entries of the central directory, by their names. Each is the only one of its bytes. */
function entriesOf(bytes: Buffer): Map<string, Entry> {
  const end = endOf(bytes);
  const count = bytes.readUInt16LE(end + 10);
  const from = bytes.readUInt32LE(end + 16);
  if (bytes.readUInt16LE(end + 8) !== count || count > mostEntries)
    throw damaged("it has an unusual directory");
  const entries = new Map<string, Entry>();
  const names = new Set<string>();
  let at = from;
  for (let index = 0; index < count; index += 1) {
    const { entry, next } = entryAt(bytes, at, from);
    const name = entry.name.toLowerCase();
    if (names.has(name)) throw damaged(`it has two entries with the name ${entry.name}`);
    names.add(name);
    entries.set(entry.name, entry);
    at = next;
  }
  const inOrder = [...entries.values()].sort((one, other) => one.from - other.from);
  for (const [index, entry] of inOrder.entries())
    if (entry.from < (inOrder[index - 1]?.to ?? 0)) throw damaged("its entries overlap");
  return entries;
}

/** Where the record at the end of the file begins. Behind it is only its own comment. */
function endOf(bytes: Buffer): number {
  for (let at = bytes.length - 22; at >= Math.max(0, bytes.length - 22 - 0xffff); at -= 1)
    if (
      bytes.readUInt32LE(at) === signatures.end &&
      at + 22 + bytes.readUInt16LE(at + 20) === bytes.length
    )
      return at;
  throw damaged("its end is missing");
}

function entryAt(bytes: Buffer, at: number, directory: number): { entry: Entry; next: number } {
  if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== signatures.central)
    throw damaged("its directory is damaged");
  const flags = bytes.readUInt16LE(at + 8);
  const method = bytes.readUInt16LE(at + 10);
  const length = bytes.readUInt32LE(at + 20);
  const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
  const rawName = bytes.subarray(at + 46, nameEnd);
  const from = bytes.readUInt32LE(at + 42);
  // Some Windows programs write backslashes.
  const name = rawName.toString("utf8").replaceAll("\\", "/");
  if ((flags & 1) !== 0) throw new UnusableArchive("password", "The file has a password.");
  if (method !== 0 && method !== 8) throw damaged(`its entry ${name} has an unusual compression`);
  if (length === 0xffffffff || from === 0xffffffff) throw damaged("it is a zip64 archive");
  if (from + 30 > directory || bytes.readUInt32LE(from) !== signatures.local)
    throw damaged(`its entry ${name} is missing`);
  const localNameEnd = from + 30 + bytes.readUInt16LE(from + 26);
  const start = localNameEnd + bytes.readUInt16LE(from + 28);
  const isSame =
    rawName.equals(bytes.subarray(from + 30, localNameEnd)) &&
    bytes.readUInt16LE(from + 8) === method;
  if (!isSame || start + length > directory) throw damaged(`its entry ${name} is ambiguous`);
  const data = bytes.subarray(start, start + length);
  const crc = bytes.readUInt32LE(at + 16);
  const next = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  return {
    entry: { name, isDeflated: method === 8, data, crc, from, to: start + length },
    next,
  };
}

/** A zip file without compression. */
export function createArchive(contents: [name: string, content: Buffer][]): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of contents) {
    const named = Buffer.from(name);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(content.byteLength, 14);
    shared.writeUInt32LE(content.byteLength, 18);
    shared.writeUInt16LE(named.byteLength, 22);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(signatures.central, 0);
    central.writeUInt16LE(20, 4);
    shared.copy(central, 6);
    central.writeUInt32LE(at, 42);
    const local = Buffer.alloc(4);
    local.writeUInt32LE(signatures.local, 0);
    pieces.push(local, shared, named, content);
    directory.push(central, named);
    at += 30 + named.byteLength + content.byteLength;
  }
  const size = directory.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(signatures.end, 0);
  end.writeUInt16LE(contents.length, 8);
  end.writeUInt16LE(contents.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...pieces, ...directory, end]);
}
