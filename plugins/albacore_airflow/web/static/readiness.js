// What the noise of this fleet means for the next campaign, by the default's repeats in the validation.
import { $, el, fill } from "./dom.js";
import { percent } from "./format.js";
import { follow } from "./run.js";
import { plainTable } from "./table.js";

const NAMES = { node: "from node to node", time: "from round to round", residual: "the rest", total: "one sample" };
const tile = (name, figure, what) => el("div", { class: "tile" }, el("div", { class: "muted" }, name), el("div", { class: "figure" }, figure), el("div", { class: "muted" }, what));
const span = (i, show) => `${show(i.low)} to ${show(i.high)}`;
const amount = (value) => value.toFixed(1);
const share = (value) => percent(value, 1);

function tiles(found) {
  const needed = found.needed === null ? "over 60" : String(found.needed);
  fill(
    $("tiles"),
    tile("Nodes that find it with 95 %", needed, `a config that is ${percent(found.unstable.loss)} slower on ${percent(found.unstable.share)} of the nodes`),
    tile("Threshold", found.suggested.toFixed(2), "at most 1 % false alarms on the highest rung"),
    tile("Samples per node", String(found.repeats), `to find a difference of ${percent(found.gain)} on the highest rung`),
  );
}

function tables(found) {
  $("basis").textContent = `${found.nodes} nodes, ${found.rounds} rounds of the default; standard deviations, 95 % intervals`;
  fill($("components"), plainTable(["Part", "Deviation", "95 % interval"], found.components.map((c) => [NAMES[c.name] ?? c.name, share(c.estimate), span(c, share)])));
  $("target").textContent = `threshold ${found.threshold.toFixed(2)}, as this campaign has it`;
  fill($("chances"), plainTable(["Nodes", "Finds it", "Calls a stable one unstable"], found.chances.map((c) => [String(c.nodes), percent(c.found), percent(c.alarms, 1)])));
  $("plan").textContent = `${found.samples} samples, as long as those of the validation`;
  const rows = [["hours", found.hours], ["node-hours", found.node_hours], ["cost", found.cost]].filter(([, i]) => i);
  fill($("bill"), plainTable(["", "Estimate", "95 % interval"], rows.map(([name, i]) => [name, amount(i.estimate), span(i, amount)])));
}

await follow((data) => {
  if (!data.found) {
    for (const id of ["basis", "target", "plan"]) $(id).textContent = "";
    fill($("tiles"), el("p", { class: "empty" }, data.why));
    for (const id of ["components", "chances", "bill"]) fill($(id));
    return;
  }
  tiles(data.found);
  tables(data.found);
});
