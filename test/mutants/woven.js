import { bugs } from "./bugs/index.js";
import { guarded } from "./override.js";
import { seams } from "./seams.js";

/** What a copy of src runs at each seam: the right function, or what the bug of this run makes of it. */

const bug = bugs.find(({ name }) => name === process.env.LENDEN_MUTANT);
const seam = bug && seams[bug.seam];
const wrong = new Map();

export function woven(file, name, right) {
  if (!bug || !seam || seam.file !== file || seam.name !== name) return right;
  if (!wrong.has(right)) wrong.set(right, guarded(seam.lift(right, guarded(bug.decorate))));
  return wrong.get(right);
}
