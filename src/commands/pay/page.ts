import type { Context } from "../../cli/command/context.ts";
import { readUrl } from "../../domain/url.ts";

/**
 * Brings the page to whoever pays, as the flags ask. The payment is made by now: whatever goes
 * wrong here is said, and fails nothing. Only a web address is shown or opened, for it came from
 * outside.
 */
export async function bringPage(
  url: string,
  { qr, open }: { qr: boolean; open: boolean },
  context: Context,
): Promise<void> {
  if (!qr && !open) return;
  if (!readUrl(url).ok) {
    context.notice("The page's address is no https: address; it is neither drawn nor opened.");
    return;
  }
  if (qr) await context.showQr(url);
  if (open) await openPage(url, context);
}

async function openPage(url: string, context: Context): Promise<void> {
  const obstacle = obstacleTo(context.host);
  if (obstacle) return context.notice(`The page was not opened: ${obstacle}.`);
  const { default: open } = await import("open");
  await open(url).catch(() => context.notice("The page was not opened: there is no browser."));
}

/** Why no browser could come up; on a Linux without a display one might come up in the terminal. */
function obstacleTo({ stderr, platform, env }: Context["host"]): string | undefined {
  if (!stderr.isTTY) return "this is no terminal";
  const displays = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME];
  const hasDisplay = ["darwin", "win32"].includes(platform) || displays.some(Boolean);
  return hasDisplay ? undefined : "there is no display";
}
