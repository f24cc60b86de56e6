// One strip per config across its nodes, coloured by a threshold that the reader moves; and the histogram of ranges.
import { $, el, fill } from "./dom.js";
import { percent } from "./format.js";
import { colour, draw, plain, scatter } from "./plot.js";
import { follow } from "./run.js";

let data = null;
let line = null;
let moved = false;
const BIN = 0.025;
const TOP = 1.0;

const threshold = () => Number($("threshold").value) / 100;
const isUnstable = (strip) => strip.relative_range === null || strip.relative_range > threshold();
const least = () => Number($("least").value || 2);
const enough = () => data.strips.filter((strip) => strip.nodes.length >= least());
const scale = () => document.querySelector("input[name=scale]:checked").value;

function bins(strips) {
  const count = Math.round(TOP / BIN);
  const stable = new Array(count + 1).fill(0);
  const unstable = new Array(count + 1).fill(0);
  for (const strip of strips) {
    const place = strip.relative_range === null ? count : Math.min(count, Math.floor(strip.relative_range / BIN));
    (isUnstable(strip) ? unstable : stable)[place] += 1;
  }
  const x = stable.map((_, i) => 100 * (i + 0.5) * BIN);
  const text = stable.map((_, i) => (i === count ? `${100 * TOP} % and more` : `${(100 * i * BIN).toFixed(1)} to ${(100 * (i + 1) * BIN).toFixed(1)} %`));
  return { x, text, stable, unstable };
}

function histogram() {
  draw($("histogram"), () => {
    const found = bins(enough());
    const bar = (name, y) => ({ type: "bar", name, x: found.x, y, width: 100 * BIN * 0.92, text: found.text, textposition: "none", hovertemplate: "%{y} configs, %{text}<extra></extra>", marker: { color: colour(name) } });
    const at = 100 * threshold();
    return [
      [bar("stable", found.stable), bar("unstable", found.unstable)],
      {
        barmode: "stack", bargap: 0.02,
        xaxis: { title: { text: "relative range (%)" }, range: [0, 100 * (TOP + BIN)] }, yaxis: { title: { text: "configs" }, rangemode: "tozero" },
        shapes: [{ type: "line", x0: at, x1: at, y0: 0, y1: 1, yref: "paper", line: { color: colour("failed"), width: 2, dash: "dash" } }],
      },
    ];
  });
}

function strips() {
  const shown = enough().slice(0, Number($("most").value));
  $("shown").textContent = `${shown.length} of ${enough().length} configs, the widest first; one point per node.`;
  draw($("strips"), () => {
    const relative = scale() === "relative";
    const groups = { stable: { x: [], y: [], text: [] }, unstable: { x: [], y: [], text: [] } };
    const bars = { x: [], y: [] };
    shown.forEach((strip, place) => {
      const mean = strip.values.reduce((a, b) => a + b, 0) / strip.values.length;
      const y = strip.values.map((v) => (relative ? 100 * (v / mean - 1) : v));
      const group = groups[isUnstable(strip) ? "unstable" : "stable"];
      group.x.push(...y.map(() => place));
      group.y.push(...y);
      group.text.push(...strip.nodes.map((node, i) => plain(`${strip.name} on ${node}: ${strip.values[i]} ${line.unit}, range ${percent(strip.relative_range)}`)));
      bars.x.push(place, place, null);
      bars.y.push(Math.min(...y), Math.max(...y), null);
    });
    const points = (name, symbol) => ({ type: scatter(groups[name].x.length), mode: "markers", name, ...groups[name], hovertemplate: "%{text}<extra></extra>", marker: { color: colour(name), size: 7, opacity: 0.8, symbol } });
    return [
      [
        { type: "scatter", mode: "lines", x: bars.x, y: bars.y, hoverinfo: "skip", showlegend: false, line: { color: colour("line-strong"), width: 1.5 } },
        points("stable", "circle"),
        points("unstable", "diamond"),
      ],
      {
        xaxis: { title: { text: "configs" }, tickvals: shown.map((_, i) => i), ticktext: shown.map((s) => (shown.length > 40 ? "" : plain(s.name.slice(0, 8)))), range: [-0.7, Math.max(shown.length, 8) - 0.3], showgrid: false, tickangle: -45 },
        yaxis: { title: { text: plain(relative ? "away from the config's mean (%)" : `${line.metric} (${line.unit})`) } },
      },
    ];
  });
}

function show() {
  const all = enough();
  const unstable = all.filter(isUnstable).length;
  $("threshold-text").textContent = `${$("threshold").value} %`;
  const own = data.threshold === null ? "This run has no detector." : `This run calls a config unstable above ${percent(data.threshold, 0)}.`;
  $("verdict").textContent = all.length
    ? `${unstable} of ${all.length} configs on ${least()} nodes or more are unstable at ${$("threshold").value} %. ${own} Moving the threshold changes the colours here, not the run.`
    : "No config was measured on two nodes yet.";
  histogram();
  strips();
}

$("threshold").addEventListener("input", () => { moved = true; if (data) show(); });
$("reset").addEventListener("click", () => { moved = false; if (data) { $("threshold").value = String(100 * (data.threshold ?? 0.3)); show(); } });
for (const name of ["least", "most"]) $(name).addEventListener("change", show);
for (const input of document.querySelectorAll("input[name=scale]")) input.addEventListener("change", show);

await follow((found, head) => {
  [data, line] = [found, head];
  const rungs = [...new Set([2, ...found.rungs.filter((r) => r >= 2)])];
  const now = $("least").value;
  fill($("least"), rungs.map((r) => el("option", {}, String(r))));
  if (rungs.includes(Number(now))) $("least").value = now;
  if (!moved) $("threshold").value = String(Math.round(100 * (found.threshold ?? 0.3)));
  show();
});
