// What each node does to the figures, how that drifts, which nodes are quarantined, and which samples do not count.
import { act } from "./actions.js";
import { $, badge, el, fill } from "./dom.js";
import { local, moment, number, percent } from "./format.js";
import { SERIES, clear, colour, draw, plain } from "./plot.js";
import { follow } from "./run.js";
import { Table, plainTable } from "./table.js";

let data = null;
let line = null;
let refresh = null;

const table = new Table($("table"), {
  title: "Nodes",
  placeholder: "Filter nodes",
  kinds: (r) => r.role,
  columns: [
    { key: "node", title: "Node", sort: (r) => r.node, cell: (r) => [r.node, r.is_quarantined && [" ", badge("quarantined", "failed")]].flat() },
    { key: "role", title: "For", sort: (r) => r.role, cell: (r) => r.role },
    { key: "host", title: "Host", sort: (r) => r.host, cell: (r) => r.host },
    { key: "cores", title: "Cores", num: true, sort: (r) => r.facts?.cores, cell: (r) => number(r.facts?.cores) },
    { key: "ram", title: "Memory", num: true, sort: (r) => r.facts?.ram_bytes, cell: (r) => (r.facts?.ram_bytes ? `${number(r.facts.ram_bytes / 2 ** 30, 3)} GiB` : "–") },
    { key: "samples", title: "Samples", num: true, sort: (r) => r.samples, cell: (r) => String(r.samples ?? 0) },
    { key: "effect", title: "Effect", num: true, sort: (r) => r.effect, cell: (r) => (r.effect === null || r.effect === undefined ? "not measured" : [percent(r.effect), el("small", {}, r.low === null ? "" : `${percent(r.low)} … ${percent(r.high)}`)]) },
    { key: "failures", title: "Failures", num: true, sort: (r) => r.failures, cell: (r) => (r.failures ? `${r.failures}, ${r.node_failures} its own` : "") },
  ],
});

function effects() {
  const rows = data.nodes.filter((r) => r.effect !== null && r.effect !== undefined);
  if (!rows.length) {
    return clear($("effects"), el("p", { class: "empty" }, "Not measured yet: a node's effect needs stable configs on three nodes or more."));
  }
  return draw($("effects"), () => [
    [
      {
        type: "scatter", mode: "markers", x: rows.map((r) => plain(r.node)), y: rows.map((r) => 100 * r.effect),
        error_y: { type: "data", symmetric: false, array: rows.map((r) => (r.high === null ? 0 : 100 * (r.high - r.effect))), arrayminus: rows.map((r) => (r.low === null ? 0 : 100 * (r.effect - r.low))), color: colour("muted"), thickness: 1.4 },
        marker: { size: 9, color: rows.map((r) => colour(r.is_quarantined ? "failed" : "stable")), symbol: rows.map((r) => (r.is_quarantined ? "x" : "circle")) },
        text: rows.map((r) => plain(`${r.deviations} samples`)), hovertemplate: "%{x}: %{y:.2f} %<br>%{text}<extra></extra>",
      },
    ],
    { xaxis: { type: "category" }, yaxis: { title: { text: "figure against the config's mean (%)" }, zeroline: true } },
  ]);
}

function drift() {
  const names = Object.keys(data.drift);
  if (!names.length) return clear($("drift"), el("p", { class: "empty" }, "Nothing to compare yet."));
  return draw($("drift"), () => {
    const chosen = $("which").value;
    const traces = names.flatMap((name, i) => {
      const found = data.drift[name];
      const own = SERIES[i % SERIES.length];
      const faded = chosen && chosen !== name;
      const points = {
        type: "scatter", mode: "markers", x: found.hours, y: found.deviation.map((d) => 100 * d), legendgroup: name, showlegend: false,
        text: found.config.map((config) => plain(`${name}, ${config}`)), hovertemplate: "%{y:.2f} %<br>%{text}<extra></extra>",
        marker: { color: own, size: 5, opacity: 0.6 }, visible: !faded,
      };
      const median = {
        type: "scatter", mode: "lines", x: found.hours, y: found.median.map((d) => 100 * d), name: plain(name), legendgroup: name,
        line: { color: faded ? colour("line-strong") : own, width: faded ? 1 : 2 }, hoverinfo: "skip",
      };
      return chosen ? [points, median] : [{ ...points, marker: { ...points.marker, opacity: 0.25, size: 4 } }, median];
    });
    return [traces, { xaxis: { title: { text: "hours since the run was opened" }, rangemode: "tozero" }, yaxis: { title: { text: "away from the config's mean (%)" } } }];
  });
}

