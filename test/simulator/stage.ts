import type { Operation } from "../../src/ledger/operation.ts";
import { collect } from "../support/helpers.ts";
import type { Place } from "./commands.ts";
import { Disk } from "./disk.ts";
import type { Fault, FaultKind } from "./faults.ts";
import { openedLedger } from "./ledger-verdict.ts";
import { Network } from "./network.ts";
import { Player } from "./player.ts";
import { paid, type Scenario } from "./scenario.ts";
import { Universe } from "./universe.ts";
import { Watch } from "./watch.ts";

/** A simulated world for one hand-written case. */
export interface Stage extends Place {
  player: Player;
  operations(): Promise<Operation[]>;
}

/** A scenario in which nothing happens and nothing goes wrong. */
export const nothing: Scenario = {
  seed: 1,
  environment: "sandbox",
  referencesPerKey: false,
  believedDeadMs: 0,
  skewMs: 0,
  foreign: [],
  script: [],
  files: [],
  faults: [],
  crashes: [],
  diskErrors: [],
  stops: [],
};

export async function stage(scenario: Partial<Scenario> = {}): Promise<Stage> {
  const universe = new Universe(await Disk.open(), { ...nothing, ...scenario });
  for (const { transactionId, taka } of paid)
    universe.service.seedPayment(transactionId, taka, universe.timeline.now());
  const watch = new Watch(universe);
  const network = new Network(universe, watch);
  const player = new Player({ universe, network }, watch, scenario.files);
  return {
    universe,
    network,
    player,
    operations: () => collect(openedLedger(universe).list(undefined, { oldestFirst: true })),
  };
}

export function fault(kind: FaultKind, changes: Partial<Fault> = {}): Fault {
  return { kind, acts: false, lateMs: 0, pick: 0, ...changes };
}
