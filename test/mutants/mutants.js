// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are pieces of source code
const batch = [
  "test/batch/send-safety.test.ts",
  "test/simulator/batch.test.ts",
  "-t",
  "^(?!.*whatever)",
];

/**
 * Seeded money bugs: some test must fail of each. `file` is below src, and `find` occurs exactly
 * once in it; `tests` are those that have to fail, where it is not the usual ones. Plain JavaScript,
 * because Node 20 runs it without a build.
 *
 * @type {{ name: string, file: string, find: string, replace: string, tests?: string[] }[]}
 */
export const mutants = [
  {
    name: "no intent: the reference is not written down before it is sent",
    file: "ledger/beginning.ts",
    find: "if (intents.length === 0) return [];",
    replace:
      'if (intents.length >= 0) return intents.map((intent) => begunOf(intent, { id: "", number: 0n, target: null }, holderNow(worker), worker));',
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
    find: "body.timestamp = Math.floor(wire.now() / 1000);",
    replace: "body.timestamp = Math.floor(wire.now() / 1000) - 30;",
  },
  {
    name: "stale signature: of the second before",
    file: "http/client.ts",
    find: "sign(`${amount}:${merchantRef}:${timestamp}`, secret)",
    replace: "sign(`${amount}:${merchantRef}:${Number(timestamp) - 1}`, secret)",
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
    file: "operations/refundable.ts",
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
    file: "operations/refundable.ts",
    find: "backPaisa + amountPaisa <= paidPaisa",
    replace: "amountPaisa <= paidPaisa",
  },
  {
    name: "uncertain refunds do not count in the sum",
    file: "operations/refundable.ts",
    find: '["INTENT", "UNCERTAIN", "CONFLICT", "CONFIRMED"].includes(state)',
    replace: '["CONFIRMED"].includes(state)',
  },
  {
    name: "a held reference is stolen",
    file: "ledger/claiming.ts",
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
    file: "ledger/claiming.ts",
    find: 'if (!isOpen(operation)) return { kind: "known", operation };',
    replace: "",
  },
  {
    name: "another payout under a known reference is taken for the same",
    file: "ledger/claiming.ts",
    find: "if (operation.fingerprint !== fingerprint) return",
    replace: "if (operation.fingerprint.length !== fingerprint.length) return",
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
    file: "operations/refundable.ts",
    find: 'if (payment.status === "Completed")',
    replace: 'if (payment.status !== "Cancelled")',
  },
  {
    name: "batch: rows go on before their commit",
    file: "ledger/grouped.ts",
    find: "const changed = (await commit(group.flatMap(({ changes }) => changes))).values();",
    replace:
      "const all = group.flatMap(({ changes }) => changes);\n      const committed = commit(all);\n      const changed = all.map((change) => change.kind === 'claim' ? { kind: 'new', operation: { ...change.intent, number: 1n, id: '', state: 'INTENT', holder: null, createdAt: '', updatedAt: '' } } : undefined).values();\n      void committed.catch(() => {});",
    tests: batch,
  },
  {
    name: "batch: after a failed commit it goes on",
    file: "ledger/grouped.ts",
    find: "if (broken) return fail(broken.error);",
    replace: "",
    tests: batch,
  },
  {
    name: "batch: a ledger error is swallowed",
    file: "batch/send.ts",
    find: "rules.ledgerFailed(error);",
    replace: "if (error === undefined) rules.ledgerFailed(error);",
    tests: batch,
  },
  {
    name: "batch: its lock is not taken",
    file: "ledger/batches/claiming.ts",
    find: 'if (known) return { kind: "ours", batch: take(known) };',
    replace: 'if (known) return { kind: "ours", batch: known };',
    tests: batch,
  },
  {
    name: "batch: its lock is stolen although the holder lives",
    file: "ledger/batches/claiming.ts",
    find: "if (known && by) return",
    replace: "if (known && by && by.pid === 0) return",
    tests: batch,
  },
  {
    name: "batch: what an interrupted plan left is not thrown away",
    file: "ledger/batches/plan.ts",
    find: "while (database.transaction(() => clear.run(number, number)) > 0);",
    replace: "",
    tests: batch,
  },
  {
    name: "batch: a plan counts before its rows are durable",
    file: "ledger/batches/plan.ts",
    find: "const digest = digestOf(database, number);",
    replace:
      "const digest = digestOf(database, number);\n      database.prepare('DELETE FROM batch_rows WHERE batch = ? AND row > 3').run(number);",
    tests: batch,
  },
  {
    name: "batch: new reference on resume",
    file: "batch/send.ts",
    find: "const { amountPaisa, reference, recipient, methodId, name, description } = planned;",
    replace:
      'const { amountPaisa, recipient, methodId, name, description } = planned;\n  const reference = "state" in planned ? `${planned.reference}-2` : planned.reference;',
    tests: batch,
  },
  {
    name: "batch: a row goes out under what was claimed for another",
    file: "batch/supply.ts",
    find: "const row = page[index];",
    replace: "const row = page[page.length - 1 - index];",
    tests: batch,
  },
  {
    name: "batch: rows in doubt are left out",
    file: "batch/send.ts",
    find: "else yield row;",
    replace: 'else onRow(row, "uncertain");',
    tests: batch,
  },
  {
    name: "batch: what was killed in flight is no doubt",
    file: "ledger/batches/rows.ts",
    find: "${isOwn} AND o.state IN ('INTENT', 'UNCERTAIN')",
    replace: "${isOwn} AND o.state IN ('UNCERTAIN')",
    tests: batch,
  },
  {
    name: "batch: rows in flight do not rest after a death",
    file: "batch/send.ts",
    find: "held.has(reference) ? undefined : nowMs",
    replace: "held.has(reference) ? undefined : nowMs - 10_000",
    tests: batch,
  },
  {
    name: "batch: a conflict does not stop it",
    file: "batch/stop-rules.ts",
    find: 'if (end === "conflict" || end === "access")',
    replace: 'if (end === "access")',
    tests: batch,
  },
  {
    name: "batch: no answer ever looks old",
    file: "operations/payout.ts",
    find: "const { status } = looksOld ?",
    replace: "const { status } = looksOld && firstMs === 0 ?",
    tests: batch,
  },
  {
    name: "batch: the sums drop a state",
    file: "ledger/batches/rows.ts",
    find: "GROUP BY 1, 2",
    replace: "GROUP BY 1, 2 HAVING o.state IS NOT 'REFUSED'",
    tests: batch,
  },
  {
    name: "batch: what its reference was used for counts as the row",
    file: "ledger/batches/rows.ts",
    find: "WHEN o.fingerprint != r.fingerprint THEN 'CONFLICT'",
    replace: "WHEN 0 THEN 'CONFLICT'",
    tests: batch,
  },
  {
    name: "batch: a row without access gets a new reference when it is exported",
    file: "ledger/batches/rows.ts",
    find: "WHEN o.state = 'REFUSED' AND o.code = 'access' THEN 'NOT_SENT' ELSE o.state END AS state",
    replace: "ELSE o.state END AS state",
    tests: batch,
  },
  {
    name: "a raw call that moves money is not written down",
    file: "operations/by-hand.ts",
    find: 'if (operation.state === "CONFIRMED") return',
    replace: "if (operation.number > 0n) return",
    tests: ["test/commands/api-money.test.ts"],
  },
  {
    name: "a raw payment without an answer may be made again",
    file: "operations/by-hand-intent.ts",
    find: "if (same && !again) throw",
    replace: "if (same && !again && kind.length === 0) throw",
    tests: ["test/commands/api-money.test.ts"],
  },
  {
    name: "real money: nobody is asked",
    file: "program/terminal/confirm.ts",
    find: "if (isReal) await requireWord(question, head, around);",
    replace: "if (isReal) await Promise.resolve();",
    tests: ["test/commands/production.test.ts"],
  },
];
