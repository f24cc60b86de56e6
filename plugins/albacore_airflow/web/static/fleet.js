// All campaigns at a glance.
import { get, part, repeat, root } from "./api.js";
import { $, badge, el } from "./dom.js";
import { DASH, duration, figure, moment, number, times } from "./format.js";
import { Table } from "./table.js";

const KINDS = {
  preparing: "live", default: "live", tuning: "live", validating: "live",
  ship: "good", "do not ship": "unstable", failed: "failed",
};
const address = (row) => (row.last ? `${root}/dags/${part(row.campaign)}/runs/${part(row.last.run)}/convergence` : `${root}/dags/${part(row.campaign)}`);
const spread = (config, unit) => (config ? [figure(config.value, unit), el("small", {}, `${number(config.low)} … ${number(config.high)}, ${config.nodes} nodes`)] : DASH);
const state = (row) => row.last?.state ?? "no run yet";

const table = new Table($("table"), {
  title: "Latest run of each campaign",
  placeholder: "Filter campaigns",
  kinds: state,
  open: (row) => { location.href = address(row); },
  columns: [
    {
      key: "campaign", title: "Campaign", wide: "name", sort: (r) => r.title, text: (r) => `${r.title} ${r.campaign}`,
      cell: (r) => [el("a", { href: address(r) }, r.title), el("small", {}, `${r.campaign}${r.has_dag ? "" : " · no DAG here"}${r.is_paused ? " · paused" : ""} · ${r.runs} run${r.runs === 1 ? "" : "s"}`), r.last && el("small", {}, moment(r.last.opened_at))],
    },
    { key: "state", title: "State", sort: state, cell: (r) => [badge(state(r), KINDS[state(r)] ?? ""), (r.last?.moved ?? []).map((one) => [" ", el("span", { class: "badge unstable", title: one.sentence }, `${one.what} moved`)])] },
    {
      key: "progress", title: "Samples", sort: (r) => r.last && r.last.samples / r.last.limit,
      cell: (r) => r.last && [el("progress", { max: "1", value: String(Math.min(1, r.last.samples / r.last.limit)), "aria-label": "Samples taken" }), el("small", {}, `${r.last.samples} / ${r.last.limit}`)],
    },
    { key: "best", title: "Best", num: true, sort: (r) => r.last?.best?.value, cell: (r) => spread(r.last?.best, r.last?.unit) },
    { key: "default", title: "Default", num: true, sort: (r) => r.last?.default?.value, cell: (r) => spread(r.last?.default, r.last?.unit) },
    { key: "gain", title: "Gain so far", num: true, sort: (r) => r.last?.gain, cell: (r) => times(r.last?.gain) },
    { key: "unstable", title: "Unstable", num: true, sort: (r) => r.last?.unstable, cell: (r) => (r.last ? `${r.last.unstable} of ${r.last.trials}` : DASH) },
    { key: "left", title: "Time left", num: true, sort: (r) => r.last?.left_s, cell: (r) => (r.last?.is_live ? duration(r.last.left_s) : DASH) },
    { key: "verdict", title: "Last verdict", wide: "verdict", sort: (r) => r.last?.verdict, cell: (r) => (r.last?.verdict ? el("div", { class: "clamp", title: r.last.verdict }, r.last.verdict) : el("span", { class: "muted" }, "none yet")) },
  ],
});

async function look() {
  try {
    const found = await get("fleet");
    $("loading").hidden = true;
    $("body").hidden = false;
    $("problem").hidden = found.store !== "old";
    if (found.store === "old") $("problem").textContent = "The store was made by an earlier version. The next campaign run brings it up to date.";
    $("empty").hidden = found.campaigns.length > 0;
    $("table").hidden = found.campaigns.length === 0;
    const live = found.campaigns.filter((row) => row.last?.is_live).length;
    $("count").textContent = `${found.campaigns.length} campaigns, ${live} running`;
    table.show(found.campaigns);
  } catch (error) {
    $("loading").hidden = true;
    $("problem").hidden = false;
    $("problem").textContent = error.message;
    throw error;
  }
  return true;
}

await look().catch(() => null);
repeat(look, 5);
