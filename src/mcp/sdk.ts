/*
 * The package of the Model Context Protocol. The build makes a file of this module with all that the package needs:
 * shared with the rest, it would let every command load more of zod.
 */
export {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type JSONRPCMessage,
  McpServer,
  type ProtocolEra,
  ReadBuffer,
  type ServerContext,
  type StandardSchemaWithJSON,
  type Transport,
} from "@modelcontextprotocol/server";
export { serveStdio } from "@modelcontextprotocol/server/stdio";
