import jsQR from "jsqr";
import { expect, test } from "vitest";
import { drawQr } from "../../src/cli/output/qr.ts";
import { photographed } from "./screen.ts";

const url = "https://pay.example/cp/checkout/TX01JD8F3K2QABCDEFGH?lang=bn";

/** What a strict reader, which does not accept white on black, finds on a terminal. */
function read(text: string, terminal: "dark" | "light"): string | undefined {
  const { pixels, width, height } = photographed(text, terminal);
  return jsQR.default(pixels, width, height, { inversionAttempts: "dontInvert" })?.data;
}

function drawn(width: number | undefined, color: boolean): string {
  const drawing = drawQr(url, { width, color });
  return "text" in drawing ? drawing.text : drawing.problem;
}

test.each([undefined, 80, 41, 37])("a phone reads the QR code from %s columns", (width) => {
  for (const terminal of ["dark", "light"] as const)
    expect(read(drawn(width, true), terminal)).toBe(url);
});

test("a QR code without color is drawn for a dark terminal", () => {
  expect(read(drawn(80, false), "dark")).toBe(url);
  expect(drawn(80, false)).toMatch(/^[█▀▄ \n]+$/);
});

test("a QR code that does not fit is not drawn", () => {
  expect(drawn(36, true)).toBe("The QR code was not drawn: it needs 37 columns, and there are 36.");
  expect(drawQr("x".repeat(3_000), { width: undefined, color: true })).toEqual({
    problem: "The QR code was not drawn: it is too long.",
  });
});
