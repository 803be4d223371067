/** How many cases a property is tried with: few in `npm test`, many in `npm run test:deep`. */
export function runs(usual: number, deep: number): number {
  return process.env.LENDEN_DEEP === undefined ? usual : deep;
}
