import { type Context, defineCommand } from "../cli/command/define-command.ts";
import { flag } from "../cli/command/flag.ts";

export const mcp = defineCommand({
  description:
    "Speaks the Model Context Protocol on standard input and output, for the profile that it is started with. Plans payouts and refunds; with --allow-send and agent limits, sends them. 'docs/agents.md' describes the tools.",
  examples: {
    "Print the configuration for a client": "lenden mcp --print-config",
  },
  flags: {
    allowSend: flag.toggle("--allow-send", "Let the client send what it planned"),
    printConfig: flag.toggle("--print-config", "Print the configuration for a client, and end"),
  },
  mode: "serve",
  finishes: true,
  isForAgents: true,
  async *run({ allowSend, printConfig }, context) {
    if (printConfig) return yield await configFor(allowSend, context);
    const { serve } = await import("../mcp/server.ts");
    await serve({ allowSend }, context);
  },
  output: ({ z, text }) =>
    z.strictObject({
      mcpServers: z.strictObject({
        lenden: z.strictObject({ command: text, args: z.array(text) }),
      }),
    }),
  view: (config) => ({ kind: "raw", text: JSON.stringify(config, undefined, 2) }),
});

/** As the usual clients have it. The profile is named, because a client starts with other variables. */
async function configFor(allowSend: boolean, { config }: Context) {
  const { profile } = await config.settings();
  const args = [
    "mcp",
    ...(profile ? ["--profile", profile.value] : []),
    ...(allowSend ? ["--allow-send"] : []),
  ];
  return { mcpServers: { lenden: { command: "lenden", args } } };
}
