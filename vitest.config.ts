import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // More than the cores of a small machine: many tests wait for real processes
    // and real rests. The long ones run some twenty processes each by themselves.
    maxWorkers: process.env.LENDEN_DEEP ? 2 : 5,
    // No test leaves anything behind in a module: each worker loads them once.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ["test/build.ts"],
  },
});
