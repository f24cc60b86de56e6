// One trial in full, in a dialog: why its score is what it is.
import { get, part } from "./api.js";
import { requeue } from "./actions.js";
import { badge, el, outside, toast } from "./dom.js";
import { duration, figure, number, percent } from "./format.js";
import { here } from "./run.js";
import { plainTable } from "./table.js";

const head = (found) => (found.is_default ? "Default config" : `Config ${found.config}`);

export const knobTable = (knobs, titles = ["Knob", "Default", "This config"]) =>
  knobs.length
    ? plainTable(
        titles,
        knobs.map((k) => [
          [k.doc ? outside(k.doc, k.name) : k.name, k.safety === "denied" && [" ", badge("risks data", "failed")], k.why && el("small", {}, k.why)],
          el("span", { class: "mono" }, k.default), el("b", { class: "mono" }, k.value ?? k.best),
        ]),
      )
    : el("p", { class: "muted" }, "It is the default in every knob.");

function judgement(j, unit) {
  return el(
    "section",
    {},
    el("h3", {}, `${j.rung} node${j.rung === 1 ? "" : "s"} `, badge(j.stability), ` told ${j.score === null ? "nothing" : figure(j.score, unit)}`),
    el("ul", { class: "reasons" }, j.reasons.map((reason) => el("li", {}, reason))),
    plainTable(["Node", "Measured", "Adjusted", "Moved by"], j.nodes.map((node, i) => [node, figure(j.raw[i], unit), figure(j.adjusted[i], unit), j.raw[i] ? percent(j.adjusted[i] / j.raw[i] - 1) : "–"]), [1, 2, 3]),
  );
}

const failure = (f) =>
  el("section", {}, el("h3", {}, badge(f.blame, "failed"), ` on ${f.node || "no node"}, ${f.is_told ? "told" : "not told"}`), el("p", {}, f.message), f.log && el("pre", {}, f.log));

// Open the dialog of a config; mayEdit adds the button that has it measured again.
export async function openTrial(config, { unit = "", mayEdit = false, after } = {}) {
  let found;
  try {
    found = await get(`${here}/trials/${part(config)}`);
  } catch (error) {
    return toast(error.message);
  }
  const dialog = el("dialog", { class: "wide", onclose: () => dialog.remove() });
  dialog.append(
    el("h2", { class: "mono" }, head(found)),
    el("section", {}, el("h3", {}, "What it sets"), knobTable(found.knobs)),
    ...found.judgements.map((j) => judgement(j, unit)),
    ...(found.plans.length ? [el("section", {}, el("h3", {}, "Plans that differ between nodes"), el("pre", {}, found.plans.join("\n")))] : []),
    ...found.failures.map(failure),
    el(
      "section",
      {},
      el("h3", {}, "Samples"),
      found.samples.length
        ? plainTable(["Node", "Measured", "After", "Took"], found.samples.map((s) => [s.node, figure(s.value, unit), `${number(s.hours, 3)} h`, duration(s.duration_s)]), [1, 2, 3])
        : el("p", { class: "muted" }, "None yet."),
    ),
    el(
      "div",
      { class: "buttons" },
      mayEdit && el("button", { type: "button", onclick: async () => { if (await requeue(config, after)) dialog.close(); } }, "Measure again"),
      el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close"),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
