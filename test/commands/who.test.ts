import { expect } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { openMerchant, payoutOf } from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { machine, teamLedger } from "../support/team-ledger.ts";

serverTest("names the login that the server knows, whatever the machine says", async () => {
  const cluster = await sharedCluster();
  const { database, url } = await teamLedger(cluster, "ann", "mallory");
  const ill: Fault[] = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  const [ann, mallory] = [machine(merchant, url("ann")), machine(merchant, url("mallory"))];
  const host = { ...jumpingHost(), user: "ann", machine: "ann-pc" };
  const sent = await lenden(payoutOf("UNKNOWN"), { env: mallory, host });
  expect(sent.code).toBe(75);
  ill.splice(0);

  const at = async (...line: string[]) => (await lenden(line, { env: ann })).stdout;
  const shown = JSON.parse(await at("ledger", "show", "UNKNOWN", "--json"));
  expect(shown).toMatchObject({ user: "ann", login: "mallory" });
  expect(shown.history[0]).toMatchObject({ event: "intent", login: "mallory" });
  expect(await at("ledger", "show", "UNKNOWN")).toMatch(/payout send, by mallory \(as ann\)/);
  expect(await at("payout", "list", "-o", "csv")).toMatch(/,mallory,script\r\n$/);
  expect(await at("payout", "list", "--columns", "merchantRef,login")).toMatch(/UNKNOWN +mallory/);

  const resolved = await lenden(["ledger", "resolve"], { env: ann, host: jumpingHost() });
  expect(resolved).toMatchObject({ code: 0 });
  expect(resolved.stderr).toMatch(/UNKNOWN: amount .*, recorded by mallory \(as ann on ann-pc\), /);
  // Who resolved it is another login than who recorded it.
  expect(await at("ledger", "show", "UNKNOWN")).toMatch(/resumed {2}by ann \(as tester on \w+\)/);
  const events = "SELECT DISTINCT login FROM lenden.events WHERE operation IS NOT NULL ORDER BY 1";
  expect(await cluster.run(events, database)).toEqual([{ login: "ann" }, { login: "mallory" }]);
});
