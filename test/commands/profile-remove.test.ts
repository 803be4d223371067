import { describe, expect, test } from "vitest";
import { liveKey, place } from "../config/setup.ts";
import { openPrompts } from "../terminal/terminal.ts";

/** A place with a sandbox profile, which is in use, and a production profile. */
async function setup() {
  const opened = place();
  await opened.add("test");
  const live = ["add", "live", "--key-stdin", "--base-url", "https://pay.example"];
  expect((await opened.profile(live, liveKey)).code).toBe(0);
  return { ...opened, names: () => Object.keys(opened.stored().profiles) };
}

describe("profile remove of a production profile", () => {
  test.each([[[]], [["--no-input"]]])(
    "is rejected non-interactively without --yes: %j",
    async (flags) => {
      const { profile, names } = await setup();
      const { code, stdout, stderr } = await profile(["remove", "live", ...flags]);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toContain("Remove profile live (production):\n");
      expect(stderr).toContain("https://pay.example");
      expect(stderr).not.toContain(liveKey);
      expect(stderr).toContain(
        "error: Production requires confirmation. Nothing was changed.\nhint:  Review the details, then add --yes.\n",
      );
      expect(names()).toEqual(["test", "live"]);
    },
  );

  test("happens with --yes", async () => {
    const { profile, names } = await setup();
    expect((await profile(["remove", "live", "--yes"])).code).toBe(0);
    expect(names()).toEqual(["test"]);
  });

  test("asks in a terminal, and the default is no", async () => {
    const { folder, names } = await setup();
    const env = { LENDEN_CONFIG_DIR: folder, NO_COLOR: "1" };
    const no = openPrompts(["profile", "remove", "live"], { env });
    await no.answer("PRODUCTION Remove profile live? (y/N)", "");
    const { code, screen } = await no.ended();
    expect(code).toBe(4);
    expect(screen).toContain("error: Not confirmed. Nothing was changed.");
    expect(names()).toEqual(["test", "live"]);

    const yes = openPrompts(["profile", "remove", "live"], { env });
    await yes.answer("Remove profile live? (y/N)", "y");
    expect((await yes.ended()).code).toBe(0);
    expect(names()).toEqual(["test"]);
  });
});

describe("profile remove", () => {
  test("asks nothing about a sandbox profile", async () => {
    const { profile, names } = await setup();
    expect((await profile(["remove", "test"])).code).toBe(0);
    expect(names()).toEqual(["live"]);
  });

  test("shows the profile that is in use afterwards with --json", async () => {
    const { profile } = await setup();
    const other = await profile(["remove", "live", "--yes", "--json"]);
    expect(JSON.parse(other.stdout)).toEqual({ name: "live", current: "test" });
    const last = await profile(["remove", "test", "--json"]);
    expect(JSON.parse(last.stdout)).toEqual({ name: "test", current: null });
  });
});
