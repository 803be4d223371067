import { callbackFaultKinds, faultKinds } from "../../../api/contract/fault.ts";
import { endpointNames } from "../../../domain/statuses.ts";
import type { Row, Section } from "../page.ts";

export const sections = (): Section[] => [
  {
    title: "Examples",
    examples: [
      {
        comment: "Delay each response by 200 milliseconds",
        command: "lenden sandbox exec --fault listMethods:latency-200 -- lenden methods",
      },
      {
        comment: "Lose three in ten payout responses, the same ones in each run",
        command: "lenden sandbox exec --fault createPayout:lost-reply:0.3 --seed 1 -- npm test",
      },
    ],
  },
  {
    text: "--fault takes <endpoint>:<kind>[:<rate>]. The rate is the share of requests that get the fault, from 0 to 1 (default: 1).",
  },
  {
    title: "Kinds",
    rows: Object.entries(faultKinds).map(([kind, { effect }]): Row => [kind, effect]),
  },
  { title: "Endpoints", text: `${endpointNames.join(", ")}, or * for all of them.` },
  {
    title: "Callback faults",
    text: "--callback-fault takes <kind>[:<rate>]. The first matching rule applies.",
  },
  {
    title: "Kinds of callback faults",
    rows: Object.entries(callbackFaultKinds).map((row): Row => row),
  },
];
