import { defineConfig } from "vitest/config";

const isDeep = process.env.LENDEN_DEEP !== undefined;
const isOneFile = process.env.LENDEN_BUILT !== undefined;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Left out by name, not skipped: a skip means that the machine lacks something.
    exclude: [...(isDeep ? [] : ["**/*.deep.test.ts"]), ...(isOneFile ? [] : ["test/binary/**"])],
    // More than the cores of a small machine: many tests wait for real processes
    // and real rests. The long ones run some twenty processes each by themselves.
    maxWorkers: isDeep ? 2 : 5,
    // No test leaves anything behind in a module: each worker loads them once.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ["test/build.ts"],
  },
});
