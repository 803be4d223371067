import { crc32, deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createArchive, openArchive, UnusableArchive } from "../../src/tables/archive.ts";
import { deflated, type RawEntry, rawZip, readBytes, zipOf } from "./workbooks.ts";

function entry(name: string, text: string, given: Partial<RawEntry> = {}): RawEntry {
  const content = Buffer.from(text);
  const pieces = deflateRawSync(content);
  return { name, pieces, crc: crc32(content), size: content.byteLength, ...given };
}

const most = 1_000_000;

describe("an archive", () => {
  test("has the entries that another program wrote", async () => {
    const archive = await openArchive(
      zipOf({ "a.xml": "<a/>", "b/c.xml": "x".repeat(9_000) }),
      most,
    );
    expect(archive.names.toSorted()).toEqual(["a.xml", "b/c.xml"]);
    expect(String(await archive.read("a.xml"))).toBe("<a/>");
    expect((await archive.read("b/c.xml"))?.byteLength).toBe(9_000);
    expect(await archive.read("c.xml")).toBeUndefined();
  });

  test("that is written without compression is read again", async () => {
    const bytes = createArchive([["a/é.xml", Buffer.from("one")]]);
    const archive = await openArchive(bytes, most);
    expect(String(await archive.read("a/é.xml"))).toBe("one");
  });

  const whole = rawZip([entry("a", "one"), entry("b", "two")]);
  const changed = (at: number, value: number) => {
    const bytes = Buffer.from(whole);
    bytes[at] = value;
    return bytes;
  };
  const directory = whole.indexOf("PK\u0001\u0002");
  const second = whole.indexOf("PK\u0001\u0002", directory + 4);
  test.each([
    ["two entries of one name", rawZip([entry("a", "one"), entry("A", "two")]), "two entries"],
    ["a wrong checksum", rawZip([entry("a", "one", { crc: 1 })]), "is damaged"],
    [
      "bytes behind an entry",
      rawZip([
        entry("a", "one", {
          pieces: Buffer.concat([deflateRawSync(Buffer.from("one")), Buffer.from("more")]),
        }),
      ]),
      "ambiguous",
    ],
    ["entries that overlap", changed(second + 42, 0), "ambiguous"],
    ["another name in its header", changed(30, 120), "ambiguous"],
    ["an unusual compression", changed(directory + 10, 12), "unusual compression"],
    ["a password", changed(directory + 8, 1), "password"],
    ["no end", whole.subarray(0, -4), "end is missing"],
    [
      "a zip64 entry",
      changed(directory + 20, 255).fill(255, directory + 20, directory + 24),
      "zip64",
    ],
  ])("with %s is rejected", async (_, bytes, message) => {
    await expect(openArchive(bytes, most)).rejects.toThrow(UnusableArchive);
    await expect(openArchive(bytes, most)).rejects.toThrow(message);
  });

  test("with two entries of the same bytes is rejected", async () => {
    const bytes = rawZip([entry("a", "one"), entry("a", "one")]);
    const later = bytes.lastIndexOf("PK\u0001\u0002");
    bytes.writeUInt32LE(0, later + 42);
    bytes[later + 46] = 97;
    await expect(openArchive(bytes, most)).rejects.toThrow(UnusableArchive);
  });

  test("with an entry inside of another one is rejected", async () => {
    const inner = createArchive([["b", Buffer.from("two")]]);
    const end = inner.indexOf("PK\u0001\u0002");
    const outer = createArchive([["a", inner.subarray(0, end)]]);
    // The directory lists both; the inner one begins behind the header of the outer one.
    const second = Buffer.from(inner.subarray(end, end + 47));
    second.writeUInt32LE(31, 42);
    const last = Buffer.from(outer.subarray(-22));
    last.writeUInt16LE(2, 8);
    last.writeUInt16LE(2, 10);
    const bytes = Buffer.concat([outer.subarray(0, -22), second, last]);
    await expect(openArchive(bytes, most)).rejects.toThrow("overlap");
  });

  test("that is larger than its headers say is rejected by what comes out", async () => {
    const bomb = { name: "xl/workbook.xml", pieces: deflated(2), crc: 0, size: 10 };
    await expect(openArchive(rawZip([bomb]), most)).rejects.toThrow("when it is inflated");
    const many = [1, 2, 3].map((one) => entry(`a${one}`, "x".repeat(most / 2)));
    await expect(openArchive(rawZip(many), most)).rejects.toThrow("when it is inflated");
  });
});

test("a bomb of 1.4 MB costs at most 150 MB and is rejected with advice", async () => {
  const pieces = deflated(1_400);
  expect(pieces.byteLength).toBeGreaterThan(1_300_000);
  const bytes = rawZip([{ name: "xl/worksheets/sheet1.xml", pieces, crc: 0, size: 1_000 }]);
  const before = process.memoryUsage.rss();
  let highest = before;
  const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 5);
  try {
    await expect(readBytes(bytes)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining("more than 100 MB"),
      details: { hint: expect.stringContaining("CSV UTF-8") },
    });
  } finally {
    clearInterval(watch);
  }
  expect(highest - before).toBeLessThan(150_000_000);
});

test("a workbook that is inflated to a multiple of no table is rejected", async () => {
  const [pieces, size] = [deflated(20), 20_000_000];
  const crc = crc32(Buffer.alloc(size, 32));
  const bytes = rawZip([{ name: "xl/worksheets/sheet1.xml", pieces, crc, size }]);
  await expect(readBytes(bytes)).rejects.toThrow("more than 200 times as large");
});
