import fc from "fast-check";
import { expect, test } from "vitest";
import {
  mobileText,
  namesRocket,
  numberFormats,
  numberOf,
  payeeOf,
  readMobile,
  readRecipient,
  sameMobile,
} from "../../src/domain/mobile.ts";
import { runs } from "../support/helpers.ts";

const local = fc.stringMatching(/^01[0-9]{9}$/);

test.each([
  "01712345678",
  "+8801712345678",
  "8801712345678",
  "+880 1712-345678",
  "017 1234 5678",
  "  01712345678 ",
])("%j is accepted as 01712345678", (typed) => {
  expect(readMobile(typed)).toEqual({
    ok: true,
    value: { typed: typed.trim(), local: "01712345678" },
  });
});

test.each([
  ["1712345678", "a leading zero was lost"],
  ["'01712345678", "the apostrophe before"],
  ["1712-345678", "a leading zero was lost"],
  ["1.71E+09", "A spreadsheet rounded"],
  ["1.712345678e9", "A spreadsheet rounded"],
  ["0171\u200b2345678", "an invisible character"],
  ["০১৭১২৩৪৫৬৭৮", "ASCII digits"],
  ["０１７１２３４５６７８", "ASCII digits"],
])("%j is refused: %s", (typed, why) => {
  const reading = readMobile(typed);
  expect(reading.ok ? "" : reading.problem).toContain(why);
  expect(reading.ok ? "" : reading.problem).toContain("Example: 01712345678.");
});

test.each([
  "",
  " ",
  "0171234567",
  "017123456789",
  "02712345678",
  "+9101712345678",
  "88+01712345678",
  "01712345678\n",
  "01712345678\u200b",
  "0171\u00a02345678",
  "01712345678,01812345678",
])("%j is refused", (typed) => {
  expect(readMobile(typed)).toMatchObject({ ok: false });
});

test("whatever is accepted is eleven ASCII digits that begin with 01", () => {
  const typed = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.stringMatching(/^\+?(?:88)?[01][0-9০-৯ -]{8,14}$/),
    local.chain((number) =>
      fc.constantFrom(number, `+88${number}`, `88 ${number}`, number.slice(1)),
    ),
  );
  fc.assert(
    fc.property(typed, (text) => {
      const reading = readMobile(text);
      return reading.ok ? /^01[0-9]{9}$/.test(reading.value.local) : reading.problem.length > 20;
    }),
    { numRuns: runs(300, 100_000) },
  );
});

test("a number that was read is written in each format, and reads back as itself", () => {
  fc.assert(
    fc.property(local, fc.constantFrom(...numberFormats), (number, format) => {
      for (const typed of [number, `+88${number}`, `88${number}`, `+880 ${number.slice(1)}`]) {
        const reading = readMobile(typed);
        if (!reading.ok) return false;
        const written = mobileText(reading.value, format);
        const again = readMobile(written);
        const expected = { local: number, e164: `+88${number}`, "as-is": typed }[format];
        if (written !== expected || !again.ok || again.value.local !== number) return false;
        if (!sameMobile(written, number)) return false;
      }
      return true;
    }),
    { numRuns: runs(300, 50_000) },
  );
});

test.each([
  ["01712345678", "+880 1712-345678", "same"],
  ["01712345678", "01712345679", "different"],
  ["01712345678", "017*****678", "same"],
  ["01712345678", "+88017XXXXX678", "same"],
  ["01712345678", "017*****679", "different"],
  ["01712345678", "********678", "unclear"],
  ["01712345678", "1712345678", "unclear"],
  ["01712345678", "", "unclear"],
  ["017123456784", "017123456784", "same"],
  ["017123456784", "01712345678", "same"],
  ["01712345678", "0171-2345678 4", "same"],
  ["017123456784", "+8801712345678", "same"],
  ["017123456784", "017123456785", "different"],
  ["017123456784", "01712345679", "different"],
  ["017123456784", "017*****6784", "same"],
  ["017123456784", "017*****678", "same"],
  ["017123456784", "017*****6785", "different"],
  ["01712345678", "017*****6784", "unclear"],
  ["20012345678901", "+2001-2345 678901", "same"],
  ["20012345678901", "2001******8901", "same"],
  ["20012345678901", "2001******8902", "different"],
  ["20012345678901", "99912345678901", "different"],
  ["20012345678901", "01712345678", "different"],
  ["20012345678901", "***********901", "unclear"],
  ["20012345678901", "2001****8901", "unclear"],
  ["20012345678901", "0020012345678901", "unclear"],
  ["wallet 7", "wallet 7", "same"],
  ["wallet 7", "wallet 8", "unclear"],
])("%s beside the service's %j is %s", (ours, theirs, judged) => {
  expect(sameMobile(ours, theirs)).toBe(judged);
});

test.each(numberFormats)(
  "an account number of Rocket is sent with its check digit as %s",
  (format) => {
    for (const typed of ["017123456784", " 01712-345678-4 "]) {
      const reading = readRecipient(typed, true);
      expect(reading).toMatchObject({ ok: true, value: { local: "01712345678" } });
      expect(reading.ok && mobileText(reading.value, format)).toBe("017123456784");
    }
  },
);

test.each(["8801712345678", "+8801712345678", "01712345678"])(
  "%s is a mobile number for Rocket too",
  (typed) => {
    expect(readRecipient(typed, true)).toEqual(readMobile(typed));
  },
);

test.each(["88017123456784", "0171234567845", "027123456784", "880171234567"])(
  "%s is no account number of Rocket",
  (typed) => {
    expect(readRecipient(typed, true)).toEqual(readMobile(typed));
    expect(readMobile(typed).ok).toBe(false);
  },
);

test("an account number of Rocket is an error for other methods", () => {
  const reading = readRecipient("017123456784", false);
  expect(reading.ok ? "" : reading.problem).toContain("12 digits, as account numbers of Rocket");
});

test("all forms of a number are one recipient, and the check digit is part of what is sent", () => {
  const forms = [
    "01712345678",
    "+880 1712-345678",
    "8801712345678",
    "017123456784",
    "0171 23456785",
  ];
  expect(new Set(forms.map(payeeOf))).toEqual(new Set(["01712345678"]));
  expect(forms.map(numberOf)).toEqual([
    ...["01712345678", "01712345678", "01712345678"],
    ...["017123456784", "017123456785"],
  ]);
});

test.each([
  ["Rocket", true],
  ["rocket", true],
  ["DBBL Rocket", true],
  ["dbbl_mobile", true],
  ["bkash", false],
  ["Sprocket", false],
])("%s is a name of Rocket: %s", (name, expected) => {
  expect(namesRocket(name)).toBe(expected);
});
