import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import "./test/no-agent.js";

/** The share of the deep cases: 1 in `npm run test:deep`, less in `.ci/run`. 0: the long tests alone. */
const { LENDEN_DEEP: share } = process.env;
const isDeep = share === "1";
const isOneFile = process.env.LENDEN_BUILT !== undefined;

/** Tests that take long, for `npm run test:deep`. The simulator's known cases stay in `npm test`. */
const long = [
  "**/*.deep.test.ts",
  "test/reconcile/{direction,explain,import,memory,month-end,other-rows,returned,wallet-month}.test.ts",
  "test/report/report-command.test.ts",
  "test/batch/{corpus,generated,large-file,reserve,round-trip,spreadsheet}.test.ts",
  "test/callbacks/{conformance,forward,hostile,listen}.test.ts",
  "test/commands/{agent-directories,duplicate-protection,first-use,limits,lists,lost-output,pay-page,reader,record-differs,resolve-production,round-trip,sandbox,sandbox-callbacks,sandbox-start,team-ledger,time-zone,unmoved-file,verify-api,wait}.test.ts",
  "test/completions/tab.test.ts",
  "test/config/{keychain,profile-rotate,profiles-file,profiles-secrets}.test.ts",
  "test/crash/**/*.test.ts",
  "test/doctor/machine.test.ts",
  "test/http/{addresses,hostile,transport}.test.ts",
  "test/ledger/{alterations,colleague,copies,differential,edited,file,head,lost,move,other-logins,position,prepared,read-only}.test.ts",
  "test/ledger/server-{batches,commits,durability,faults,identity,outage,pooler,settings}.test.ts",
  "test/limits/{accounts,harness,search,tools}.test.ts",
  "test/linear.test.ts",
  "test/mcp/{colleague,faults,limits,loading,production,sending,tools}.test.ts",
  "test/package/package.test.ts",
  "test/operations/record-bounds.test.ts",
  "test/pipes.test.ts",
  "test/program/{closing,compile-cache,directories,few-files,man,surroundings,time-limit,timeout}.test.ts",
  "test/secrets.test.ts",
  "test/simulator/!(found).test.ts",
  "test/simulator/found-steps.test.ts",
  "test/terminal/{actor,asking,batch-progress,leaving,production,profile-add,refund-create}.test.ts",
  "test/torture/torture.test.ts",
  "test/ui/safe-text.test.ts",
];

/** Tests that try more cases in `npm run test:deep`, where the others would only repeat `npm test`. */
const deeper = /\bruns\(|LENDEN_DEEP/;

/** Tests that use a POSIX shell, its devices, file modes or signals. */
const posix = /"(?:sh|bash|mkfifo|mount)"|\/dev\/|\/proc|0o[0-7]{3}|"SIG[A-Z]+"|\/terminal/;

function testsWith(pattern: RegExp): string[] {
  return readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".test.ts") && pattern.test(readFileSync(name, "utf8")));
}

function included(): string[] {
  if (isDeep) return [...long, ...testsWith(deeper)];
  return share === "0" ? long : ["test/**/*.test.ts"];
}

/** Starts with the tests that wait longest for processes, so that none of them ends the run alone. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const slow =
      /\/test\/(?:crash|completions|simulator|terminal|torture)\/|\/(?:secrets|listen|trial|create|resolve|duplicate-protection)\.test/;
    const sorted = await super.sort(files);
    return [
      ...sorted.filter(({ moduleId }) => slow.test(moduleId)),
      ...sorted.filter(({ moduleId }) => !slow.test(moduleId)),
    ];
  }
}

export default defineConfig({
  test: {
    include: included(),
    // Excluded, not skipped: a skipped test means that the machine lacks a program.
    exclude: [
      ...(share === undefined ? long : []),
      // Downloads some 100 MB: the gate does not depend on that.
      ...(isDeep ? [] : ["test/mcp/inspector.deep.test.ts"]),
      ...(isOneFile ? [] : ["test/binary/**"]),
      ...(process.platform === "win32" ? testsWith(posix) : []),
    ],
    // More than the cores of a small machine, because many tests wait for processes; not many more,
    // because each worker loads every module once. A long test runs some twenty processes.
    maxWorkers: isDeep ? 2 : 3,
    sequence: { sequencer: SlowFirst },
    // No test changes a module, so the tests of a worker share them.
    isolate: false,
    // Enough for a machine that is several times slower.
    testTimeout: share === undefined ? 60_000 : 300_000,
    hookTimeout: 180_000,
    globalSetup: ["test/support/global-setup.ts"],
  },
});
