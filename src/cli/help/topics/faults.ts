import { callbackFaultKinds, faultKinds } from "../../../api/contract/fault.ts";
import { endpointNames } from "../../../domain/statuses.ts";
import { type Page, type Row, rows, text } from "../page.ts";

export const page: Page = [
  text("What the local sandbox can get wrong on purpose, to see what your own code does then."),
  {
    kind: "examples",
    examples: [
      {
        line: "lenden sandbox exec --fault listMethods:latency-200 -- lenden methods",
        says: "every list of methods comes 200 milliseconds late",
      },
      {
        line: "lenden sandbox exec --fault createPayout:lost-reply:0.3 --seed 1 -- npm test",
        says: "three answers in ten to payouts get lost, the same three every time",
      },
    ],
  },
  text(
    "A rule is <endpoint>:<kind>, or <endpoint>:<kind>:<share>; the share is how much of the requests it hits, from 0 to 1 (1, if left out). --fault may be repeated.",
  ),
  rows(
    "Kinds",
    Object.entries(faultKinds).map(([kind, { says }]): Row => [kind, says]),
  ),
  text(`${endpointNames.join(", ")}, or * for all of them.`, "Endpoints"),
  text(
    "A rule of --callback-fault is <kind>, or <kind>:<share>, as in lost:0.2; it may be repeated, and the first one that hits counts. What a callback is, and how often it is tried, is told by 'lenden sandbox start --help'.",
    "Callbacks",
  ),
  rows(
    "Kinds of callback faults",
    Object.entries(callbackFaultKinds).map((row): Row => row),
  ),
];
