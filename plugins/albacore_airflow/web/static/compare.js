// Two policies over the same history: which choices change, and by how much.
import { get, part, root } from "./api.js";
import { $, badge, el, fill } from "./dom.js";
import { DASH, percent, times } from "./format.js";
import { colour, draw, plain } from "./plot.js";
import { Table } from "./table.js";

const dag = $("head").dataset.dag;
const gain = (side) => side.held_out ?? side.seen;
const config = (id) => el("span", { class: "mono" }, id ?? "none");
const change = (pair) => (pair.change === null ? null : pair.change - 1);
const address = (pair) => `${root}/dags/${part(dag)}/runs/${part(pair.run_id)}/convergence`;

const table = new Table($("table"), {
  title: "Run by run",
  placeholder: "Filter runs",
  kinds: (pair) => (pair.is_changed ? "another choice" : "the same choice"),
  open: (pair) => { location.href = address(pair); },
  columns: [
    { key: "date", title: "Date", sort: (p) => p.date, cell: (p) => p.date.slice(0, 10) },
    { key: "run", title: "Run", wide: "name", sort: (p) => p.title || p.run_id, text: (p) => `${p.title} ${p.run_id}`, cell: (p) => [el("a", { href: address(p) }, p.title || p.run_id), el("small", {}, p.run_id)] },
    { key: "a", title: "First policy chooses", sort: (p) => p.a.incumbent, cell: (p) => config(p.a.incumbent) },
    { key: "gain_a", title: "Gain", num: true, sort: (p) => gain(p.a), cell: (p) => times(gain(p.a)) },
    { key: "b", title: "Second chooses", sort: (p) => p.b.incumbent, cell: (p) => [config(p.b.incumbent), p.is_changed && [" ", badge("another")]].flat() },
    { key: "gain_b", title: "Gain", num: true, sort: (p) => gain(p.b), cell: (p) => times(gain(p.b)) },
    { key: "change", title: "Change", num: true, sort: change, cell: (p) => (p.change === null ? DASH : `${change(p) > 0 ? "+" : ""}${percent(change(p))}`) },
    { key: "unstable", title: "Unstable trials", num: true, sort: (p) => p.b.unstable - p.a.unstable, cell: (p) => `${p.a.unstable} → ${p.b.unstable}` },
  ],
});

function gains(found) {
  const trace = (side, name, mark) => ({
    type: "scatter", mode: "markers", name: plain(name), x: found.pairs.map((p) => plain(p.date.slice(0, 10))), y: found.pairs.map((p) => gain(p[side])),
    text: found.pairs.map((p) => plain(p.title || p.run_id)), marker: { size: 9, symbol: mark, color: colour(side === "a" ? "raw" : "stable") },
    hovertemplate: "%{text}<br>%{x}: %{y:.3f}×<extra></extra>",
  });
  return draw($("gains"), () => [
    [trace("a", found.a, "circle-open"), trace("b", found.b, "circle")],
    { xaxis: { type: "category" }, yaxis: { title: { text: "times as good as the default" } } },
  ]);
}

function summed(found) {
  const total = found.total && `Gain under ${found.b} over gain under ${found.a}: ${found.total.estimate.toFixed(3)} (${(100 * found.total.confidence).toFixed(0)} % interval ${found.total.low.toFixed(3)} to ${found.total.high.toFixed(3)}).`;
  const missing = Object.entries(found.missing).filter(([, runs]) => runs.length).map(([policy, runs]) => `${runs.length} runs are not re-scored under ${policy} yet.`);
  $("sum").textContent = [`The choice changes in ${found.changed} of ${found.pairs.length} runs.`, total, ...missing].filter(Boolean).join(" ");
}

async function show() {
  const [a, b] = [$("a").value, $("b").value];
  history.replaceState(null, "", `?a=${part(a)}&b=${part(b)}`);
  const { comparison } = await get(`dags/${part(dag)}/compare?a=${part(a)}&b=${part(b)}`);
  $("body").hidden = false;
  summed(comparison);
  table.show(comparison.pairs);
  await gains(comparison);
}

const safely = async (work) => {
  try {
    $("problem").hidden = true;
    await work();
  } catch (error) {
    $("problem").hidden = false;
    $("problem").textContent = error.message;
  }
  $("loading").hidden = true;
};

await safely(async () => {
  const { policies } = await get(`dags/${part(dag)}/compare`);
  const names = Object.keys(policies);
  $("empty").hidden = names.length > 1;
  if (names.length < 2) return;
  const asked = new URLSearchParams(location.search);
  for (const [id, preset] of [["a", names[0]], ["b", names[1]]]) {
    fill($(id), names.map((name) => el("option", { value: name }, `${name} (${policies[name]} runs)`)));
    $(id).value = names.includes(asked.get(id)) ? asked.get(id) : preset;
    $(id).addEventListener("change", () => safely(show));
  }
  await show();
});
