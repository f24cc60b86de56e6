// Every trial with rung, verdict, score and reason.
import { $, badge, el } from "./dom.js";
import { figure, percent } from "./format.js";
import { follow } from "./run.js";
import { Table } from "./table.js";
import { openTrial } from "./trial.js";

let line = {};
let refresh = null;
const KINDS = { running: "live", "given up": "failed", waiting: "" };

const table = new Table($("table"), {
  title: "Trials",
  placeholder: "Filter by config, verdict, reason",
  kinds: (r) => r.state,
  open: (r) => openTrial(r.config, { unit: line.unit, mayEdit: line.may_edit, after: () => refresh?.() }),
  rowClass: (r) => (r.is_best ? "best" : r.is_default ? "default" : ""),
  sort: "index",
  down: true,
  columns: [
    { key: "index", title: "#", num: true, sort: (r) => r.index ?? -1, cell: (r) => (r.index === null ? "" : String(r.index)) },
    {
      key: "config", title: "Config", sort: (r) => r.config, text: (r) => `${r.config} ${r.is_best ? "best" : ""} ${r.is_default ? "default" : ""}`,
      cell: (r) => [el("span", { class: "mono" }, r.config), r.is_best && [" ", badge("best", "good")], r.is_default && [" ", badge("default", "")]].flat(),
    },
    { key: "state", title: "Verdict", sort: (r) => r.state, cell: (r) => badge(r.state, KINDS[r.state] ?? r.state) },
    { key: "rung", title: "Nodes", num: true, sort: (r) => r.rung, cell: (r) => (r.rung === null ? `${r.samples}` : `${r.samples} of ${r.rung}${r.is_capped ? ", capped" : ""}`) },
    { key: "score", title: "Score", num: true, sort: (r) => r.score, cell: (r) => figure(r.score, line.unit) },
    { key: "mean", title: "Mean", num: true, sort: (r) => r.mean, cell: (r) => figure(r.mean, line.unit) },
    { key: "worst", title: "Worst", num: true, sort: (r) => r.worst, cell: (r) => figure(r.worst, line.unit) },
    { key: "range", title: "Relative range", num: true, sort: (r) => r.relative_range, cell: (r) => percent(r.relative_range) },
    { key: "failures", title: "Failures", num: true, sort: (r) => r.failures, cell: (r) => (r.failures ? String(r.failures) : "") },
    { key: "reason", title: "Reason", wide: "long", sort: (r) => r.reason, cell: (r) => r.reason },
  ],
});

refresh = await follow((data, head) => {
  line = head;
  table.show(data.trials);
});
