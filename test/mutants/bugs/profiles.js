const rotation = (title) => ["test/config/profile-rotate.test.ts", "-t", title];

/** Bugs of profiles: what a new key or another ledger leaves behind. */
export const profileBugs = [
  {
    name: "profile: a profile whose key is replaced loses its ledger",
    seam: "profiles",
    decorate: (changeProfiles) => (directory, change, sleep) =>
      changeProfiles(directory, (now) => withoutLedgers(now, change(now)), sleep),
    tests: ["test/config/profiles.test.ts", "-t", "keeps and names every setting"],
  },
  {
    name: "profile: a ledger of production is removed without a question",
    seam: "otherLedger",
    decorate: () => () => undefined,
    tests: ["test/config/profiles.test.ts", "-t", "only after a confirmation"],
  },
  {
    name: "profile: a stored key of production is sent to another host",
    seam: "otherHost",
    decorate: () => () => {},
    tests: ["test/config/profiles.test.ts", "-t", "keeps key and secret from it"],
  },
  {
    name: "profile, P25b: a new key replaces one that sent payouts of unknown outcome, without a word",
    seam: "newKey",
    decorate: () => async () => undefined,
    tests: rotation("names unknown payouts and open batches"),
  },
  {
    name: "profile: a key that the API rejects is stored",
    seam: "keyTest",
    decorate: () => async () => {},
    tests: rotation("the API rejects the key"),
  },
];

function withoutLedgers(before, after) {
  const profiles = Object.entries(after.profiles).map(([name, profile]) => {
    const isReplaced = before.profiles[name]?.apiKey?.text !== profile.apiKey?.text;
    return [name, isReplaced ? { ...profile, ledger: undefined } : profile];
  });
  return { ...after, profiles: Object.fromEntries(profiles) };
}
