import { expect, test } from "vitest";
import { type ColorQuestion, loadStyle, wantsColor } from "../../src/cli/output/style.ts";

const terminal = { mode: undefined, env: {}, isTerminal: true } satisfies ColorQuestion;
const pipe = { ...terminal, isTerminal: false };

test.each<[string, ColorQuestion, boolean]>([
  ["a terminal", terminal, true],
  ["a pipe", pipe, false],
  ["--color auto on a terminal", { ...terminal, mode: "auto" }, true],
  ["--color auto in a pipe", { ...pipe, mode: "auto" }, false],
  ["--color never on a terminal", { ...terminal, mode: "never" }, false],
  ["--color always in a pipe", { ...pipe, mode: "always" }, true],
  ["--color always with NO_COLOR", { ...pipe, mode: "always", env: { NO_COLOR: "1" } }, true],
  ["--color never, FORCE_COLOR", { ...terminal, mode: "never", env: { FORCE_COLOR: "1" } }, false],
  ["NO_COLOR", { ...terminal, env: { NO_COLOR: "1" } }, false],
  ["NO_COLOR=0", { ...terminal, env: { NO_COLOR: "0" } }, false],
  ["NO_COLOR and FORCE_COLOR", { ...terminal, env: { NO_COLOR: "1", FORCE_COLOR: "1" } }, false],
  ["FORCE_COLOR in a pipe", { ...pipe, env: { FORCE_COLOR: "1" } }, true],
  ["FORCE_COLOR=0", { ...terminal, env: { FORCE_COLOR: "0" } }, false],
  ["FORCE_COLOR=false", { ...terminal, env: { FORCE_COLOR: "false" } }, false],
  ["TERM=dumb", { ...terminal, env: { TERM: "dumb" } }, false],
  ["TERM=dumb and FORCE_COLOR", { ...terminal, env: { TERM: "dumb", FORCE_COLOR: "1" } }, true],
  ["TERM=xterm in a pipe", { ...pipe, env: { TERM: "xterm" } }, false],
])("%s decides about color", (_, question, wants) => expect(wantsColor(question)).toBe(wants));

test("a style without color changes nothing", async () => {
  const [plain, colored] = [await loadStyle(false), await loadStyle(true)];
  for (const name of ["bold", "dim", "red", "green", "yellow", "bgRed", "bgGreen"] as const) {
    expect(plain[name]("text")).toBe("text");
    expect(colored[name]("text")).toMatch(/^\p{Cc}\[\d+mtext\p{Cc}\[\d+m$/u);
  }
});
