// What a user with the permission to edit the DAG may do with the run: a button, a dialog that says what follows, a POST.
import { airflow, part, post } from "./api.js";
import { $, el, fill, toast } from "./dom.js";

const head = $("head");
const where = `dags/${part(head.dataset.dag)}/runs/${part(head.dataset.run)}/actions`;

// Do an action, and say how it went; true when it was done. Meanwhile nothing else is asked for.
export async function act(name, body, done, after, then) {
  const buttons = [...document.querySelectorAll("button")].filter((button) => !button.disabled);
  for (const button of buttons) button.disabled = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    await post(`${where}/${name}`, body);
    await then?.();
    toast(done);
    await after?.();
    return true;
  } catch (error) {
    toast(error.message);
    return false;
  } finally {
    for (const button of buttons) button.disabled = false;
    document.body.removeAttribute("aria-busy");
  }
}

function ask(title, text, fields, yes, isDanger, submit) {
  const close = () => dialog.remove();
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", {}, title),
    el("p", { class: "muted" }, text),
    el("div", { class: "fields" }, fields),
    el(
      "div",
      { class: "buttons" },
      el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      el("button", { type: "submit", class: isDanger ? "danger" : "primary" }, yes),
    ),
  );
  const dialog = el("dialog", { onclose: close }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await submit(new FormData(form))) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}

const stop = (after) =>
  ask(
    "Stop this run?",
    "No new trial is asked for. Trials in flight are finished, then the best config is validated and the verdict is written.",
    [el("label", { class: "grow" }, "Reason", el("input", { name: "reason", maxlength: "500" }))],
    "Stop",
    true,
    (form) => act("stop", { reason: form.get("reason") }, "The run stops asking.", after),
  );

// What a limit is called in the form, its value now, and the least step.
const limits = (line) =>
  [["samples", "Samples", line.limit, "1"], ["hours", "Hours", line.hours_limit, "any"], ["cost", "Cost", line.cost_limit, "any"]].filter(
    ([, , now]) => now !== null && now !== undefined,
  );

// A run that has ended goes on in a DAG run of its own; Airflow starts no task of a DAG that is off.
async function reopen(line) {
  const dag = await airflow.get(`dags/${part(line.campaign)}`);
  if (dag.is_paused) throw new Error(`The limits are changed, but the DAG ${line.campaign} is off: switch it on, then extend again.`);
  await airflow.post(`dags/${part(line.campaign)}/dagRuns`, { logical_date: null, conf: { extends: line.run } });
}

const extend = (line, after) =>
  ask(
    line.is_live ? "Change the limits" : "Extend this run",
    `New totals, written into the log.${line.is_live ? "" : " The run goes on in a DAG run of its own, and is validated again."}`,
    limits(line).map(([name, title, now, step]) => el("label", {}, title, el("input", { name, type: "number", min: "0", step, value: String(now) }))),
    line.is_live ? "Change" : "Extend",
    false,
    (form) => {
      const changed = limits(line).filter(([name, , now]) => Number(form.get(name)) !== now);
      const body = Object.fromEntries(changed.map(([name]) => [name, Number(form.get(name))]));
      return act("extend", body, line.is_live ? "The limits are changed." : "The run goes on.", after, line.is_live ? null : () => reopen(line));
    },
  );

export const requeue = (config, after) =>
  act("requeue", { config_id: config }, `${config} will be measured again.`, after);

// Show the buttons that make sense now; none without the permission.
export function offer(line, after) {
  const place = $("actions");
  place.hidden = !line.may_edit;
  fill(
    place,
    el("button", { type: "button", onclick: () => extend(line, after) }, line.is_live ? "Limits…" : "Extend…"),
    line.is_live && el("button", { type: "button", class: "danger", onclick: () => stop(after) }, "Stop…"),
  );
}
