import fc from "fast-check";
import { type Fault, faultArbitrary } from "./faults.ts";

/** Without a reference the tool makes one, as `payout send` without --ref does. */
export interface PayoutCommand {
  does: "payout";
  reference: number | undefined;
  amount: number;
  to: number;
  method?: number;
  again?: boolean;
}

/** One command as a person or a script gives it; what it names are places in the lists below. */
export type Command =
  | PayoutCommand
  | { does: "payment"; amount: number; description: number; again: boolean }
  | { does: "refund"; payment: number; amount: number; again: boolean }
  | { does: "cancel" }
  | { does: "resolve" };

/** What happens besides: time passes, and the service ends what it has in work. */
export type Event =
  | { does: "pause"; ms: number }
  | { does: "end"; resource: "payout" | "refund"; status: "Completed" | "Cancelled" };

export interface Step {
  command: Command | Event;
  /** How often a naive script runs it again where the exit code allows that. */
  reruns: number;
  gapMs: number;
  /** Another process that runs a command while this one waits for its n-th answer. */
  meanwhile: { call: number; command: Command } | undefined;
}

export interface Scenario {
  seed: number;
  /** The service's clock minus ours. */
  skewMs: number;
  /** References that another machine of the merchant used before. */
  foreign: { reference: number; amount: number; to: number }[];
  script: Step[];
  faults: (Fault | undefined)[];
  /** After how many steps of disk, network and sleep each crash comes; counted from the one before. */
  crashes: { after: number; power: boolean }[];
  /** After how many disk statements each disk error comes. */
  diskErrors: number[];
  /** After how many steps a Ctrl-C comes. */
  stops: number[];
}

export const references = ["INV-1", "INV-2", "INV-3"];
export const recipients = ["01712345678", "01812345678"];
export const methods = ["bkash", "nagad"];
/** The third prints as 0.3 in one way alone: two decimals would be signed differently. */
export const payoutPaisa = [50_000n, 125_050n, 30n];
export const refundPaisa = [10_000n, 20_050n, 45_000n];
export const paymentPaisa = [70_000n, 9n];
export const descriptions = ["Order 1", "Order 2"];
/** Completed before the run, over 500 and over 250.5 taka. */
export const paid = [
  { transactionId: "TX-PAID-1", taka: 500 },
  { transactionId: "TX-PAID-2", taka: 250.5 },
];

const rarely = fc.integer({ min: 0, max: 5 }).map((one) => one === 5);

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("payout" as const),
      reference: fc.constantFrom(0, 1, 2, 0, 1, 2, undefined, undefined),
      amount: fc.constantFrom(0, 0, 0, 1, 2),
      to: fc.constantFrom(0, 0, 0, 1),
      method: fc.constantFrom(0, 0, 0, 1),
      again: rarely,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("payment" as const),
      amount: fc.nat(1),
      description: fc.nat(1),
      again: rarely,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("refund" as const),
      payment: fc.nat(1),
      amount: fc.nat(2),
      again: rarely,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ does: "cancel" as const }) },
  { weight: 1, arbitrary: fc.constant({ does: "resolve" as const }) },
);

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    does: fc.constant("pause" as const),
    ms: fc.constantFrom(1_000, 9_000, 60_000, 23 * 3_600_000, 25 * 3_600_000),
  }),
  fc.record({
    does: fc.constant("end" as const),
    resource: fc.constantFrom("payout" as const, "refund" as const),
    status: fc.constantFrom("Completed" as const, "Cancelled" as const),
  }),
);

/** The same amount to the same recipient, with and without a reference, by whatever method. */
const repeatedPayout: fc.Arbitrary<Command> = fc.record({
  does: fc.constant("payout" as const),
  reference: fc.constantFrom(0, 1, undefined, undefined, undefined),
  amount: fc.constantFrom(0, 0, 0, 0, 1),
  to: fc.constantFrom(0, 0, 0, 0, 1),
  method: fc.nat(1),
  again: rarely,
});

const resolves: fc.Arbitrary<Command> = fc.constant({ does: "resolve" as const });

function scenarioOf(commands: fc.Arbitrary<Command>): fc.Arbitrary<Scenario> {
  const step: fc.Arbitrary<Step> = fc.record({
    command: fc.oneof({ weight: 6, arbitrary: commands }, { weight: 1, arbitrary: event }),
    reruns: fc.nat(3),
    gapMs: fc.constantFrom(0, 500, 3_000, 30_000),
    meanwhile: fc.option(fc.record({ call: fc.nat(2), command: commands }), {
      nil: undefined,
      freq: 4,
    }),
  });
  return fc.record({
    seed: fc.nat(),
    skewMs: fc.constantFrom(0, 0, 0, 0, 180_000, -180_000, 420_000, -420_000),
    foreign: fc.array(fc.record({ reference: fc.nat(2), amount: fc.nat(1), to: fc.nat(1) }), {
      maxLength: 1,
    }),
    script: fc.array(step, { minLength: 1, maxLength: 4 }),
    faults: fc.array(faultArbitrary, { maxLength: 10 }),
    crashes: fc.array(fc.record({ after: fc.nat(70), power: fc.boolean() }), { maxLength: 2 }),
    diskErrors: fc.array(fc.nat(60), { maxLength: 1 }),
    stops: fc.array(fc.nat(60), { maxLength: 1 }),
  });
}

export const scenarioArbitrary = scenarioOf(command);

/** Commands that are given twice, by mistake or on purpose. */
export const repeatsArbitrary = scenarioOf(
  fc.oneof({ weight: 8, arbitrary: repeatedPayout }, { weight: 1, arbitrary: resolves }),
);
