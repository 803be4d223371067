// Groups of bars as one SVG: medians as bars, least to most as a line across their ends. It brings
// its own ground, in light and in dark, so that it can be read wherever it stands.
import { whole } from "./figures.js";

const width = 760;
const left = 190;
const right = 210;
const rowHeight = 22;
const titleHeight = 30;
const gap = 16;

/** Each group has a title and bars: `{ label, median, least, most, ours }`, all of one unit. */
export function chart(groups, { node, cpu, at }) {
  let y = gap;
  const drawn = groups.map((group) => {
    const text = drawGroup(group, y);
    y += titleHeight + group.bars.length * rowHeight + gap;
    return text;
  });
  const foot = `Medians; lines from least to most. Node ${node.slice(1)}, ${cpu}, ${at.slice(0, 10)}.`;
  const height = y + 24;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(groups.map(({ title }) => title).join("; "))}">
<style>${style}</style>
<rect class="ground" width="${width}" height="${height}" rx="10"/>
${drawn.join("\n")}
<text class="soft" x="${gap}" y="${y + 6}">${escaped(foot)}</text>
</svg>
`;
}

const style = `
.ground { fill: #ffffff } text { fill: #1c2430; font: 13px sans-serif } .title { font-weight: bold }
.soft { fill: #515c6b; font-size: 12px } .bar { fill: #9aa5b4 } .ours { fill: #0b6b4f }
.spread { stroke: #1c2430; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { .ground { fill: #161b22 } text { fill: #eceff4 }
.soft { fill: #b4bdca } .bar { fill: #5c6878 } .ours { fill: #3fb68b } .spread { stroke: #eceff4 } }
`;

function drawGroup({ title, bars }, top) {
  const most = Math.max(...bars.map((bar) => bar.most));
  const scale = (value) => (value / most) * (width - left - right);
  return [
    `<text class="title" x="${gap}" y="${top + 18}">${escaped(title)}</text>`,
    ...bars.map((bar, index) => drawBar(bar, top + titleHeight + index * rowHeight, scale)),
  ].join("\n");
}

function drawBar({ label, median, least, most, ours }, top, scale) {
  const [from, to] = [least, most].map((value) => (left + scale(value)).toFixed(1));
  const middle = top + rowHeight / 2;
  const text = `${whole(median)} (${whole(least)} to ${whole(most)})`;
  return [
    `<text x="${left - 8}" y="${middle + 4}" text-anchor="end">${escaped(label)}</text>`,
    `<rect class="${ours ? "ours" : "bar"}" x="${left}" y="${top + 3}" width="${scale(median).toFixed(1)}" height="${rowHeight - 6}"/>`,
    `<path class="spread" d="M${from} ${middle}H${to}M${from} ${middle - 4}v8M${to} ${middle - 4}v8"/>`,
    `<text class="soft" x="${width - right + 10}" y="${middle + 4}">${text}</text>`,
  ].join("");
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
