// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are pieces of source code
/**
 * Seeded money bugs: some test must fail of each. `file` is below src, and `find` occurs exactly
 * once in it. Plain JavaScript, because Node 20 runs it without a build.
 *
 * @type {{ name: string, file: string, find: string, replace: string }[]}
 */
export const mutants = [
  {
    name: "no intent: the reference is not written down before it is sent",
    file: "ledger/ledger.ts",
    find: 'if (!row) return { kind: "new", operation: begin(linked(intent)) };',
    replace:
      'if (!row) return { kind: "new", operation: { ...intent, number: 0n, id: "", state: "INTENT", remoteId: null, status: null, code: null, message: null, attempts: 0, createdAt: at(), updatedAt: at(), holder: null, user: "", command: "", profile: "", environment: "", baseUrl } };',
  },
  {
    name: "intent not durable: synchronous=OFF",
    file: "ledger/database.ts",
    find: "PRAGMA synchronous = FULL",
    replace: "PRAGMA synchronous = OFF",
  },
  {
    name: "intent not durable: the transaction is not committed",
    file: "ledger/database.ts",
    find: 'engine.exec("COMMIT");',
    replace: "",
  },
  {
    name: "a transaction is no transaction",
    file: "ledger/database.ts",
    find: "if (isOpen) return work();",
    replace: "if (work.length < 9) return work();",
  },
  {
    name: "new reference on retry",
    file: "operations/payout-attempts.ts",
    find: "world.client.createPayout(payoutBody(order))",
    replace:
      "world.client.createPayout(payoutBody({ ...order, reference: order.reference + (attempt > 1 ? `-${attempt}` : '') }))",
  },
  {
    name: "timeout called unreachable",
    file: "http/answer.ts",
    find: "if (!sent) return",
    replace: 'if (!sent || fault.reason === "no answer in time") return',
  },
  {
    name: "timeout called refused",
    file: "operations/once.ts",
    find: 'if (answer.kind === "unclear") throw uncertain(what, answer, operation);',
    replace:
      'if (answer.kind === "unclear") throw new Failure("refused", `${what} ${describe(answer)} ${uncertain.name} ${operation.id}`);',
  },
  {
    name: "a server error called refused",
    file: "http/answer.ts",
    find: "if (status >= 400 && status < 500) {",
    replace: "if (status >= 400 && status < 504) {",
  },
  {
    name: "payout answer not compared",
    file: "operations/payout.ts",
    find: 'compare("answer", order, {',
    replace: '((..._) => {})("answer", order, {',
  },
  {
    name: "amounts not compared at all",
    file: "operations/payout-order.ts",
    find: "...(paisaOf(theirs.amount) === order.amountPaisa",
    replace: "...(paisaOf(theirs.amount) !== undefined",
  },
  {
    name: "recipient not compared",
    file: "operations/payout-order.ts",
    find: "theirs.recipient === undefined ? ",
    replace: "theirs.recipient !== null ? ",
  },
  {
    name: "stale timestamp: half a minute old",
    file: "http/client.ts",
    find: "timestamp: Math.floor(wire.now() / 1000)",
    replace: "timestamp: Math.floor(wire.now() / 1000) - 30",
  },
  {
    name: "stale signature: of the second before",
    file: "http/client.ts",
    find: "const { amount, merchantRef, timestamp } = body;",
    replace:
      "const { amount, merchantRef, timestamp: now } = body; const timestamp = Number(now) - 1;",
  },
  {
    name: "a refund or a payment is sent again after it was sent",
    file: "operations/once.ts",
    find: 'if (answer.kind === "unclear") throw',
    replace:
      'if (answer.kind === "unclear" && attempt === 1) continue;\n    if (answer.kind === "unclear") throw',
  },
  {
    name: "a payment is tried again like a read",
    file: "contract/payments.ts",
    find: 'repeat: "never",',
    replace: 'repeat: "safe",',
  },
  {
    name: "a refund is tried again like a read",
    file: "contract/refunds.ts",
    find: 'repeat: "never",',
    replace: 'repeat: "safe",',
  },
  {
    name: "a payout is tried again like a read",
    file: "contract/payouts.ts",
    find: 'repeat: "same reference",',
    replace: 'repeat: "safe",',
  },
  {
    name: "ledger error swallowed at the end",
    file: "operations/recorded.ts",
    find: "} catch (cause) {",
    replace: "} catch (cause) {\n    if (cause) return;",
  },
  {
    name: "ledger error swallowed between attempts",
    file: "operations/payout-attempts.ts",
    find: "await noteAttempt(operation, answer, doubt, world);",
    replace: "await noteAttempt(operation, answer, doubt, world).catch(() => {});",
  },
  {
    name: "a refusal ends the doubt",
    file: "operations/payout-attempts.ts",
    find: "  if (doubt !== undefined)\n    return uncertain(order, `no trustworthy answer (${doubt})`, evidenceOf(answer));",
    replace:
      '  if (doubt !== undefined && answer.kind !== "refused")\n    return uncertain(order, `no trustworthy answer (${doubt})`, evidenceOf(answer));',
  },
  {
    name: "an unsent attempt ends the doubt",
    file: "operations/payout-attempts.ts",
    find: "  if (doubt !== undefined)\n    return uncertain(order, `no trustworthy answer (${doubt})`, evidenceOf(answer));",
    replace:
      '  if (doubt !== undefined && answer.kind !== "unsent")\n    return uncertain(order, `no trustworthy answer (${doubt})`, evidenceOf(answer));',
  },
  {
    name: "an attempt that could not be signed ends the doubt",
    file: "operations/payout-attempts.ts",
    find: "if (doubt === undefined || !(error instanceof Failure)) throw error;",
    replace: "if (error) throw error;",
  },
  {
    name: "the doubt of an earlier run is forgotten",
    file: "operations/payout-claim.ts",
    find: 'return "an earlier run ended without an answer";',
    replace: "return undefined;",
  },
  {
    name: "not sent is claimed without proof",
    file: "http/answer.ts",
    find: "if (!sent) return",
    replace: 'if (!sent || fault.reason === "connection lost") return',
  },
  {
    name: "--again is not needed for a refund",
    file: "operations/once.ts",
    find: "if (same && !again)",
    replace: "if (same && again)",
  },
  {
    name: "--again is not needed for an uncertain payment",
    file: "operations/once.ts",
    find: "if (open && !again)",
    replace: "if (open && again)",
  },
  {
    name: "the sum of refunds is not checked",
    file: "operations/once.ts",
    find: "backPaisa + amountPaisa <= paidPaisa",
    replace: "amountPaisa <= paidPaisa",
  },
  {
    name: "uncertain refunds do not count in the sum",
    file: "operations/once.ts",
    find: '["INTENT", "UNCERTAIN", "CONFLICT", "CONFIRMED"].includes(state)',
    replace: '["CONFIRMED"].includes(state)',
  },
  {
    name: "a held reference is stolen",
    file: "ledger/ledger.ts",
    find: "operation.holder && worker.isAlive(operation.holder)",
    replace: "operation.holder && worker.isAlive === undefined",
  },
  {
    name: "10 s after a timeout are not waited",
    file: "operations/resend.ts",
    find: "afterTimeoutMs: 10_000",
    replace: "afterTimeoutMs: 1_000",
  },
  {
    name: "10 s are not waited before the next run",
    file: "operations/payout-claim.ts",
    find: "const quietMs = 10_000;",
    replace: "const quietMs = 1_000;",
  },
  {
    name: "a known reference is sent again",
    file: "ledger/ledger.ts",
    find: 'if (!isOpen(operation)) return { kind: "known", operation };',
    replace: "",
  },
  {
    name: "another payout under a known reference is taken for the same",
    file: "ledger/ledger.ts",
    find: "if (operation.fingerprint !== intent.fingerprint)",
    replace: "if (operation.amountPaisa !== intent.amountPaisa)",
  },
  {
    name: "a conflict is answered as success",
    file: "operations/payout-order.ts",
    find: "if (differences.length === 0) return;",
    replace: "if (differences.length >= 0) return;",
  },
  {
    name: "an amount is signed with two decimals",
    file: "http/client.ts",
    find: "sign(`${amount}:",
    replace: "sign(`${Number(amount).toFixed(2)}:",
  },
  {
    name: "an operation that failed in doubt is recorded as not sent",
    file: "operations/recorded.ts",
    find: 'uncertain: "UNCERTAIN",',
    replace: 'uncertain: "NOT_SENT",',
  },
  {
    name: "a payout older than a day is sent again",
    file: "operations/payout-claim.ts",
    find: "> longestDoubtMs",
    replace: "> longestDoubtMs * 30",
  },
  {
    name: "what a person says is made is not compared",
    file: "operations/resolve.ts",
    find: "if (differences.length === 0) {",
    replace: "if (differences.length >= 0) {",
  },
  {
    name: "a payment that is not Completed is paid back",
    file: "operations/once.ts",
    find: 'if (payment.status === "Completed")',
    replace: 'if (payment.status !== "Cancelled")',
  },
];
