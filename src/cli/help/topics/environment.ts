import { type Page, type Row, rows, text } from "../page.ts";

const account: Row[] = [
  ["LENDEN_PROFILE", "The profile to use, where --profile names none"],
  ["LENDEN_API_KEY", "The API key, instead of the profile's"],
  ["LENDEN_PAYOUT_SECRET", "The payout secret, instead of the profile's"],
  ["LENDEN_BASE_URL", "The service's address, instead of the profile's"],
  ["LENDEN_ACCOUNT", "The ledger's account that operations are recorded in"],
];

const behaviour: Row[] = [
  ["LENDEN_OUTPUT", "How results are printed, as with --output"],
  ["LENDEN_NO_INPUT", "Set to anything: never ask for anything, as with --no-input"],
  ["CI", "The same; most CI services set it"],
  ["LENDEN_DEBUG", "Set to 1: errors come with where in the program they happened"],
  ["NO_COLOR", "Set to anything: no colours"],
  ["FORCE_COLOR", "Set to anything but 0 or false: colours, even off a terminal"],
  ["TERM", "Where it is dumb: no colours, nothing is asked, and progress is not redrawn"],
  ["DISPLAY, WAYLAND_DISPLAY", "Where a browser can be opened, on Linux, for --open"],
  ["WSL_DISTRO_NAME", "Set on Windows' own Linux, where --open needs no display"],
];

const places: Row[] = [
  ["LENDEN_CONFIG_DIR", "The full path of the profiles' directory (default: ~/.config/lenden)"],
  ["LENDEN_DATA_DIR", "The full path of the ledger's directory (default: ~/.local/share/lenden)"],
  ["XDG_CONFIG_HOME", "What stands for ~/.config in the first"],
  ["XDG_DATA_HOME", "What stands for ~/.local/share in the second"],
  ["XDG_CACHE_HOME", "What stands for ~/.cache: lenden/compile-cache in it may be deleted"],
  [
    "BASH_COMPLETION_USER_DIR",
    "Where bash's completion scripts are kept, if not in the usual folder",
  ],
  ["APPDATA", "On Windows: what holds the folder of the profiles"],
  ["LOCALAPPDATA", "On Windows: what holds the folder of the ledger"],
];

const network: Row[] = [
  ["HTTPS_PROXY, HTTP_PROXY", "The proxy to go through; never for this machine itself"],
  ["NO_PROXY", "Hosts that are reached without the proxy"],
  ["NODE_EXTRA_CA_CERTS", "A file of certificates to trust beside the usual ones"],
  ["NODE_TLS_REJECT_UNAUTHORIZED", "Does nothing here: certificates are always checked"],
];

export const page: Page = [
  text(
    "The environment variables that count. A flag goes before a variable, a variable before the profile. An empty variable is one that is not set.",
  ),
  {
    kind: "examples",
    examples: [
      { line: "LENDEN_OUTPUT=json lenden methods", says: "the same as 'lenden methods --json'" },
      { line: "lenden profile show", says: "which value comes from where" },
    ],
  },
  rows("The account", account),
  text(
    "LENDEN_API_KEY and LENDEN_BASE_URL together need no profile, and take nothing from one: the key of one account never meets the secret of another.",
  ),
  rows("Behaviour", behaviour),
  rows("Folders", places),
  rows("Network", network),
];
