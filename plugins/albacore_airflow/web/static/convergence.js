// Best so far against samples or hours, with the scores told and the raw samples they came from.
import { $, badge, el, fill } from "./dom.js";
import { figure, number } from "./format.js";
import { colour, draw, plain, scatter } from "./plot.js";
import { follow } from "./run.js";
import { plainTable } from "./table.js";
import { openTrial } from "./trial.js";

let data = null;
let line = null;
const over = () => document.querySelector("input[name=over]:checked").value;
const texts = (columns, more) => columns.config.map((config, i) => plain(`${config} · ${columns.nodes?.[i] ?? columns.node[i]}${more?.[i] ? ` · ${more[i]}` : ""}`));

const SHAPES = { stable: "circle", unstable: "diamond-open", failed: "x" };

function traces() {
  const x = over();
  const found = [];
  const hover = `%{y} ${plain(line.unit)}<br>%{text}<extra></extra>`;
  if ($("raw").checked && data.raw) {
    for (const [excluded, name, symbol] of [[false, "raw samples", "circle"], [true, "excluded samples", "circle-open"]]) {
      const keep = data.raw.is_excluded.map((is, i) => (is === excluded ? i : -1)).filter((i) => i >= 0);
      if (!keep.length) continue;
      const text = texts(data.raw);
      found.push({
        type: scatter(keep.length), mode: "markers", name, hovertemplate: hover, text: keep.map((i) => text[i]),
        x: keep.map((i) => data.raw[x][i]), y: keep.map((i) => data.raw.value[i]),
        marker: { color: colour("raw"), size: 4, opacity: 0.55, symbol },
      });
    }
  }
  if ($("told").checked && data.told) {
    for (const kind of ["stable", "unstable", "failed"]) {
      const keep = data.told.stability.map((s, i) => (s === kind ? i : -1)).filter((i) => i >= 0);
      if (!keep.length) continue;
      const text = texts(data.told, data.told.stability);
      found.push({
        type: scatter(keep.length), mode: "markers", name: `told, ${kind}`, hovertemplate: hover, text: keep.map((i) => text[i]),
        x: keep.map((i) => data.told[x][i]), y: keep.map((i) => data.told.score[i]),
        marker: { color: colour(kind), symbol: SHAPES[kind], size: keep.map((i) => 6 + 1.2 * Math.sqrt(data.told.nodes[i])) },
      });
    }
  }
  const end = x === "samples" ? line.samples : line.hours;
  if (data.best?.score.length) {
    found.push({
      type: "scatter", mode: "lines+markers", name: "best so far", hovertemplate: hover, text: [...texts(data.best), ""],
      x: [...data.best[x], end], y: [...data.best.score, data.best.score.at(-1)],
      line: { shape: "hv", color: colour("best"), width: 2.5 }, marker: { size: [...data.best.score.map(() => 6), 0] },
    });
  }
  if (data.default) {
    found.push({
      type: "scatter", mode: "lines", name: "default", hovertemplate: `default: %{y} ${plain(line.unit)}<extra></extra>`,
      x: [0, end], y: [data.default.shown, data.default.shown], line: { color: colour("default"), width: 2, dash: "dash" },
    });
  }
  return found;
}

function chart() {
  draw($("chart"), () => [
    traces(),
    { xaxis: { title: { text: over() === "samples" ? "samples taken" : "hours since the run was opened" }, rangemode: "tozero" }, yaxis: { title: { text: plain(`${line.metric} (${line.unit})`) } } },
  ]);
}

function steps() {
  const best = data.best;
  if (!best?.score.length) return fill($("steps"), el("p", { class: "muted" }, "No config was found stable yet."));
  const rows = best.score.map((score, i) => [
    String(best.samples[i]), number(best.hours[i], 3), el("button", { type: "button", class: "plain mono", onclick: () => openTrial(best.config[i]) }, best.config[i]),
    figure(score, line.unit), String(best.nodes[i]), i === best.score.length - 1 ? badge("best", "good") : "",
  ]);
  return fill($("steps"), plainTable(["Samples", "Hours", "Config", "Score", "Nodes", ""], rows.reverse(), [0, 1, 3, 4]));
}

for (const input of document.querySelectorAll(".controls input")) input.addEventListener("change", () => data && chart());

await follow((found, head) => {
  [data, line] = [found, head];
  $("hint").textContent = head.direction === "max" ? "Higher is better. A score is the worst of its nodes; unstable configs are told with a penalty." : "Lower is better. A score is the worst of its nodes; unstable configs are told with a penalty.";
  chart();
  steps();
});
