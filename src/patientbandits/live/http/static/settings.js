// An experiment's settings in words.
import { card, html } from "./dom.js";
import { inWords, moment, percent } from "./format.js";

const POLICIES = {
  PatientThompson: "PatientThompson decides: it learns each arm's delays as it goes, and shows " +
    "an arm as often as it is probably the best.",
  GuardedThompson: "GuardedThompson decides: PatientThompson within the confidence region of a " +
    "guard.",
  Uniform: "Uniform decides: every arm is shown equally often.",
};

export function sentences(experiment, report) {
  const window = report.window === null ? null : inWords(report.window);
  const said = [
    POLICIES[experiment.policy.policy] ?? `${report.policy} decides.`,
    report.sticky
      ? "A visitor who comes back is shown the same arm, and counts once."
      : "A visitor who comes back is decided for anew, and counts again.",
    window ? `An order counts within ${window} of the decision it pays for.`
      : "An order counts however late it comes.",
    credit(report, window),
    worth(report),
    experiment.control ? `Arms are compared with ${experiment.control}.` : null,
    goals(experiment),
    ...shares(experiment),
    experiment.paused ? "It is paused: nothing is decided, orders still count." : null,
    experiment.closed
      ? "It is closed: no new visitors, known ones keep their arm, orders still count." : null,
    `It began on ${moment(experiment.created)}.`,
    orders(report),
  ];
  return said.filter(Boolean);
}

const credit = (report, window) => {
  const within = window ? ` of the ${window} before it` : "";
  if (report.credit === "every") return `An order pays for every decision${within}.`;
  return `An order pays for the visitor's ${report.credit} decision${within}.`;
};

const worth = (report) => {
  if (report.scale === 1 && !report.currency) return "What counts is whether a visitor converts.";
  const most = [report.scale.toLocaleString("en"), report.currency].filter(Boolean).join(" ");
  return `A visitor's orders add up, to at most ${most}.`;
};

const goals = (experiment) => {
  const [first, ...others] = experiment.goals;
  if (!first || others.length === 0) return null;
  const are = others.length > 1 ? "are" : "is";
  return `${first} decides; ${others.join(", ")} ${are} counted beside it.`;
};

function shares(experiment) {
  const kept = experiment.shares;
  if (!kept) return [];
  const floors = typeof kept.minimum === "number"
    ? `Every arm gets at least ${percent(kept.minimum, 1)} of the traffic.` : null;
  return [
    floors,
    kept.control ? `${experiment.control} gets ${percent(kept.control, 1)} of the traffic.` : null,
    kept.holdback
      ? `${percent(kept.holdback, 1)} of all visitors stay outside the experiment.` : null,
  ];
}

const orders = ({ orders: told }) => {
  if (!told) return null;
  const parts = [`${told.orders.toLocaleString("en")} orders were told by visitor`];
  if (told.retracted) parts.push(`${told.retracted.toLocaleString("en")} of them taken back`);
  if (told.unmatched) {
    parts.push(`${told.unmatched.toLocaleString("en")} of visitors for whom nothing was decided`);
  }
  return `${parts.join(", ")}.`;
};

export const settingsCard = (experiment, report) =>
  card("Settings", null,
    html("ul", { class: "plain" },
      ...sentences(experiment, report).map((text) => html("li", {}, text))));
