// Ship or do not ship, in one sentence, and every figure behind it. What was not measured says so.
import { $, badge, el, fill, toast } from "./dom.js";
import { figure, number, percent, times } from "./format.js";
import { SERIES, colour, draw, plain } from "./plot.js";
import { follow } from "./run.js";
import { plainTable } from "./table.js";
import { knobTable } from "./trial.js";

const NONE = "not measured";
const or = (value, show) => (value === null || value === undefined ? el("span", { class: "muted" }, NONE) : show(value));
const tile = (name, value, note) => el("div", { class: "tile" }, el("div", { class: "muted" }, name), el("div", { class: "figure" }, value), el("div", { class: "muted" }, note ?? ""));
const interval = (v) => (v.gain ? `${Math.round(100 * v.gain.confidence)} % interval ${times(v.gain.low)} to ${times(v.gain.high)}` : "");
const hours = (seconds) => (typeof seconds === "number" ? `${number(seconds / 3600, 3)} h` : NONE);
const cost = (c) => (typeof c.money === "number" ? number(c.money) : `${hours(c.node_seconds)} of nodes`);
const rented = (c) => (c.rented_node_seconds == null ? "" : `; machines rented for ${hours(c.rented_node_seconds)} so far`);
const spent = (c) => (c ? `${hours(c.tuning_node_seconds)} tuning, ${hours(c.validation_node_seconds)} validating, ${c.samples} samples${rented(c)}` : "");

// Every config that ran on the fresh nodes, once, by the name that it is known by.
function deployments(v) {
  const known = [
    ["Best", v.best],
    ["Default", v.default],
    ["Incumbent", v.previous?.deployment],
    ...v.contenders.map((c) => [`Contender ${c.rank}`, c.deployment]),
  ].filter(([, d]) => d);
  const seen = new Set();
  return known.filter(([, d]) => !seen.has(d.config_id) && seen.add(d.config_id));
}

const gain = (g) => (g ? [times(g.estimate), el("small", {}, `${times(g.low)} to ${times(g.high)}`)] : null);

function contenders(v) {
  if (!v.contenders.length) return null;
  const rows = v.contenders.map((c) => [
    [String(c.rank), " ", c.deployment?.config_id === v.best?.config_id ? badge("best", "good") : null],
    el("span", { class: "mono" }, c.deployment?.config_id), or(c.expected, (x) => [figure(x, v.unit), el("small", {}, c.tuning_nodes === null ? "" : `from ${c.tuning_nodes} nodes`)]),
    or(c.deployment?.mean, (x) => figure(x, v.unit)), or(gain(c.gain), (x) => x), or(c.probability_beats_default, (x) => percent(x)),
    or(c.instability_upper_bound, (x) => `≤ ${percent(x)}`), c.refused ?? "",
  ]);
  return el(
    "section",
    { class: "card" },
    el("div", { class: "card-head" }, el("h2", {}, "Contenders"), el("p", { class: "muted" }, "the few that the tuning promised most of; the fresh nodes decide")),
    plainTable(["Rank", "Config", "Promised", "On fresh nodes", "Against the default", "Surely better", "Bad on", "Cannot ship because"], rows, [2, 3, 4, 5, 6]),
  );
}

function figures(v) {
  const rows = deployments(v).map(([name, d]) => [
    [name, el("small", { class: "mono" }, d.config_id)], or(d.mean, (x) => figure(x, v.unit)), or(d.worst, (x) => figure(x, v.unit)), or(d.cov, (x) => percent(x)),
    String(Object.keys(d.by_node).length), d.failures.length ? d.failures.join("; ") : "none",
  ]);
  return plainTable(["Config", "Mean", "Worst", "CoV over nodes", "Fresh nodes", "Failures"], rows, [1, 2, 3, 4]);
}

function strips(place, v) {
  const found = deployments(v);
  draw(place, () => [
    found.map(([name, d], i) => {
      const points = Object.entries(d.by_node).flatMap(([node, values]) => values.map((value) => [node, value]));
      return {
        type: "box", name: plain(name), y: points.map((p) => p[1]), text: points.map((p) => plain(p[0])), boxpoints: "all", jitter: 0.5, pointpos: 0, fillcolor: "rgba(0,0,0,0)",
        line: { color: colour("line-strong"), width: 1 }, marker: { color: name === "Best" ? colour("best") : name === "Default" ? colour("default") : SERIES[i % SERIES.length], size: 8 }, hovertemplate: "%{text}: %{y}<extra></extra>",
      };
    }),
    { showlegend: false, yaxis: { title: { text: plain(`${v.metric} (${v.unit})`) } } },
  ]);
}

function copyable(fragment) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(fragment.text);
      toast("Copied.");
    } catch {
      toast("The browser does not let this frame copy: select the text.");
    }
  };
  return el("section", { class: "card" }, el("div", { class: "card-head" }, el("h2", {}, `For ${fragment.file}`), el("button", { type: "button", onclick: copy }, "Copy")), el("pre", {}, fragment.text));
}

function card(v, earlier) {
  const chart = el("div", { class: "chart" });
  const bound = or(v.instability_upper_bound, (x) => `≤ ${percent(x)}`);
  fill(
    $("card"),
    el(
      "section",
      { class: `card ruling ${v.ship ? "ship" : "keep"}` },
      el("div", { class: "word" }, v.ship ? "Ship" : "Do not ship"),
      el("p", { class: "sentence" }, v.sentence ?? ""),
      v.stopped && el("p", { class: "muted" }, `The run ended: ${v.stopped}.`),
    ),
    ...v.warnings.map((warning) => el("div", { class: "notice warn" }, warning)),
    el(
      "section",
      { class: "tiles" },
      tile("Against the default", or(v.gain, (g) => times(g.estimate)), `${interval(v)}${v.min_gain ? `; ships above ${times(v.min_gain)}` : ""}`),
      tile("Probability of beating the default", or(v.probability_beats_default, (x) => percent(x)), "at all, on a node like the fresh ones"),
      tile("Share of nodes where it is bad", bound, v.confidence ? `at most, with ${percent(v.confidence, 0)} confidence` : ""),
      tile("Cost of the run", or(v.cost, cost), spent(v.cost)),
    ),
    el("section", { class: "card" }, el("div", { class: "card-head" }, el("h2", {}, "On fresh nodes"), el("p", { class: "muted" }, "nodes that had no part in choosing")), figures(v), chart),
    contenders(v),
    el("section", { class: "card" }, el("div", { class: "card-head" }, el("h2", {}, "What to change")), knobTable(v.knobs, ["Knob", "Default", "Best"])),
    v.fragment?.text && copyable(v.fragment),
    earlier.length ? el("section", { class: "card" }, el("h2", {}, "Earlier verdicts of this run"), el("ul", {}, earlier.map((said) => el("li", {}, said)))) : null,
  );
  if (deployments(v).some(([, d]) => Object.keys(d.by_node).length)) strips(chart, v);
  else chart.remove();
}

await follow((data, line) => {
  if (data.verdict) return card(data.verdict, data.earlier);
  const next = line.is_live ? "It is written when the best config and the default have run on fresh nodes." : "The run ended without one: see the failed tasks of its DAG run, or extend it.";
  return fill($("card"), el("div", { class: "empty" }, el("h2", {}, "No verdict yet"), el("p", {}, next), badge(line.state, line.is_live ? "live" : "")));
});
