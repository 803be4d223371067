import visibleWidth from "string-width";

/** A text that takes at most so many columns of a terminal; what is cut off leaves an ellipsis. */
export function cut(text: string, columns: number): string {
  if (visibleWidth(text) <= columns) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (visibleWidth(kept + segment) >= columns) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
