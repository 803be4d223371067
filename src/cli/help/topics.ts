/** What there is to read besides the help of the commands. At most six: everything else is in docs/. */
export const topics = [
  { name: "flags", summary: "Flags of every command, and environment variables" },
  { name: "exit-codes", summary: "Exit codes, and whether a command may be run again" },
  { name: "money-safety", summary: "How repeated commands do not pay twice" },
  { name: "formats", summary: "Amounts, numbers, references, IDs, times, output" },
  { name: "batch", summary: "The CSV file of a batch, and how it is sent" },
  { name: "faults", summary: "Faults that the local sandbox injects" },
] as const;

export type TopicName = (typeof topics)[number]["name"];
