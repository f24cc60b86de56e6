// What has moved since the nights before, the sentinels that say so, and what this run began with.
import { part, root } from "./api.js";
import { $, badge, el, fill } from "./dom.js";
import { percent } from "./format.js";
import { colour, draw, plain } from "./plot.js";
import { follow, run } from "./run.js";
import { plainTable } from "./table.js";

const linked = (id) => el("a", { class: "mono", href: `${root}/dags/${part(run.dag)}/runs/${part(id)}/night` }, id);

function moved(data) {
  const rows = data.moved.map((f) => [
    badge(f.what, "unstable"), f.nodes.length ? f.nodes.join(", ") : "all alike",
    [percent(f.change), el("small", {}, `${percent(f.low)} … ${percent(f.high)}`)], f.sentence,
  ]);
  const quiet = data.is_compared ? "Nothing has moved: machine, workload and config are where they were." : "There is no earlier night to compare with.";
  fill(
    $("moved"),
    el("div", { class: "card-head" }, el("h2", {}, "What has moved")),
    rows.length ? plainTable(["What", "Nodes", "Change", "As it was told"], rows, [2]) : el("p", { class: "muted" }, quiet),
    data.advice && el("div", { class: "notice warn" }, data.advice),
  );
}

function chart(data, unit) {
  if (!data.nights.length) return fill($("nights"), el("p", { class: "empty" }, "The sentinels of this run were not compared yet."));
  const x = data.nights.map((night) => plain(night.run));
  const trace = (key, name) => ({
    type: "scatter", mode: "lines+markers", name, x, y: data.nights.map((night) => night[key]), connectgaps: false,
    line: { color: colour(key === "default" ? "default" : "best"), width: 2 },
    marker: { size: data.nights.map((night) => (night.moved.length ? 13 : 7)), symbol: data.nights.map((night) => (night.moved.length ? "diamond" : "circle")) },
    text: data.nights.map((night) => plain(`${night.nodes} nodes${night.moved.length ? `, moved: ${night.moved.join(", ")}` : ""}`)),
    hovertemplate: `%{x}<br>%{y} ${plain(unit)}<br>%{text}<extra></extra>`,
  });
  return draw($("nights"), () => [
    [trace("default", "default"), trace("incumbent", "incumbent")],
    { xaxis: { type: "category", showticklabels: data.nights.length < 8 }, yaxis: { title: { text: plain(unit) } } },
  ]);
}

function taken(data) {
  const rows = data.taken_over.map((one) => [el("span", { class: "mono" }, one.config_id), one.is_incumbent ? badge("incumbent", "good") : "one of the best", linked(one.run_id)]);
  fill(
    $("taken"),
    el("div", { class: "card-head" }, el("h2", {}, "What this run began with")),
    rows.length ? plainTable(["Config", "It was", "In run"], rows) : el("p", { class: "muted" }, "A cold start: nothing was taken over from an earlier run."),
    data.passed_over.length ? el("ul", {}, data.passed_over.map((why) => el("li", {}, why))) : null,
  );
}

await follow((data, line) => {
  moved(data);
  chart(data, line.unit);
  taken(data);
});
