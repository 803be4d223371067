import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { scriptNames, shells } from "../../src/cli/completion/install.ts";
import { scratchFolder } from "../support/helpers.ts";
import { builtEnv, lenden, runProgram } from "../support/lenden.ts";
import { toolLine } from "../tool.js";

const packaged = resolve(import.meta.dirname, "../../completions");

/** Each script in a home directory, without variables that move it. */
const places = {
  bash: ".local/share/bash-completion/completions/lenden",
  zsh: ".local/share/zsh/site-functions/_lenden",
  fish: ".config/fish/completions/lenden.fish",
  powershell: "data/lenden.ps1",
};

const home = () => {
  const folder = scratchFolder();
  return { folder, env: { LENDEN_CONFIG_DIR: folder } };
};

describe.each(shells)("lenden completion %s", (shell) => {
  const script = readFileSync(join(packaged, scriptNames[shell]), "utf8");

  test("prints the script of the package, byte for byte", async () => {
    expect(await lenden(["completion", shell])).toEqual({ code: 0, stdout: script, stderr: "" });
    const { stdout } = await lenden(["completion", shell, "--json"]);
    expect(JSON.parse(stdout)).toEqual({ shell, script });
  });

  test("installs it once, prints where, and removes it", async () => {
    const { folder, env } = home();
    const file = join(folder, places[shell]);
    const run = async (...flags: string[]) => {
      const { code, stdout, stderr } = await lenden(["completion", shell, ...flags, "--json"], {
        env,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    };
    expect(await run("--install")).toMatchObject({ shell, file, state: "written" });
    expect(readFileSync(file, "utf8")).toBe(script);
    expect(await run("--install")).toMatchObject({ file, state: "unchanged" });
    expect(readdirSync(dirname(file))).not.toContainEqual(expect.stringMatching(/\.new$/));
    expect(await run("--uninstall")).toMatchObject({ file, state: "removed" });
    expect(existsSync(file)).toBe(false);
    expect(await run("--uninstall")).toMatchObject({ file, state: "not found" });
  });

  test("replaces the script of another version", async () => {
    const { folder, env } = home();
    const file = join(folder, places[shell]);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, script.slice(0, 200));
    expect((await lenden(["completion", shell, "--install"], { env })).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(script);
  });

  test.each(["--install", "--uninstall"])(
    "%s keeps a file that lenden did not write",
    async (flag) => {
      const { folder, env } = home();
      const file = join(folder, places[shell]);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "# mine\n");
      const { code, stdout, stderr } = await lenden(["completion", shell, flag], { env });
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(`Cannot replace ${file}: lenden did not write it.`);
      expect(readFileSync(file, "utf8")).toBe("# mine\n");
    },
  );

  test("follows no link", async () => {
    const { folder, env } = home();
    const file = join(folder, places[shell]);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(join(folder, "elsewhere"), script);
    symlinkSync(join(folder, "elsewhere"), file);
    expect((await lenden(["completion", shell, "--uninstall"], { env })).code).toBe(2);
    expect(readFileSync(join(folder, "elsewhere"), "utf8")).toBe(script);
  });
});

test("completion scripts go to the directories of the environment, unless they are relative", async () => {
  const { folder, env } = home();
  const file = async (shell: string, more: Record<string, string>) => {
    const { stdout } = await lenden(["completion", shell, "--install", "--json"], {
      env: { ...env, ...more },
    });
    return JSON.parse(stdout).file;
  };
  const own = join(folder, "own");
  expect(await file("bash", { XDG_DATA_HOME: own })).toBe(
    join(own, "bash-completion/completions/lenden"),
  );
  expect(await file("bash", { BASH_COMPLETION_USER_DIR: own })).toBe(
    join(own, "completions/lenden"),
  );
  expect(await file("zsh", { XDG_DATA_HOME: own })).toBe(join(own, "zsh/site-functions/_lenden"));
  expect(await file("fish", { XDG_CONFIG_HOME: own })).toBe(
    join(own, "fish/completions/lenden.fish"),
  );
  expect(await file("zsh", { XDG_DATA_HOME: "own" })).toBe(join(folder, places.zsh));
});

test("completion bash --install leaves a .bashrc that is a link, with its text", async () => {
  const { folder, env } = home();
  const dotfile = join(scratchFolder(), "bashrc");
  writeFileSync(dotfile, "PS1='$ '\n");
  symlinkSync(dotfile, join(folder, ".bashrc"));
  expect(await lenden(["completion", "bash", "--install"], { env })).toMatchObject({ code: 0 });
  expect(readlinkSync(join(folder, ".bashrc"))).toBe(dotfile);
  expect(readFileSync(dotfile, "utf8")).toBe("PS1='$ '\n");
});

test("the script completes in a bash with 'set -u' and without bash-completion", async () => {
  const script = `set -u; . "${join(packaged, scriptNames.bash)}"
    lenden() { ${toolLine} "$@"; }
    COMP_WORDS=(lenden payout ba); COMP_CWORD=2; COMP_LINE="lenden payout ba"; COMP_POINT=16
    $(complete -p lenden | grep -o -- '-F [^ ]*' | cut -c4-) lenden ba payout
    echo "\${COMPREPLY[@]}"`;
  const bash = ["bash", "--norc", "--noprofile", "-c", script] as const;
  const { stdout, stderr } = await runProgram([...bash], { env: builtEnv() });
  expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: "batch", stderr: "" });
});

test("completion --install quotes the lines to add", async () => {
  const folder = join(scratchFolder(), "it's $(odd)");
  mkdirSync(folder);
  chmodSync(folder, 0o700);
  const { stdout } = await lenden(["completion", "zsh", "--install"], {
    env: { LENDEN_CONFIG_DIR: folder },
  });
  expect(stdout).toContain(`/it'\\''s $(odd)/.local/share/zsh/site-functions' $fpath)`);
});
