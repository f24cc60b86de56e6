// What a user with the permission to edit the DAG may do with the run: a button, a dialog that says what follows, a POST.
import { part, post } from "./api.js";
import { $, el, fill, toast } from "./dom.js";

const head = $("head");
const where = `dags/${part(head.dataset.dag)}/runs/${part(head.dataset.run)}/actions`;

// Do an action, and say how it went; true when it was done. Scoring again takes a while: meanwhile nothing else is asked for.
export async function act(name, body, done, after) {
  const buttons = [...document.querySelectorAll("button")].filter((button) => !button.disabled);
  for (const button of buttons) button.disabled = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    await post(`${where}/${name}`, body);
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

const extend = (line, after) =>
  ask(
    "Change the limits",
    "New totals, written into the log. A run that has ended goes on in a DAG run of its own.",
    [
      el("label", {}, "Samples", el("input", { name: "samples", type: "number", min: "1", step: "1", value: String(line.limit) })),
      el("label", {}, "Hours", el("input", { name: "hours", type: "number", min: "0", step: "any", value: String(line.hours_limit) })),
    ],
    "Change",
    false,
    (form) => {
      const body = {};
      if (Number(form.get("samples")) !== line.limit) body.samples = Number(form.get("samples"));
      if (Number(form.get("hours")) !== line.hours_limit) body.hours = Number(form.get("hours"));
      return act("extend", body, "The limits are changed.", after);
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
