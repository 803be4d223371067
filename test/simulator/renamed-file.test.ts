import { expect, test } from "vitest";
import { RenamedFile } from "./renamed-file.ts";

/** Every state that a power loss leaves of a file, tried with many random numbers. */
function leftBy(prepare: (file: RenamedFile) => void): Set<string | undefined> {
  const left = new Set<string | undefined>();
  let state = 7;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  for (let run = 0; run < 400; run += 1) {
    const file = new RenamedFile();
    prepare(file);
    file.losePower(random);
    left.add(file.read());
  }
  return left;
}

test("a power loss leaves a file that was just written new, torn, empty or missing", () => {
  const left = leftBy((file) => file.write("12"));
  expect([...left].sort()).toEqual(["", "1", "12", undefined]);
});

test("a power loss may leave an older version of a file that was written since", () => {
  const left = leftBy((file) => {
    file.write("1");
    file.isFlushed();
    file.write("2");
    file.write("3");
  });
  expect([...left].sort()).toEqual(["", "1", "2", "3"]);
});

test("a power loss leaves what is on the disk as it is", () => {
  const left = leftBy((file) => {
    file.write("12");
    file.isFlushed();
  });
  expect([...left]).toEqual(["12"]);
});
