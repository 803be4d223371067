import { expect, test } from "vitest";
import { candidatesOf } from "../../src/cli/command/candidates.ts";

const none = async () => {
  throw new Error("a method is in no ledger and in no profile");
};

test("a method is named by its code, and by its id where the code could mean another one", async () => {
  const methods = async () => [
    { id: "1", codeName: "bkash", providerName: "bKash" },
    { id: "2", codeName: "nagad", providerName: "Nagad" },
    { id: "3", codeName: "cash", providerName: "NAGAD" },
    { id: "4", codeName: "Cash", providerName: "Cash in hand" },
  ];
  const profiles = { read: none, change: none, check: none, baseUrlGiven: none, file: none };
  const candidates = await candidatesOf("method", {
    methods,
    ledger: none,
    profiles,
  });
  expect(candidates.map(({ text }) => text)).toEqual(["bkash", "2", "3", "4"]);
});
