import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const isDeep = process.env.LENDEN_DEEP !== undefined;
const isOneFile = process.env.LENDEN_BUILT !== undefined;

/** Tests that start processes by the dozen, for `npm run test:deep`. */
const long = [
  "**/*.deep.test.ts",
  "test/crash/**",
  "test/ledger/{alterations,copies,head,read-only}.test.ts",
  "test/language.test.ts",
];

/** What waits longest for real processes begins first, so that none of it is left alone at the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) =>
      /\/test\/(?:crash|completions|simulator|terminal)\/|\/(?:secrets|listen|trial|once|resolve|sandbox-callbacks)\.test/.test(
        moduleId,
      );
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Left out by name, not skipped: a skip means that the machine lacks something.
    exclude: [...(isDeep ? [] : long), ...(isOneFile ? [] : ["test/binary/**"])],
    // More than the cores of a small machine: many tests wait for processes and pauses. Each
    // worker loads every module once. The long tests run some twenty processes each by themselves.
    maxWorkers: isDeep ? 2 : 4,
    sequence: { sequencer: SlowFirst },
    // No test leaves anything behind in a module: each worker loads them once.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ["test/temporary-directory.ts", "test/build.ts"],
  },
});
