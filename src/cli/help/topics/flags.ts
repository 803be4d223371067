import { globalFlags } from "../../args/globals.ts";
import { flagRow, type Row, type Section } from "../page.ts";

const account: Row[] = [
  ["LENDEN_PROFILE", "Profile to use if --profile names none"],
  ["LENDEN_API_KEY", "API key, instead of the profile's"],
  ["LENDEN_PAYOUT_SECRET", "Payout secret, instead of the profile's"],
  ["LENDEN_CALLBACK_SECRET", "Secret that signs forwarded callbacks"],
  ["LENDEN_BASE_URL", "URL of the API, instead of the profile's"],
  ["LENDEN_ACCOUNT", "Account of the ledger that operations are recorded in"],
];

const behavior: Row[] = [
  ["LENDEN_OUTPUT", "Output format, like --output"],
  ["LENDEN_NO_INPUT, CI", "Set to anything: never prompt, like --no-input"],
  ["LENDEN_DEBUG", "Set to 1: print a stack trace with each error"],
  ["NO_COLOR", "Set to anything: no color"],
  ["FORCE_COLOR", "Set to anything but 0 or false: color, also non-interactively"],
  ["TERM", "If dumb: no color, no prompts, and progress is not redrawn"],
  ["DISPLAY, WAYLAND_DISPLAY", "Needed by --open on Linux, except with WSL_DISTRO_NAME"],
];

const directories: Row[] = [
  ["LENDEN_CONFIG_DIR", "Absolute path of the profiles (default: ~/.config/lenden)"],
  ["LENDEN_DATA_DIR", "Absolute path of the ledger (default: ~/.local/share/lenden)"],
  ["XDG_CONFIG_HOME", "Replaces ~/.config"],
  ["XDG_DATA_HOME", "Replaces ~/.local/share"],
  ["XDG_CACHE_HOME", "Replaces ~/.cache; lenden/compile-cache in it can be deleted"],
  ["BASH_COMPLETION_USER_DIR", "Directory of bash completions, if it is not the usual one"],
  ["APPDATA, LOCALAPPDATA", "On Windows: parents of the profiles and of the ledger"],
];

const network: Row[] = [
  ["HTTPS_PROXY, HTTP_PROXY", "Proxy to use, except for this machine"],
  ["NO_PROXY", "Hosts to connect to without the proxy"],
  ["NODE_EXTRA_CA_CERTS", "File of certificates to trust in addition"],
  ["NODE_TLS_REJECT_UNAUTHORIZED", "Ignored: certificates are always verified"],
];

export const sections = (): Section[] => [
  { text: "Flags can be before or after the command. No flag takes a secret." },
  {
    title: "Examples",
    examples: [
      { comment: "Print one JSON document", command: "lenden methods --json" },
      { comment: "Print IDs only, within 20 seconds", command: "lenden --timeout 20s methods -q" },
      { comment: "Print JSON without a flag", command: "LENDEN_OUTPUT=json lenden methods" },
    ],
  },
  { title: "Flags", rows: Object.values(globalFlags).map(flagRow) },
  {
    text: "Precedence: flag, environment variable, profile, default. An empty variable is an unset one. LENDEN_API_KEY with LENDEN_BASE_URL needs no profile, and takes nothing from one. 'lenden profile show' shows where each value comes from.",
  },
  { title: "Environment variables: account", rows: account },
  { title: "Environment variables: behavior", rows: behavior },
  { title: "Environment variables: directories", rows: directories },
  { title: "Environment variables: network", rows: network },
];
