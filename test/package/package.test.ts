import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { nodeFromNpm, runProgram } from "../support/lenden.ts";
import { launcher } from "../tool.js";
import { pack, root } from "./packing.ts";

const packed = pack();
const paths = packed.files.map(({ path }) => path);
const manifest = readJson("package.json");

describe("the npm package", () => {
  test("contains the built tool and its texts, and no source", () => {
    const kinds = [
      /^bin\/(?:lenden\.js|package\.json)$/,
      /^dist\/[\w-]+\.cjs$/,
      /^dist\/help\/(?:lenden|topic)[\w.-]*\.txt$/,
      /^dist\/(?:sbom\.cdx\.json|THIRD-PARTY-LICENSES\.txt)$/,
      /^completions\/(?:lenden\.(?:bash|fish|ps1)|_lenden)$/,
      /^man\/lenden[a-z-]*\.1$/,
      /^(?:package\.json|LICENSE|(?:CHANGELOG|CONTRIBUTING|README|SECURITY)\.md)$/,
      /^skills\/lenden\/SKILL\.md$/,
      /^docs\/(?:images\/[\w-]+\.(?:png|svg)|[\w-]+\.md)$/,
    ];
    expect(paths.filter((path) => !kinds.some((kind) => kind.test(path)))).toEqual([]);
  });

  test("contains every file that package.json and the README name", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path);
    expect(links).not.toHaveLength(0);
    const texts = ["LICENSE", "dist/main.cjs", "dist/keychain.cjs"];
    const named = [manifest.bin.lenden, ...manifest.man, ...links, ...texts];
    expect(paths).toEqual(expect.arrayContaining(named));
    const launcher = packed.files.find(({ path }) => path === manifest.bin.lenden);
    expect(launcher?.mode.toString(8)).toBe("755");
  });

  test("runs nothing when it is installed, and brings only two optional packages", () => {
    const atInstall = ["preinstall", "install", "postinstall"];
    expect(Object.keys(manifest.scripts).filter((name) => atInstall.includes(name))).toEqual([]);
    expect(paths).not.toContain("binding.gyp"); // npm would build it.
    expect(manifest).not.toHaveProperty("dependencies");
    expect(manifest).not.toHaveProperty("bundleDependencies");
    expect(Object.keys(manifest.optionalDependencies)).toEqual(["@napi-rs/keyring", "libsql"]);
  });

  test("does not contain the path of the machine that built it", () => {
    const built = readdirSync(join(root, "dist"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(built.filter((file) => readFileSync(file, "utf8").includes(root))).toEqual([]);
  });
});

