import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { root } from "./sbom.ts";

const isDeep = process.env.LENDEN_DEEP !== undefined;

for (const [where, options] of [
  ["in what is installed with lenden", ["--omit=dev"]],
  ["in what it is built and tested with", []],
] as const) {
  // It asks the registry: not for every day.
  test.skipIf(!isDeep)(
    `npm audit knows of no weakness ${where}`,
    { timeout: 60_000 },
    ({ skip }) => {
      const { stdout } = spawnSync("npm", ["audit", "--json", ...options], {
        cwd: root,
        encoding: "utf8",
      });
      const report = JSON.parse(stdout);
      const why = report.message ?? report.error?.summary;
      skip(report.auditReportVersion === undefined, `the registry gives no audit: ${why}`);
      expect(Object.keys(report.vulnerabilities)).toEqual([]);
    },
  );
}
