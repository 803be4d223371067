const guards = ["test/commands/raw-guards.test.ts"];

/** Bugs of the checks of a raw call. */
export const rawBugs = [
  {
    name: "I1: a raw path that servers read in two ways is sent",
    seam: "rawPath",
    decorate: () => () => false,
    tests: guards,
  },
  {
    name: "a raw body may name its amount twice",
    seam: "repeatedKey",
    decorate: (repeatedKey) => (json) => {
      const key = repeatedKey(json);
      return key === "amount" ? undefined : key;
    },
    tests: guards,
  },
  {
    name: "a base URL of another length hides a raw refund from its checks",
    seam: "hiddenWrite",
    decorate: (hidesWrite) => (call, baseUrl) => hidesWrite(call, new URL(baseUrl).origin),
    tests: guards,
  },
];
