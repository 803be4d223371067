/** The contents of a column. */
export const fields = ["ref", "amount", "to", "method", "name", "description"] as const;
export type Field = (typeof fields)[number];
