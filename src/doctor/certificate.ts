import { formatDay } from "../domain/local-time.ts";
import { failed, passed, skipped, type Verdict, warning } from "./finding.ts";
import type { Connected } from "./wire.ts";

const soonDays = 14;
const dayMs = 86_400_000;

/** Whether the service's certificate is trusted, and for how long. */
export function certificateOf({ isOpen, certificate }: Connected, nowMs: number): Verdict {
  if (!certificate)
    return skipped(isOpen ? "http: on this machine has none" : "there is no connection");
  const { fault, validTo } = certificate;
  const day = formatDay(validTo);
  if (fault !== undefined) return distrusted(fault, day);
  const days = Math.floor((Date.parse(validTo) - nowMs) / dayMs);
  const says = `valid until ${day}, for ${days} more ${days === 1 ? "day" : "days"}`;
  return days >= soonDays
    ? passed(says)
    : warning(says, "The service should renew it; ask its support if the day comes near.");
}

/** Nothing is ever sent over it, and there is no way to make lenden do so. */
function distrusted(fault: string, day: string): Verdict {
  const [says, todo] =
    fault === "CERT_HAS_EXPIRED"
      ? [`ended on ${day}`, "Check this machine's date first; else the service has to renew it."]
      : fault === "ERR_TLS_CERT_ALTNAME_INVALID"
        ? ["is for another name", "Check the host in the base URL."]
        : [
            "comes from nobody whom this machine knows",
            "Where a proxy or a virus scanner of yours stands between, name its authority's file in NODE_EXTRA_CA_CERTS.",
          ];
  return failed(`The service's certificate ${says} (${fault}).`, todo);
}
