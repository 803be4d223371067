import { defineConfig } from "rolldown";

/** The program in one script, because a single-file binary can only load Node's own modules. */
export default defineConfig({
  input: "scripts/binary/main.ts",
  platform: "node",
  external: ["libsql", "@napi-rs/keyring"],
  output: {
    file: "dist-binary/main.cjs",
    format: "cjs",
    codeSplitting: false,
    dynamicImportInCjs: false,
    minify: true,
  },
});
