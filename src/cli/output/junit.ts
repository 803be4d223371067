/** One test of a report for CI systems. */
export interface JunitCase {
  name: string;
  state: "passed" | "failed" | "skipped";
  /** The reason, in one sentence. */
  because: string;
  details: string;
}

/** A JUnit report of one suite. An undecided case is `skipped`. */
export function junitText(suite: string, cases: JunitCase[]): string {
  const count = (state: JunitCase["state"]) => cases.filter((one) => one.state === state).length;
  const counts = `tests="${cases.length}" failures="${count("failed")}" errors="0" skipped="${count("skipped")}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escaped(suite)}" ${counts}>`,
    ...cases.map((one) => caseText(suite, one)),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function caseText(suite: string, { name, state, because, details }: JunitCase): string {
  const outcomes = {
    passed: [],
    failed: [`      <failure message="${escaped(because)}">${escaped(details)}</failure>`],
    skipped: [`      <skipped message="${escaped(because)}"/>`],
  };
  return [
    `    <testcase classname="${escaped(suite)}" name="${escaped(name)}">`,
    ...outcomes[state],
    `      <system-out>${escaped(details)}</system-out>`,
    "    </testcase>",
  ].join("\n");
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** XML 1.0 cannot contain other control characters or unpaired surrogates: they are omitted. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"\t\n\r]/g, (character) => entities[character] ?? "");
}
