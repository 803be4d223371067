import { globalFlags } from "../../args/globals.ts";
import { flagRow, type Row, type Section } from "../page.ts";

const account: Row[] = [
  ["LENDEN_PROFILE", "Profile to use"],
  ["LENDEN_API_KEY", "API key"],
  ["LENDEN_PAYOUT_SECRET", "Payout secret"],
  ["LENDEN_CALLBACK_SECRET", "Secret that signs forwarded callbacks"],
  ["LENDEN_BASE_URL", "URL of the API"],
  ["LENDEN_ACCOUNT", "Account that the ledger records operations under"],
];

const behavior: Row[] = [
  ["LENDEN_OUTPUT", "Output format"],
  ["LENDEN_NO_INPUT, CI", "Set to any value: never prompt"],
  ["LENDEN_DEBUG", "Set to 1: print stack traces"],
  ["NO_COLOR", "Set to any value: no color"],
  ["FORCE_COLOR", "Unless 0 or false: always use color"],
  ["TERM", "If dumb: no color and no prompts"],
  ["DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME", "On Linux, --open needs one of them"],
];

const directories: Row[] = [
  ["LENDEN_CONFIG_DIR", "Profiles, an absolute path (default: ~/.config/lenden)"],
  ["LENDEN_DATA_DIR", "Ledger, an absolute path (default: ~/.local/share/lenden)"],
  ["XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_CACHE_HOME", "Replace ~/.config, ~/.local/share, ~/.cache"],
  ["BASH_COMPLETION_USER_DIR", "Bash completions"],
  ["APPDATA, LOCALAPPDATA", "Parents of both directories on Windows"],
];

const network: Row[] = [
  ["HTTPS_PROXY, HTTP_PROXY", "Proxy to use, except for this machine"],
  ["NO_PROXY", "Hosts to connect to without the proxy"],
  ["NODE_EXTRA_CA_CERTS", "Extra CA certificates file (PEM)"],
  ["NODE_TLS_REJECT_UNAUTHORIZED", "Ignored: certificates are always verified"],
];

export const sections = (): Section[] => [
  { text: "Flags can be before or after the command. No flag takes a secret." },
  {
    title: "Examples",
    examples: [
      { comment: "Print JSON", command: "lenden methods --json" },
      { comment: "Print IDs only, within 20 seconds", command: "lenden --timeout 20s methods -q" },
      { comment: "Print JSON without a flag", command: "LENDEN_OUTPUT=json lenden methods" },
    ],
  },
  { title: "Flags", rows: Object.values(globalFlags).map(flagRow) },
  {
    text: "Precedence: flag, environment variable, profile, default. LENDEN_API_KEY with LENDEN_BASE_URL needs no profile, and uses none. 'lenden profile show' shows each value and its source.",
  },
  { title: "Environment variables: account", rows: account },
  { title: "Environment variables: behavior", rows: behavior },
  { title: "Environment variables: directories", rows: directories },
  { title: "Environment variables: network", rows: network },
];
