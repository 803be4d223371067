/** How wide a terminal is; one that does not know says 0. */
export function columnsOf({ columns }: { columns?: number }): number {
  return columns || 80;
}
