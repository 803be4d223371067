import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../run.ts";
import { root } from "./sbom.ts";

/** Runs the audit with an npm that prints what a registry's response makes it print. */
function audited(printed: string, ...flags: string[]) {
  const folder = scratchFolder();
  writeFileSync(join(folder, "npm"), `#!/bin/sh\ncat <<'END'\n${printed}\nEND\n`, { mode: 0o755 });
  const script = join(root, "test/package/audit.js");
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const { status, stdout } = spawnSync(process.execPath, [script, ...flags], {
    env,
    encoding: "utf8",
  });
  return { status, lines: stdout.trim().split("\n") };
}

const refused = JSON.stringify({ message: "405 Method Not Allowed" });
const clean = JSON.stringify({ auditReportVersion: 2, vulnerabilities: {} });
const vulnerable = JSON.stringify({ auditReportVersion: 2, vulnerabilities: { undici: {} } });

test.each([
  ["a registry without an audit", refused, "audit not available (405 Method Not Allowed)"],
  ["no output of npm", "", "audit not available (no reason given)"],
])("the audit fails with %s, unless that is allowed", (_, printed, says) => {
  const lines = [
    `Packages installed with lenden: ${says}`,
    `Packages used to build and test lenden: ${says}`,
  ];
  expect(audited(printed)).toEqual({ status: 1, lines });
  expect(audited(printed, "--allow-unavailable")).toEqual({ status: 0, lines });
});

test("the audit passes without a known vulnerability, and fails with one in any case", () => {
  expect(audited(clean)).toMatchObject({ status: 0 });
  expect(audited(vulnerable)).toMatchObject({ status: 1 });
  expect(audited(vulnerable, "--allow-unavailable")).toEqual({
    status: 1,
    lines: [
      "Packages installed with lenden: known vulnerabilities in undici",
      "Packages used to build and test lenden: known vulnerabilities in undici",
    ],
  });
});
