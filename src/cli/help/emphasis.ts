const [on, off] = ["\u001b[1m", "\u001b[22m"];

/** Written out, so that help need not load what makes colours. */
export function strong(heading: string): string {
  return on + heading + off;
}

/** The same page for where there are no colours. */
export function withoutEmphasis(page: string): string {
  return page.replaceAll(on, "").replaceAll(off, "");
}
