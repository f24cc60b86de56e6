// What every page of a run has: its head, followed while the run lives, and the page's data whenever the log has grown.
import { airflowRoot, get, part, repeat } from "./api.js";
import { act, offer } from "./actions.js";
import { $, airflow, el, fill, toast } from "./dom.js";
import { DASH, duration, figure, moment, number, times } from "./format.js";

const head = $("head");
export const run = { dag: head.dataset.dag, id: head.dataset.run, page: head.dataset.page };
export const here = `dags/${part(run.dag)}/runs/${part(run.id)}`;
const LIVE_S = 3;
const REST_S = 15;

export const KINDS = {
  preparing: "live", default: "live", tuning: "live", validating: "live",
  ship: "good", "do not ship": "unstable", stopped: "", failed: "failed", ended: "",
};

const fact = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
const shown = (config, unit) =>
  config ? [figure(config.value, unit), " ", el("small", {}, `${number(config.low)} … ${number(config.high)} on ${config.nodes}`)] : DASH;

export function progress(line) {
  const share = Math.min(1, line.samples / Math.max(1, line.limit));
  return [el("progress", { max: "1", value: String(share), "aria-label": "Samples taken" }), " ", `${line.samples} / ${line.limit}`];
}

// Scores that are computed again after an exclusion: how many are left; who may act can have them gone on with.
const isBusy = (line) => line.is_live || line.is_settling;

function scoring(line, refresh) {
  if (line.is_settling) return el("div", { class: "notice", id: "settling" }, line.due ? `Scoring again: ${line.due} left.` : "Scoring again: the verdict is next.");
  if (!line.due || line.is_live) return null;
  const again = el("button", { type: "button", onclick: () => act("settle", {}, "They are scored again.", refresh) }, "Score them now");
  return el("div", { class: "notice warn" }, `${line.due} rungs lost samples and are not scored again yet. ${line.fault ?? ""} `, line.may_edit && again);
}

function showHead(line, refresh) {
  $("title").textContent = line.title || line.campaign;
  const state = $("state");
  state.hidden = false;
  state.textContent = line.state;
  state.className = `badge ${KINDS[line.state] ?? ""}`;
  fill(
    $("facts"),
    fact("Samples", ...progress(line)),
    fact("Time", `${duration(line.hours * 3600)} of ${number(line.hours_limit)} h`),
    line.is_live && fact("Left", duration(line.left_s)),
    line.cost !== null && fact("Cost", line.cost_limit === null ? number(line.cost) : `${number(line.cost)} of ${number(line.cost_limit)}`),
    fact("Best", shown(line.best, line.unit)),
    fact("Default", shown(line.default, line.unit)),
    fact("Gain so far", times(line.gain)),
    fact("Trials", String(line.trials), " ", el("small", {}, `${line.unstable} unstable, ${line.failed} failed`)),
    line.dag_run_id && fact("Airflow", airflow(`${airflowRoot}/dags/${part(line.campaign)}/runs/${part(line.dag_run_id)}`, "DAG run")),
    line.imported_from && fact("Imported from", line.imported_from),
    line.stop && fact("Stopped", line.stop),
  );
  const isTold = ["night", "verdict"].includes(run.page); // these two say it themselves
  fill($("warnings"), scoring(line, refresh), isTold ? [] : line.moved.map((one) => el("div", { class: "notice warn" }, one.sentence)));
}

async function chooser() {
  const { runs } = await get(`dags/${part(run.dag)}/runs`);
  const list = $("runs");
  const name = (each) => (each.logical_date ? each.logical_date.slice(0, 16).replace("T", " ") : moment(each.opened_at));
  fill(list, runs.map((each, i) => el("option", { value: each.run, selected: each.run === run.id }, `${name(each)}${i ? "" : " (latest)"}`)));
  list.value = run.id;
  list.onchange = () => { location.href = `../${part(list.value)}/${part(run.page)}`; };
}

function problem(error) {
  const place = $("problem");
  place.hidden = !error;
  place.textContent = error ? error.message : "";
  if (error) $("loading").hidden = true;
}

// render(data, line) is called with the page's data when it is new; refresh() asks at once, after an action say.
export async function follow(render) {
  let seen = null;
  let state = null;
  const look = async () => {
    try {
      const line = await get(`${here}/line`);
      showHead(line, look);
      if (line.state !== state) {
        if (state !== null) toast(`${line.title || line.campaign}: ${line.state}`);
        state = line.state;
        offer(line, look);
      }
      if (line.last_n !== seen) {
        const data = await get(`${here}/pages/${part(run.page)}`);
        seen = line.last_n;
        $("loading").hidden = true;
        $("body").hidden = false;
        render(data, line);
      }
      problem(null);
      return line;
    } catch (error) {
      problem(error);
      throw error;
    }
  };
  const first = await look().catch(() => null);
  chooser().catch(problem);
  const again = () => repeat(async () => { const line = await look(); if (!isBusy(line)) { setTimeout(rest, 0); return false; } return true; }, LIVE_S);
  const rest = () => repeat(async () => { const line = await look(); if (isBusy(line)) { setTimeout(again, 0); return false; } return true; }, REST_S);
  (first && !isBusy(first) ? rest : again)();
  return look;
}

// Tabs by the keyboard: the arrows go to the next page.
document.querySelector(".tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const links = [...event.currentTarget.querySelectorAll("a")];
  links[(links.indexOf(document.activeElement) + step + links.length) % links.length].focus();
});
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
