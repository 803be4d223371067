import jsQR from "jsqr";
import { describe, expect, test } from "vitest";
import { drawQr } from "../../src/cli/output/qr.ts";
import { photographed } from "./screen.ts";

const url = "https://pay.example/cp/checkout/TX01JD8F3K2QABCDEFGH?lang=bn";

/** What a strict reader, which takes no white on black, finds on a terminal. */
function read(text: string, terminal: "dark" | "light"): string | undefined {
  const { pixels, width, height } = photographed(text, terminal);
  return jsQR.default(pixels, width, height, { inversionAttempts: "dontInvert" })?.data;
}

function drawn(columns: number | undefined, color: boolean): string {
  const drawing = drawQr(url, { width: columns, color });
  return "text" in drawing ? drawing.text : drawing.problem;
}

describe.each(["dark", "light"] as const)("on a %s terminal", (terminal) => {
  test.each([undefined, 80, 41, 37])("a phone reads it from %s columns", (columns) => {
    expect(read(drawn(columns, true), terminal)).toBe(url);
  });
});

test("without colours it is drawn for a dark terminal, and has no codes", () => {
  expect(read(drawn(80, false), "dark")).toBe(url);
  expect(drawn(80, false)).toMatch(/^[█▀▄ \n]+$/);
});

test("around it there is room, whatever the terminal's colour", () => {
  const [first = "", second = "", ...others] = drawn(80, true).trimEnd().split("\n");
  for (const line of [first, second]) expect(line).toMatch(/m {41}\p{Cc}\[0m$/u);
  for (const line of others) expect(line).toMatch(/231m {4}.* {4}\p{Cc}\[0m$/u);
});

test("where it does not fit it is not drawn, and says what it needs", () => {
  expect(drawn(36, true)).toBe("The QR code was not drawn: it needs 37 columns, and there are 36.");
  expect(drawQr("x".repeat(3_000), { width: undefined, color: true })).toEqual({
    problem: "The QR code was not drawn: it is too long.",
  });
});
