// How far single samples are from the full-budget mean, before and after the noise adjuster.
import { $, el, fill } from "./dom.js";
import { percent } from "./format.js";
import { clear, colour, draw, plain } from "./plot.js";
import { follow } from "./run.js";

let data = null;
const over = () => document.querySelector("input[name=over]:checked").value;

const tile = (name, summary, what) =>
  el(
    "div",
    { class: "tile" },
    el("div", { class: "muted" }, name),
    el("div", { class: "figure" }, summary ? percent(summary.reduction) : "not measured"),
    el("div", { class: "muted" }, summary ? `${percent(summary.before, 2)} before, ${percent(summary.after, 2)} after, ${summary.trials} trials` : what),
  );

function chart() {
  const t = data.trials;
  if (!t.config.length) {
    return clear($("chart"), el("p", { class: "empty" }, "No stable config has reached the highest rung yet: without one there is no mean to compare with."));
  }
  return draw($("chart"), () => {
    const x = t[over()];
    const hundred = (values) => values.map((v) => (v === null ? null : 100 * v));
    const points = (name, y, shade, symbol) => ({
      type: "scatter", mode: "markers", name, x, y: hundred(y), text: t.config.map((c, i) => plain(`${c}, ${t.nodes[i]} nodes${t.is_trained[i] ? "" : ", no model yet"}`)),
      hovertemplate: "%{y:.2f} %<br>%{text}<extra></extra>", marker: { color: colour(shade), size: 7, opacity: 0.55, symbol },
    });
    const mean = (name, y, shade, dash) => ({ type: "scatter", mode: "lines", name, x, y: hundred(y), hoverinfo: "skip", line: { color: colour(shade), width: 2.5, dash } });
    return [
      [
        points("as measured", t.before, "unstable", "circle-open"),
        points("adjusted", t.after, "best", "circle"),
        mean("as measured, mean", t.before_mean, "unstable", "dash"),
        mean("adjusted, mean", t.after_mean, "best", "solid"),
      ],
      { xaxis: { title: { text: over() === "samples" ? "samples taken" : "hours since the run was opened" }, rangemode: "tozero" }, yaxis: { title: { text: "error against the full-budget mean (%)" }, rangemode: "tozero" } },
    ];
  });
}

for (const input of document.querySelectorAll("input[name=over]")) input.addEventListener("change", () => data && chart());

await follow((found) => {
  data = found;
  fill(
    $("tiles"),
    found.has_adjuster ? null : el("div", { class: "notice warn" }, "This run's policy has no noise adjuster: both errors are the same."),
    tile("Error gone, over the run", found.over_the_run, "no stable trial on the highest rung yet"),
    tile("Error gone, second half", found.second_half, "no stable trial on the highest rung yet"),
    tile("Error gone, once there is a model", found.once_trained, "no trial was adjusted yet"),
  );
  chart();
});
