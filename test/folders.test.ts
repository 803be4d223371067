import { expect, test } from "vitest";
import { foldersOf } from "../src/platform/host.ts";

const machine = { platform: "linux", home: "/home/rahima" } as const;

test("directories follow the platform", () => {
  expect(foldersOf({}, machine)).toEqual({
    config: "/home/rahima/.config/lenden",
    data: "/home/rahima/.local/share/lenden",
    cache: "/home/rahima/.cache/lenden",
    home: "/home/rahima",
  });
});

test("LENDEN variables override XDG variables, which override the platform", () => {
  const env = { XDG_CONFIG_HOME: "/c", XDG_DATA_HOME: "/d", XDG_CACHE_HOME: "/k" };
  const of = { config: "/c/lenden", data: "/d/lenden", cache: "/k/lenden" };
  expect(foldersOf(env, machine)).toMatchObject(of);
  const own = { ...env, LENDEN_CONFIG_DIR: "/own", LENDEN_DATA_DIR: "/ledger" };
  expect(foldersOf(own, machine)).toMatchObject({ ...of, config: "/own", data: "/ledger" });
});
