// Ledgers with one operation of each kind, and with many that are equal to it.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { cpu, environment, launcher, output, scratch } from "./measure.js";

/**
 * @typedef {Awaited<ReturnType<typeof import("./cluster.js").startCluster>>} Cluster
 * @typedef {{ cluster: Cluster, account: import("./measure.js").Account, many: number, samples: number }} Options
 * @typedef {{ operations: string[], events: string[] }} Columns
 * @typedef {{ env: import("./measure.js").Env, payments: string[] }} Shop
 */

const recipient = "01712345678";
const commands = ["pay create", "payout send", "refund create"];
const kinds = ["payment", "payout", "refund"];
/** Commands of a sample: the CPU of a server is counted in steps of 10 ms. */
const each = 3;

/** What is measured, on a ledger file and on a server. @param {Options} options */
export function createLedgers({ cluster, account, many, samples }) {
  const measured = [];
  /** Of both databases. @type {Columns} */
  let columns = { operations: [], events: [] };
  for (const server of [undefined, cluster]) {
    const shops = [false, true].map((isFilled) => {
      const directory = mkdtempSync(join(scratch, "equal-"));
      const url = server?.create();
      const env = environment(directory, account, url);
      const shop = { env, payments: [] };
      fillShop(shop, isFilled ? 1 : samples * each);
      if (isFilled && server && url) fillServer(server, url, fillSql(columns, many));
      if (!server) columns = columnsOf(directory);
      if (isFilled && !server) fillFile(directory, fillSql(columns, many));
      return { shop, isFilled };
    });
    for (const command of commands)
      for (const { shop, isFilled } of shops)
        measured.push({
          name: `${command} on ${server ? "PostgreSQL" : "SQLite"}, beside ${isFilled ? "many" : "none"}`,
          run: () => sample(command, shop, { isFilled, server }),
        });
  }
  return measured;
}

/** One operation of each kind, and completed payments. @param {Shop} shop @param {number} count */
function fillShop(shop, count) {
  const run = (/** @type {string} */ line) =>
    output([process.execPath, launcher, ...line.split(" ")], { env: shop.env }).trim();
  for (let place = 0; place < count; place += 1)
    shop.payments.push(run(`pay create --amount 100 --description tea --method bkash --again -q`));
  for (const payment of shop.payments) run(`sandbox trigger payment ${payment}`);
  run(`payout send --amount 5 --to ${recipient} --method bkash`);
  // One that was cancelled leaves all of its payment to refund.
  const refund = run(`refund create --payment ${shop.payments[0]} ${refundFlags} -q`);
  run(`refund cancel ${refund}`);
}

const refundFlags = "--amount 1 --account-type personal --account-number 01812345678";
let counted = 0;

/** Milliseconds of CPU of one command, with that of the server. @param {string} command @param {Shop} shop @param {{ isFilled: boolean, server: Cluster | undefined }} options */
async function sample(command, { env, payments }, { isFilled, server }) {
  const before = (await server?.cpu()) ?? 0;
  let spent = 0;
  for (let time = 0; time < each; time += 1) {
    counted += 1;
    const line = isFilled ? equal(command, payments[0]) : unequal(command, payments);
    spent += cpu([process.execPath, launcher, ...line.split(" ")], { env });
  }
  const after = (await server?.cpu()) ?? 0;
  return (spent + after - before) / each;
}

/** @param {string} command @param {string | undefined} payment */
function equal(command, payment) {
  if (command === "pay create")
    return "pay create --amount 100 --description tea --method bkash --again";
  if (command === "refund create")
    return `refund create --payment ${payment} ${refundFlags} --again`;
  return `payout send --amount 5 --to ${recipient} --method bkash --again`;
}

/** @param {string} command @param {string[]} payments the refunded ones are removed */
function unequal(command, payments) {
  const other = String(counted).padStart(8, "0");
  if (command === "pay create")
    return `pay create --amount 100 --description T${other} --method bkash --again`;
  if (command === "refund create")
    return `refund create --payment ${payments.pop()} ${refundFlags} --again`;
  return `payout send --amount 5 --to 019${other} --method bkash --again`;
}

/** @param {string} directory @returns {Columns} */
function columnsOf(directory) {
  const database = new Database(join(directory, "ledger.db"));
  const [operations = [], events = []] = ["operations", "events"].map((table) =>
    database
      .prepare("SELECT name FROM pragma_table_info(?)")
      .all(table)
      .map((row) => String(Object(row).name)),
  );
  database.close();
  return { operations, events };
}

/** @param {string} directory @param {string[]} statements */
function fillFile(directory, statements) {
  const database = new Database(join(directory, "ledger.db"));
  // Events are copied before their operations.
  database.exec("PRAGMA foreign_keys = OFF");
  for (const sql of statements) database.exec(sql.replaceAll("lenden.", ""));
  database.close();
}

/** @param {Cluster} cluster @param {string} url @param {string[]} statements */
function fillServer(cluster, url, statements) {
  const tables = ["operations", "events"].map((name) => `VACUUM ANALYZE lenden.${name}`);
  cluster.run(url, [...statements, ...tables].join(";"));
}

const hash = "f".repeat(64);

/**
 * Copies the newest operation of each kind with its events, so that a claim finds nothing modified. The chain is not
 * right, and no claim reads it.
 *
 * @param {Columns} columns @param {number} count
 */
function fillSql({ operations, events }, count) {
  const series = `WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count})`;
  /** A text with the names of each copy. */
  const renamed = (/** @type {string} */ text) =>
    ["o.id", "o.reference", "o.remote_id"].reduce(
      (before, name) => `replace(${before}, coalesce(${name}, '-'), coalesce(${name} || n, '-'))`,
      text,
    );
  const number = "(SELECT max(number) FROM lenden.operations) + n";
  /** @type {Record<string, string>} */
  const ofOperation = {
    number,
    ...{ id: "o.id || n", reference: "o.reference || n", asked: renamed("o.asked") },
    ...{ remote_id: "o.remote_id || n", payment_url: renamed("o.payment_url") },
  };
  /** @type {Record<string, string>} */
  const ofEvent = {
    number: "(SELECT max(number) FROM lenden.events) + row_number() OVER (ORDER BY n, e.number)",
    ...{ operation: number, data: renamed("e.data"), hash: `'${hash}'` },
  };
  const names = (/** @type {string[]} */ columns) => columns.map((name) => `"${name}"`);
  return kinds.flatMap((kind) => {
    const newest = `(SELECT max(number) FROM lenden.operations WHERE kind = '${kind}')`;
    return [
      `${series} INSERT INTO lenden.events (${names(events)})
        SELECT ${events.map((name) => ofEvent[name] ?? `e."${name}"`)}
        FROM lenden.operations o JOIN lenden.events e ON e.operation = o.number CROSS JOIN s
        WHERE o.number = ${newest}`,
      `${series} INSERT INTO lenden.operations (${names(operations)})
        SELECT ${operations.map((name) => ofOperation[name] ?? `o."${name}"`)}
        FROM lenden.operations o CROSS JOIN s WHERE o.number = ${newest}`,
    ];
  });
}
