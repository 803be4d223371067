import { spawn } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pages, root, type ShellLine, shellLines, writePrograms } from "./support/doc-pages.ts";
import { scratchFolder } from "./support/helpers.ts";
import { isMissing } from "./support/interpreters.ts";
import { builtEnv, ended } from "./support/lenden.ts";
import { serverTest, startCluster } from "./support/postgres.ts";
import { closedPort } from "./support/server.ts";
import { toolLine } from "./tool.js";

/** The first words of commands that set up the repository; the gate runs them. */
const isSetup = /^(?:git|npm|npx|\.ci\/run)\b/;

/** A command that a reader leaves running in another terminal. */
const isServer = /lenden (?:sandbox start|callback listen(?! .*--(?:once|for)\b)|.* --follow)/;

/** The PostgreSQL servers of pages. */
const servers = /@(?:db\.example|localhost)\//;

const startsSandbox = /lenden sandbox start/;

/** Programs that pages name: lenden itself, and programs and tests of the reader. */
const programs = {
  lenden: `exec ${toolLine} "$@"`,
  npm: "exit 0",
  pass: "cat key.txt",
  hledger: "exit 0",
};

/** Directories are the usual ones of a home, except for the compile cache of all tests. */
const { XDG_CACHE_HOME, NODE_OPTIONS } = builtEnv();

for (const page of pages) {
  const lines = shellLines(page).filter(({ text }) => !isSetup.test(text));
  if (lines.length === 0) continue;
  const isOnServer = lines.some(({ text }) => servers.test(text));
  const words = lines.flatMap(({ text }) => text.split(" "));
  const run = isOnServer ? serverTest : test.concurrent;
  run(
    `each command of ${page} ends as the page says`,
    async ({ onTestFinished, skip }) => {
      skip(words.some(isMissing));
      const home = scratchFolder();
      for (const name of ["bin", "work"]) mkdirSync(join(home, name));
      for (const [name, script] of Object.entries(programs))
        writeFileSync(join(home, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
      // Programs of the repository that pages name.
      for (const path of ["test/shops", "test/commands/round-trip.sh"])
        cpSync(join(root, path), join(home, "work", path), { recursive: true });
      for (const name of pages) writePrograms(name, join(home, "work"));
      const script = await scriptOf(lines);
      const server = isOnServer ? await startCluster({}, onTestFinished) : undefined;
      const host = encodeURIComponent(server?.folder ?? "");
      writeFileSync(join(home, "page.sh"), script.split(servers).join(`@${host}/`));
      const child = spawn("bash", ["../page.sh"], {
        cwd: join(home, "work"),
        env: { HOME: home, XDG_CACHE_HOME, NODE_OPTIONS, PATH: `${home}/bin:${process.env.PATH}` },
        stdio: ["ignore", "pipe", "pipe"],
      });
      onTestFinished(() => void child.kill());
      const { code, stdout } = await ended(child);
      expect({ code, unexpected: stdout.match(/^.*:\d+: exit .*$/gm) ?? [] }).toEqual({
        code: 0,
        unexpected: [],
      });
    },
    300_000,
  );
}

/**
 * All lines in one shell, so that they share variables. A page that starts no sandbox gets one. Ports that
 * pages name may be in use on this machine.
 */
async function scriptOf(lines: ShellLine[]): Promise<string> {
  const ports = await Promise.all([closedPort(), closedPort(), closedPort(), closedPort()]);
  const steps = lines.map(({ page, number, text, exit, stopsServers }) => {
    const stop = stopsServers ? 'stop "$others"; others=\n' : "";
    const place = `${page}:${number}`;
    return stop + (isServer.test(text) ? serve(text, place) : `${text}\ncheck $? ${exit} ${place}`);
  });
  const hasSandbox = lines.some(({ text }) => startsSandbox.test(text));
  const first = hasSandbox ? [] : [serve("lenden sandbox start", "before the page:0")];
  return [helpers, ...first, ...steps]
    .join("\n")
    .replaceAll(/\b4242\b/g, String(ports[0]))
    .replaceAll(/\b4343\b/g, String(ports[1]))
    .replaceAll(/\b3000\b/g, String(ports[2]))
    .replaceAll(/\b3001\b/g, String(ports[3]));
}

function serve(line: string, place: string): string {
  const isSandbox = startsSandbox.test(line);
  const needsPort = !/ --(?:port|poll|follow)\b/.test(line);
  const port = needsPort ? ` --port ${isSandbox ? 4242 : 4343}` : "";
  return `serve ${isSandbox ? "sandbox" : "other"} '${line}${port}' '${place}'`;
}

const helpers = `
export SHOP_PORT=3001 LISTEN_PORT=4343 sandbox= others=
printf 'sk_sandbox_ABC-DEFGHJKLMNPQ-RST\\n' > key.txt
printf 'a payout secret\\n' > secret.txt
printf 'kind,order,amount,to\\npayout,INV-7,500,01712345678\\n' > expected.csv
trap 'kill $(jobs -p) 2>/dev/null' EXIT
trap 'exit 1' TERM
check() { [ "$1" = "$2" ] || echo "$3: exit $1 instead of $2"; }
node -e 'require("node:http").createServer((_, response) => response.end()).listen(3000, "127.0.0.1")' &
stop() { for pid in $1; do kill "$pid"; wait "$pid"; done }
# Starts a server, and waits for its first output. Two sandboxes would use one port.
serve() {
  if [ "$1" = sandbox ]; then stop "$sandbox"; fi
  : > serving
  eval "exec env $2" > serving 2>&1 &
  if [ "$1" = sandbox ]; then sandbox=$!; else others="$others $!"; fi
  for _ in $(seq 100); do [ -s serving ] && break; sleep 0.1; done
  sleep 0.3
  kill -0 $! || { cat serving; wait $!; check $? 0 "$3"; }
}
`;
