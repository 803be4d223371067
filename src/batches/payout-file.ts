import { createHash } from "node:crypto";
import { usage } from "../domain/failure.ts";
import { type FileBytes, openFile } from "../tables/file-bytes.ts";

/** A file of payouts. It is read from the disk each time, so that it is not in memory. */
export interface PayoutFile extends FileBytes {
  /** SHA-256 of its bytes, in hexadecimal. */
  hash: string;
}

const hints = {
  missing: "Check the path. 'lenden payout batch template <file>' creates a sample.",
  pipe: "A batch cannot be read from a pipe: save the rows in a file.",
  large: "Split the file, and send each part.",
};

/** @throws Failure `usage` if there is no such file, or if it is too large */
export async function openPayoutFile(path: string): Promise<PayoutFile> {
  const file = await openFile(path, path === "-" ? { ...hints, missing: hints.pipe } : hints);
  const sum = createHash("sha256");
  for await (const piece of file.pieces()) sum.update(piece);
  const hash = sum.digest("hex");
  return { ...file, hash, pieces: () => samePieces(file, hash) };
}

/** The rows that are sent must be those of the bytes by which a batch is known. */
async function* samePieces(file: FileBytes, hash: string): AsyncIterable<Uint8Array> {
  const sum = createHash("sha256");
  for await (const piece of file.pieces()) {
    sum.update(piece);
    yield piece;
  }
  if (sum.digest("hex") !== hash)
    throw usage([`${file.path} was changed while it was read.`], "Run the command again.");
}
