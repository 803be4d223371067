import type { Context } from "../../cli/command/context.ts";
import { flag } from "../../cli/command/flag.ts";
import { readUrl } from "../../domain/url.ts";

/** How the payment page is shown, besides its URL. */
export const pageFlags = {
  open: flag.toggle("--open", "Open the payment URL in the browser"),
  qr: flag.toggle("--qr", "Print the payment URL as a QR code on stderr"),
};

/** Opens and draws the payment URL. The payment exists by now, so problems are only notices. */
export async function showPage(
  url: string,
  { qr, open: opens }: { qr: boolean; open: boolean },
  context: Context,
): Promise<void> {
  if (!qr && !opens) return;
  if (!readUrl(url).ok)
    return context.ui.notice(
      "The payment URL is not an https: URL, so lenden does not open or draw it.",
    );
  if (qr) await context.ui.showQr(url);
  if (!opens) return;
  const obstacle = obstacleTo(context.host);
  if (obstacle) return context.ui.notice(`Cannot open the payment URL: ${obstacle}.`);
  const { default: open } = await import("open");
  await open(url).catch(() => context.ui.notice("Cannot open the payment URL: no browser found."));
}

/** Why no browser can open. On Linux without a display, one might open inside the terminal. */
function obstacleTo({ stderr, platform, env }: Context["host"]): string | undefined {
  if (!stderr.isTTY) return "stderr is not a terminal";
  const displays = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME];
  const hasDisplay = ["darwin", "win32"].includes(platform) || displays.some(Boolean);
  return hasDisplay ? undefined : "there is no display";
}
