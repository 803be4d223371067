import { renderUnicodeCompact } from "uqr";

/** A QR code of a text, drawn with half blocks. */
export function qrText(text: string): string {
  return renderUnicodeCompact(text);
}
