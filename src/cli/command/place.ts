/** Reads `@last`, `@2` and so on: 1 is the newest, 2 the one before it. Undefined of any other text. */
export function placeIn(text: string): number | undefined {
  const place = /^@(last|[1-9]\d{0,5})$/.exec(text)?.[1];
  if (place === undefined) return undefined;
  return place === "last" ? 1 : Number(place);
}
