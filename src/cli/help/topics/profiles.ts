import { type Page, rows, text } from "../page.ts";

export const page: Page = [
  text(
    "A profile is an account under a name: its address, its key, its payout secret, and what you would otherwise type every time.",
  ),
  {
    kind: "examples",
    examples: [
      {
        line: "lenden profile add shop --base-url https://sandbox.example/cp/api/v1 --key-file key.txt --secret-file secret.txt",
        says: "keep an account under the name shop",
      },
      { line: "lenden profile use shop", says: "use it from now on" },
      { line: "lenden profile show", says: "what a run would go by, and where it comes from" },
    ],
  },
  text(
    "One profile is in use: the one that 'lenden profile use' chose, or the first that was added. --profile or LENDEN_PROFILE names another one for a single run.",
    "Which one counts",
  ),
  text(
    "A flag goes before an environment variable, that before the profile, that before the default. Where a variable hides something of the profile, a line on stderr says so.",
    "Which value counts",
  ),
  text(
    "In one file that only you can read (mode 0600), in the folder that LENDEN_CONFIG_DIR names, or in ~/.config/lenden. With --key-command and --secret-command only a command is kept that prints the secret when it is needed. A key is shown as its prefix and its last three characters, never whole.",
    "Where keys and secrets lie",
  ),
  text(
    "The key says which environment it is for: sk_sandbox_… or public-… (production). Key, profile and address must agree, or nothing is sent (exit 4). Production needs https:, and everything that is sent there to change something needs a yes: yours, or --yes in a script.",
    "Sandbox and production",
  ),
  rows("Exit codes", [
    ["4", "no key or secret, or a key of the other environment"],
    ["7", "another lenden is changing the profiles at this moment"],
  ]),
];
