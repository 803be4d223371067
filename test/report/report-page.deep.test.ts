import { expect } from "vitest";
import { createReport, groupings } from "../../src/report/report.ts";
import { reportPage } from "../../src/report/report-page.ts";
import { paid } from "../reconcile/operations.ts";
import { browserTest, expectAccessible, openWindow } from "../support/browser.ts";

browserTest.for(groupings)(
  "the page of a report by %s is accessible on a phone, in light and dark, and asks for nothing",
  async (by) => {
    const scope = { by, since: "2026-11-01T00:00:00.000Z", until: undefined, zone: "Asia/Dhaka" };
    const report = createReport(scope);
    for (const day of ["02", "09"])
      for (const kind of ["payment", "payout", "refund"] as const) {
        const asked = { recipientNumber: "01712345678", recipientName: "<b>Rahima</b>" };
        await report.add({ ...paid, kind, asked, completedAt: `2026-11-${day}T10:00:00.000Z` });
      }
    await report.add({ ...paid, state: "UNCERTAIN" });
    const viewport = { width: 320, height: 640 };
    const page = await openWindow({ viewport, isMobile: true, javaScriptEnabled: true });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    const read = await report.accounts();
    const accounts = read.map((one) => ({ ...one, groups: [...one.groups] }));
    await page.setContent(reportPage(accounts, scope, "2026-11-30T12:00:00.000Z"));
    expect(await page.locator("b").count()).toBe(4);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
    }
    expect(requests).toEqual([]);
  },
);
