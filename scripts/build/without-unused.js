import { readFileSync } from "node:fs";

/**
 * What a package brings along, and lenden never uses: HTTP/2, bodies that are no text and, for one
 * number and one class, all of node:http; commander's subcommands that are programs of their own.
 */
const unused = [
  {
    file: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/,
    what: /^.*$/s,
    instead: "module.exports = () => { throw new Error('HTTP/2 is not spoken here'); };",
  },
  {
    file: /undici[\\/]lib[\\/]web[\\/]fetch[\\/]body\.js$/,
    what: /^.*$/s,
    instead:
      "module.exports.extractBody = () => { throw new Error('A body is text or bytes here'); };",
  },
  {
    file: /undici[\\/]lib[\\/](?:core[\\/]util|dispatcher[\\/]client)\.js$/,
    what: "require('node:http')",
    instead: "({ maxHeaderSize: 16384, IncomingMessage: undefined })",
  },
  {
    file: /commander[\\/]lib[\\/]command\.js$/,
    what: "require('node:child_process')",
    instead: "undefined",
  },
];

export const withoutUnused = unused.map(({ file, what, instead }, index) => ({
  name: `without-unused-${index}`,
  load: {
    filter: { id: file },
    handler: (id) => {
      const code = readFileSync(id, "utf8");
      const left = code.replace(what, instead);
      if (left === code) throw new Error(`${id} no longer holds ${what}`);
      return left;
    },
  },
}));
