/** `1 row`, `3 rows`. */
export function rowsText(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}
