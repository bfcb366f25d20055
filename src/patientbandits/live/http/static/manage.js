// What an admin may do, each asked twice: what it does, and whether one is sure.
import { change } from "./api.js";
import { card, html } from "./dom.js";

const dialog = document.querySelector("#question");

const activeArms = (experiment) =>
  experiment.arms.filter((arm) => !experiment.retired.includes(arm));

const choose = (arms) =>
  html("select", { name: "arm", "aria-label": "arm" },
    ...arms.map((arm) => html("option", { value: arm }, arm)));

function actions(experiment) {
  const { name, paused, closed, retired } = experiment;
  const outside = experiment.fallback ?? experiment.control;
  const active = activeArms(experiment);
  const found = [];
  found.push(paused ? {
    label: "Resume", changes: () => ({ paused: false }), verb: () => `resume ${name}`,
    words: "Visitors get decisions again.",
  } : {
    label: "Pause", changes: () => ({ paused: true }), verb: () => `pause ${name}`,
    words: "Nobody new: requests for a decision are answered with 409, but visitors who have an arm keep " +
      "it. Orders still count.",
  });
  if (closed === false) found.push({
    label: "Close", changes: () => ({ closed: true }), verb: () => `close ${name}`,
    words: "Visitors already in the experiment keep their arm, and their orders still count. " +
      "New visitors " +
      (outside ? `see ${outside} and are not counted.` : "are answered with 409."),
  });
  if (closed === true) found.push({
    label: "Reopen", changes: () => ({ closed: false }), verb: () => `reopen ${name}`,
    words: "New visitors join the experiment again.",
  });
  found.push({
    label: "Add an arm", field: () => html("input", { name: "arm", "aria-label": "name of the arm",
      placeholder: "name of the arm", maxlength: 200, required: true, autocomplete: "off" }),
    changes: (arm) => ({ add_arms: [arm] }), verb: (arm) => `add the arm ${arm}`,
    words: "The policy shows it from now on. An arm can be retired, not removed.",
  });
  if (active.length > 1) found.push({
    label: "Retire an arm", field: () => choose(active),
    changes: (arm) => ({ retire: [arm] }), verb: (arm) => `retire the arm ${arm}`,
    words: "Nobody is shown this arm any more. Its estimates stay, and its orders still count.",
  });
  if (retired.length > 0) found.push({
    label: "Restore an arm", field: () => choose(retired),
    changes: (arm) => ({ restore: [arm] }), verb: (arm) => `restore the arm ${arm}`,
    words: "Visitors are shown this arm again.",
  });
  return found;
}

function first(experiment, action, after) {
  const field = action.field?.();
  const go = (event) => {
    event.preventDefault();
    second(experiment, action, field?.value.trim(), after);
  };
  dialog.replaceChildren(html("form", { onsubmit: go },
    html("h3", {}, `${action.label}?`), html("p", {}, action.words), field ?? null,
    buttons("Continue")));
  if (!dialog.open) dialog.showModal();
}

function second(experiment, action, arm, after) {
  const told = html("p", { class: "wrong", role: "alert" });
  const go = async (event) => {
    event.preventDefault();
    try {
      await change(experiment.name, action.changes(arm));
      dialog.close();
      after();
    } catch (error) {
      told.textContent = error.message;
    }
  };
  dialog.replaceChildren(html("form", { onsubmit: go },
    html("h3", {}, "Are you sure?"), html("p", {}, `This will ${action.verb(arm)} now.`), told,
    buttons(`Yes, ${action.verb(arm)}`)));
}

const buttons = (words) => html("div", { class: "buttons" },
  html("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
  html("button", { class: "main" }, words));

export const manageCard = (experiment, after) =>
  card("Manage", "Every action asks twice. No change alters the history.",
    html("div", { class: "buttons", id: "manage" }, ...actions(experiment).map((action) =>
      html("button", { onclick: () => first(experiment, action, after) }, action.label))));