test("what builds and tests the package is pinned: actions by commit, the binary's Node exactly", () => {
  const directory = join(root, ".github/workflows");
  const workflows = readdirSync(directory).map((file) =>
    readFileSync(join(directory, file), "utf8"),
  );
  const actions = workflows.flatMap((text) => [...text.matchAll(/uses: *([^\s#]+)/g)]);
  expect(actions.length).toBeGreaterThan(0);
  for (const [, action] of actions) expect(action).toMatch(/@[0-9a-f]{40}$/);
  expect(manifest.scripts["build:binary"]).toMatch(/ -p node@\d+\.\d+\.\d+ node /);
});

describe("the launcher", () => {
  /** The package without its build, in another directory. */
  const unbuilt = () => {
    const directory = scratchFolder();
    for (const name of ["bin", "scripts"])
      cpSync(join(root, name), join(directory, name), { recursive: true });
    cpSync(join(root, "package.json"), join(directory, "package.json"));
    return directory;
  };

  test("says how to build a clone without a build, without a stack trace", async () => {
    const directory = unbuilt();
    const outcome = await runProgram([process.execPath, join(directory, "bin/lenden.js")], {});
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    expect(outcome.stderr.split("\n")).toHaveLength(3);
    expect(outcome.stderr).toContain(`'npm ci && npm run build' in ${directory}`);
  });

  // Downloaded from npm. Without a network there is no old Node, and nothing to test.
  test.each([16, 18])(
    "Node %i, in the launcher and in 'npm ci' of a clone, names the Node that is needed",
    async (major) => {
      const node = await nodeFromNpm(`${major}`);
      if (node === undefined) return;
      const directory = unbuilt();
      const needed = manifest.engines.node.replace(">=", "");
      for (const script of [launcher, join(directory, manifest.scripts.prepare.split(" ")[1])]) {
        const outcome = await runProgram([node, script], {});
        expect(outcome).toMatchObject({ code: 1, stdout: "" });
        expect(outcome.stderr).toContain(
          `lenden needs Node ${needed} or later, but Node ${major}.`,
        );
        expect(outcome.stderr).not.toMatch(/^ +at /m);
      }
    },
  );
});

interface Component {
  "bom-ref": string;
  name: string;
  version: string;
  licenses: { license?: { id: string } }[];
}

describe("the bill of materials", () => {
  const sbom = readJson("dist/sbom.cdx.json");
  const components: Component[] = sbom.components;

  test("is valid CycloneDX 1.6", () => {
    const validate = cycloneDx();
    validate(sbom);
    expect(validate.errors).toBeNull();
    expect(validate({ ...sbom, components: [{ type: "library" }] })).toBe(false);
  });

  test("names every package that the sources import, in its installed version", () => {
    const names = [
      ...components.map(({ name }) => name),
      ...Object.keys(manifest.optionalDependencies),
    ];
    expect(names).toEqual(expect.arrayContaining(importedPackages()));
    for (const component of components) {
      const { name, version } = readJson(`${component["bom-ref"]}/package.json`);
      expect(component).toMatchObject({ name, version });
    }
  });

  test("has only licenses that allow distribution, and the package contains each of them", () => {
    const accepted = ["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "0BSD"].concat(
      "Apache-2.0",
    );
    const texts = readFileSync(join(root, "dist/THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const { "bom-ref": directory, name, version, licenses } of components) {
      const id = licenses[0]?.license?.id ?? "";
      expect(accepted).toContain(id);
      expect(texts).toContain(`${name} ${version} (${id})\n`);
      const files = readdirSync(join(root, directory));
      // Some packages have their license only at the end of their README.
      const file = ["licen[cs]e", "readme"].map((name) =>
        files.find((one) => new RegExp(`^${name}`, "i").test(one)),
      );
      const text = readFileSync(join(root, directory, file.find(Boolean) ?? ""), "utf8");
      const license =
        text
          .replaceAll("\r\n", "\n")
          .split(/^## license$/im)
          .at(-1) ?? "";
      expect(texts).toContain(license.trim());
    }
  });
});

test("the lock check fails if an optional package of one platform is missing", () => {
  const lock = readJson("package-lock.json");
  const check = (...removed: string[]) => {
    const kept = Object.entries(lock.packages).filter(([path]) => !removed.includes(path));
    const file = join(scratchFolder(), "package-lock.json");
    writeFileSync(file, JSON.stringify({ ...lock, packages: Object.fromEntries(kept) }));
    const script = join(root, "scripts/build/check-lock.js");
    return spawnSync(process.execPath, [script, file], { encoding: "utf8" });
  };
  expect(check()).toMatchObject({ status: 0, stderr: "" });
  for (const name of ["libsql", "@libsql/win32-x64-msvc", "@biomejs/cli-darwin-arm64"]) {
    const { status, stderr } = check(`node_modules/${name}`);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining(`no entry for ${name}, which `),
    });
  }
});

function cycloneDx() {
  const require = createRequire(import.meta.url);
  const library = dirname(require.resolve("@cyclonedx/cyclonedx-library/package.json"));
  const schema = (name: string) =>
    JSON.parse(readFileSync(join(library, `res/schema/${name}.SNAPSHOT.schema.json`), "utf8"));
  // Validating and inlining the published schema would take ten times as long.
  const options = { strict: false, validateFormats: false, validateSchema: false } as const;
  const ajv = new Ajv({ ...options, inlineRefs: false });
  for (const name of ["spdx", "jsf-0.82"])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  return ajv.compile(schema("bom-1.6"));
}

/** The packages that the sources import, without types. */
function importedPackages(): string[] {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => readFileSync(join(root, "src", name), "utf8"));
  const named = sources.flatMap((text) => [
    ...text.matchAll(
      /^(?:import|\} from)(?! type)[^"]*"((?:@[\w-]+\/)?[a-z][\w-]*)|import\("((?:@[\w-]+\/)?[a-z][\w-]*)/gm,
    ),
  ]);
  const names = named.map(([, imported, loaded]) => imported ?? loaded ?? "");
  return [...new Set(names)].filter((name) => name !== "node");
}

function readJson(path: string) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}
