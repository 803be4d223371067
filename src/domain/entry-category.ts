/** What a line of a statement is that no operation can explain. */
export const entryCategories = ["fee", "top-up", "settlement", "interest", "other"] as const;
export type EntryCategory = (typeof entryCategories)[number];
