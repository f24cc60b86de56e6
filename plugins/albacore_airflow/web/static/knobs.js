// Which knobs the scores follow, and the best config against the default.
import { get } from "./api.js";
import { $, badge, el, fill, outside } from "./dom.js";
import { number } from "./format.js";
import { clear, colour, draw, plain } from "./plot.js";
import { follow, here } from "./run.js";
import { Table, plainTable } from "./table.js";

const MOST = 30;
const AGAIN_MS = 3000;
const name = (knob) => [knob.doc ? outside(knob.doc, knob.name) : knob.name, knob.safety === "denied" && [" ", badge("risks data", "failed")], knob.why && el("small", {}, knob.why)].flat();
const range = (k) => (k.choices.length ? k.choices.join(", ") : k.low === null ? "" : `${number(k.low)} … ${number(k.high)}${k.log ? ", log scale" : ""}${k.special.length ? `; also ${k.special.join(", ")}` : ""}`);

const space = new Table($("space"), {
  title: "All knobs of this run",
  placeholder: "Filter knobs",
  kinds: (k) => k.kind,
  columns: [
    { key: "name", title: "Knob", sort: (k) => k.name, cell: name },
    { key: "default", title: "Default", sort: (k) => k.default, cell: (k) => el("span", { class: "mono" }, k.default) },
    { key: "range", title: "May be", wide: "long", sort: range, cell: range },
    { key: "unit", title: "Unit", sort: (k) => k.unit, cell: (k) => k.unit },
    { key: "restart", title: "Needs a restart", sort: (k) => String(k.restart), cell: (k) => (k.restart ? "yes" : "no") },
  ],
});

function differences(data) {
  $("which").textContent = data.best ? `${data.best}, the best stable config so far` : "";
  const rows = data.differences.map((k) => [name(k), el("span", { class: "mono" }, k.default), el("b", { class: "mono" }, k.value), k.unit, k.restart ? "yes" : "no"]);
  const none = data.best ? "The best config is the default in every knob." : "No config was found stable yet.";
  fill($("differences"), rows.length ? plainTable(["Knob", "Default", "Best", "Unit", "Needs a restart"], rows) : el("p", { class: "muted" }, none));
}

function ranking(found) {
  const place = $("importance");
  if (found.state !== "ready") {
    $("basis").textContent = "";
    const why = found.state === "computing" ? "It is being computed, as soon as no sample runs on this host." : `Too few configs: it needs ${found.fewest} with a score.`;
    return clear(place, el("p", { class: "empty" }, why));
  }
  const shown = found.knobs.slice(0, MOST).reverse();
  const trust = found.explained <= 0 ? " The forest explains nothing yet: read no order into it." : ` The forest explains ${(100 * found.explained).toFixed(0)} % of the ranks of configs it has not seen.`;
  $("basis").textContent = `By permutation, from ${found.configs} configs.${trust}`;
  return draw(place, () => [
    [
      {
        type: "bar", orientation: "h", y: shown.map((k) => plain(k.knob)), x: shown.map((k) => k.mean), marker: { color: shown.map((k) => colour(k.low > 0 ? "stable" : "raw")) },
        error_x: { type: "data", symmetric: false, array: shown.map((k) => k.high - k.mean), arrayminus: shown.map((k) => k.mean - k.low), color: colour("muted"), thickness: 1.2 },
        hovertemplate: "%{y}: %{x:.3f}<extra></extra>",
      },
    ],
    { xaxis: { title: { text: "loss of R² when the knob is shuffled (95 % interval)" }, zeroline: true }, yaxis: { type: "category" }, margin: { l: 120, r: 16, t: 8, b: 44 } },
  ]);
}

async function importance() {
  const found = await get(`${here}/importance`);
  ranking(found);
  if (!found.is_current) setTimeout(() => importance().catch(() => null), AGAIN_MS);
}

await follow((data) => {
  differences(data);
  space.show(data.space);
  importance().catch(() => null);
});
