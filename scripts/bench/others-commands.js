// What is measured of other people's command lines: to say their version, and to ask a loopback
// server one question. None of them tells its maker of the run, or looks for a newer version.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { scratch, surroundings } from "./commands.js";
import { installed, versionOf } from "./others.js";

/** `{ label, line, env }` of each command; `{ label, why }` where a tool is not to be had. */
export function othersOn(node, origin) {
  return [
    ...commandsOf("@stripe/cli", node, ({ bin }) =>
      stripe([node, bin("stripe")], "stripe", origin),
    ),
    ...commandsOf("resend-cli", node, ({ bin }) => resend([node, bin("resend")], origin)),
  ];
}

/** npm's `stripe` starts Node to start this. */
export function stripeAlone(origin) {
  const label = "stripe (its binary alone)";
  return commandsOf("@stripe/cli", process.execPath, ({ modules }) => {
    const binary = join(modules, `@stripe/cli-${process.platform}-${process.arch}/bin/stripe`);
    if (existsSync(binary)) return stripe([binary], label, origin);
    return [{ label, why: `not among its files for ${process.platform} on ${process.arch}` }];
  });
}

function commandsOf(name, node, commands) {
  const found = installed(name, node);
  if (found.why) return [{ label: name, why: found.why }];
  const version = `${name} ${found.version} on Node ${versionOf(node)}`;
  return commands(found).map((one) => ({ ...one, version }));
}

function stripe(program, label, origin) {
  const env = surroundings(join(scratch, "stripe"), {
    STRIPE_CLI_TELEMETRY_OPTOUT: "1",
    STRIPE_NO_AUTO_UPDATE: "1",
  });
  const account = ["--api-base", origin, "--api-key", "sk_test_1234567890abcdef"];
  return [
    { label: `${label} --version`, line: [...program, "--version"], env },
    {
      label: `${label} get /v1/charges`,
      line: [...program, "get", "/v1/charges", ...account],
      env,
    },
  ];
}

function resend(program, origin) {
  const env = surroundings(join(scratch, "resend"), {
    RESEND_BASE_URL: origin,
    RESEND_TELEMETRY_DISABLED: "1",
    RESEND_NO_UPDATE_NOTIFIER: "1",
  });
  const account = ["--json", "--api-key", "re_1234567890"];
  return [
    { label: "resend --version", line: [...program, "--version"], env },
    { label: "resend domains list", line: [...program, "domains", "list", ...account], env },
  ];
}
