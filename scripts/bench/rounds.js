/**
 * Measures several things side by side: one round runs each of them once, and every round begins
 * with another one, so that none is always first, or always after a dear one. Rounds before the
 * first are not counted: they warm the disk and what Node keeps of compiled code.
 *
 * Each side is `{ name, run }`. `run` is told the round (below 0: not counted) and gives a number, or
 * several by their names. Gives all samples by name.
 */
export async function sideBySide(sides, { rounds, warmRounds = 1, what }) {
  const samples = {};
  for (let round = -warmRounds; round < rounds; round += 1) {
    say(`${what}: round ${Math.max(round + 1, 0)} of ${rounds}`);
    for (const { name, run } of rotated(sides, round + warmRounds)) {
      const measured = await run(round);
      if (round >= 0) keep(samples, typeof measured === "number" ? { [name]: measured } : measured);
    }
  }
  say("");
  return samples;
}

/** On a terminal alone: what it says is gone with the next word. */
function say(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

function keep(samples, measured) {
  for (const [name, sample] of Object.entries(measured)) {
    samples[name] ??= [];
    samples[name].push(sample);
  }
}

function rotated(sides, by) {
  const start = by % sides.length;
  return [...sides.slice(start), ...sides.slice(0, start)];
}