function quarantine() {
  const lost = data.nodes.filter((r) => r.evidence?.length);
  const said = (e) => (e.log ? [e.message, el("details", {}, el("summary", {}, "evidence"), el("pre", {}, e.log))] : e.message);
  const failures = lost.flatMap((r) => r.evidence.map((e) => ({ at: e.started_at, row: [r.node, moment(e.started_at), badge(e.blame, e.blame === "NodeFailure" ? "failed" : ""), e.config, said(e)] })));
  const looks = data.nodes.flatMap((r) => (r.looks ?? []).map((e) => ({ at: e.at, row: [r.node, moment(e.at), badge(e.is_readmitted ? "used again" : "stays out", e.is_readmitted ? "stable" : "failed"), "", e.why] })));
  const rows = [...failures, ...looks].sort((a, b) => a.at - b.at).map((e) => e.row);
  fill(
    $("quarantine"),
    el("div", { class: "card-head" }, el("h2", {}, "Quarantine and its evidence"), el("p", { class: "muted" }, `A node that failed ${data.quarantine_after ?? 2} times by itself gets no samples until it was looked at and found well.`)),
    rows.length ? plainTable(["Node", "When", "Who is to blame, or what was found", "Config", "What happened"], rows) : el("p", { class: "muted" }, "No failure on any node."),
  );
}

function exclusions() {
  const undo = (x) => el("button", { type: "button", onclick: () => act("undo-exclude", { exclusion: x.id }, `The samples of ${x.node} count again.`, refresh) }, "Undo");
  const rows = data.exclusions.map((x) => [x.node, moment(x.since), moment(x.until), String(x.samples), x.by, x.reason, x.is_in_force ? line.may_edit && undo(x) : badge("undone", "")]);
  fill($("excluded"), rows.length ? plainTable(["Node", "From", "To", "Samples", "By", "Reason", ""], rows, [3]) : el("p", { class: "muted" }, "Every sample counts."));
  const form = $("exclude");
  form.hidden = !line.may_edit;
  if (form.contains(document.activeElement)) return;
  const names = data.nodes.map((r) => r.node);
  fill(form.elements.node, names.map((name) => el("option", {}, name)));
  form.elements.since.value ||= local(line.opened_at);
  form.elements.until.value ||= local(line.opened_at + 3600 * line.hours + 1);
}

$("exclude").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData(event.currentTarget);
  const seconds = (name) => new Date(form.get(name)).getTime() / 1000;
  const body = { node: form.get("node"), since: seconds("since"), until: seconds("until"), reason: form.get("reason") };
  await act("exclude", body, `The samples of ${body.node} no longer count.`, refresh);
});
$("which").addEventListener("change", () => data && drift());

refresh = await follow((found, head) => {
  [data, line] = [found, head];
  $("basis").textContent = found.configs ? `From ${found.configs} stable configs on three nodes or more, with 95 % intervals.` : "";
  const now = $("which").value;
  fill($("which"), el("option", { value: "" }, "all nodes"), ...Object.keys(found.drift).map((name) => el("option", { value: name }, name)));
  $("which").value = now in found.drift ? now : "";
  table.show(found.nodes);
  effects();
  drift();
  quarantine();
  exclusions();
});
