import { override, withValues } from "../override.js";

const resolving = ["test/operations/resolve.test.ts"];

const confirming = (title) => ["test/commands/resolve-production.test.ts", "-t", title];

/** Bugs of how unknown outcomes are resolved. */
export const resolveBugs = [
  {
    name: "a record settles one operation while another process sends the same",
    seam: "proof",
    decorate: (settle) => (found, deps) => {
      const withoutHeld = (ledger) =>
        override(ledger, {
          unsettled: (unsettled) => async () => {
            const free = [];
            for (const one of await unsettled()) if (!(await ledger.holderOf(one))) free.push(one);
            return free;
          },
        });
      const ledger = async () => withoutHeld(await deps.ledger());
      return settle(found, withValues(deps, { ledger }));
    },
    tests: resolving,
  },
  {
    name: "P15: a CONFLICT is ended by any finding, without the record",
    seam: "resolution",
    decorate: (resolve) => (operation, finding, deps) => {
      const isEnded = finding && operation.state === "CONFLICT";
      return resolve(operation, isEnded ? "not created" : finding, deps);
    },
    tests: ["test/commands/mixed-up.test.ts", "-t", "CONFLICT"],
  },
  {
    name: "a record with any amount and status is adopted",
    seam: "bounds",
    decorate: () => () => [],
    tests: ["test/operations/record-bounds.test.ts"],
  },
  {
    name: "ledger resolve sends a payout again with another API key",
    seam: "ledger",
    decorate: (ledger, { database, worker }) => {
      const setKey = (key, { number }) =>
        database.prepare("UPDATE operations SET key_hash = ? WHERE number = ?").run(key, number);
      return override(ledger, {
        resume: (resume) => async (request) => {
          setKey(worker.owner.keyId, request.seen);
          try {
            return await resume(request);
          } finally {
            setKey(request.seen.keyHash, request.seen);
          }
        },
      });
    },
    tests: ["test/ledger/ledger.test.ts"],
  },
  {
    name: "ledger resolve sends another total than the command line expects",
    seam: "resendQuestion",
    decorate: (confirm) => async (resends, expected, context) => {
      const { name, expectTotal, expectCount } = expected;
      const asked = await confirm(resends, { name }, context);
      const isGiven = expectTotal !== undefined && expectCount !== undefined;
      return { ...asked, typed: asked.typed && { ...asked.typed, isGiven } };
    },
    tests: confirming("ledger resolve sends nothing if"),
  },
  {
    name: "ledger resolve sends in production without an expected total",
    seam: "resendQuestion",
    decorate: (confirm) => async (resends, expected, context) => {
      const { typed: _, ...asked } = await confirm(resends, expected, context);
      return asked;
    },
    tests: confirming("sends none without the expected total"),
  },
  {
    name: "ledger resolve asks one question about all payouts, whatever their amounts",
    seam: "resendQuestion",
    decorate: (confirm) => (resends, expected, context) => {
      const ui = override(context.ui, { asksPerson: () => async () => false });
      return confirm(resends, expected, withValues(context, { ui }));
    },
    tests: confirming("asks for each large payout"),
  },
  {
    name: "ledger resolve counts a payout without a valid seal",
    seam: "resends",
    decorate: (read) => async (all, found, deps) => {
      const { sent, notSealed, unsent } = await read(all, found, deps);
      return { sent: [...sent, ...notSealed], notSealed: [], unsent };
    },
    tests: confirming("without a valid seal apart"),
  },
  {
    name: "ledger resolve sends a payout that it showed as one that is not sent",
    seam: "resends",
    decorate: (read) => async (all, found, deps) => {
      const resends = await read(all, found, deps);
      return { ...resends, unsent: new Map() };
    },
    tests: confirming("sends only what it showed"),
  },
  {
    name: "ledger resolve sends another request than the one that was confirmed",
    seam: "ledger",
    decorate: (ledger) =>
      override(ledger, {
        resume: (resume) => (request) => resume({ ...request, confirmed: undefined }),
      }),
    tests: ["test/ledger/other-logins.test.ts", "-t", "that was confirmed"],
  },
  {
    name: "who recorded an operation is what the machine says",
    seam: "operationRow",
    decorate: (read) => (row) => ({ ...read(row), login: String(row.user) }),
    tests: ["test/commands/who.test.ts"],
  },
];
