import { lookup } from "node:dns";
import { text } from "node:stream/consumers";
import type { Found } from "../../doctor/lookup.ts";
import { processHost } from "../host.ts";

/** The program that looks a name up; see doctor/lookup.ts for why it is one. */

const { stdin, stdout } = processHost();

text(stdin).then((name) =>
  lookup(name, { all: true }, (error, addresses) => {
    const found: Found = error ? { code: error.code ?? "unknown" } : { addresses };
    stdout.write(JSON.stringify(found));
  }),
);
