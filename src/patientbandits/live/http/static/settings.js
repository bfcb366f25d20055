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
    ...(experiment.policy.policy === "CalendarThompson" ? calendar(experiment)
      : [POLICIES[experiment.policy.policy] ?? `${report.policy} decides.`]),
    report.sticky
      ? "A visitor who comes back is shown the same arm, and counts once."
      : "A visitor who comes back gets a new decision, and counts again.",
    window ? `An order counts within ${window} of the decision it is credited to.`
      : "An order counts however late it comes.",
    credit(report, window),
    worth(report),
    experiment.control ? `Arms are compared with ${experiment.control}.` : null,
    goals(experiment),
    ...shares(experiment),
    experiment.paused ? "It is paused: no decisions are made, but orders still count." : null,
    experiment.closed ? closed(experiment) : null,
    experiment.owner ? `${experiment.owner} looks after it.` : null,
    `It started on ${moment(experiment.created)}.`,
    orders(report),
    quarantine(report),
  ];
  return said.filter(Boolean);
}

// Its defaults are those of the policy; a test compares them.
export const LEAST = { earn: 0.02, learn: 0.01, together: 0.2 };

const calendar = ({ policy, arms, retired = [] }) => {
  const usual = policy.earn ? LEAST.earn : LEAST.learn;
  const least = Math.min(policy.minimum ?? usual, LEAST.together / (arms.length - retired.length));
  return [
    "CalendarThompson decides: an arm's share is the probability that it is the best, at least " +
      `${percent(least, least < 0.01 ? 1 : 0)}. Arms are compared with those shown at the same ` +
      "time, so weekends, sales and growth do not make one look better.",
    policy.earn ? "It is set to earn: more sales now, less learned about the other arms." : null,
    policy.forget ? `What was seen counts half after ${inWords(policy.forget)}.` : null,
  ];
};

const credit = (report, window) => {
  const within = window ? ` of the ${window} before it` : "";
  if (report.credit === "every") return `An order is credited to every decision${within}.`;
  return `An order is credited to the visitor's ${report.credit} decision${within}.`;
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
  return `The goal ${first} drives the decisions; ${others.join(", ")} ${are} only counted.`;
};

function shares({ shares: kept, control, fallback }) {
  const outside = fallback ?? control;
  const { minimum, arms = {}, control: fixed, holdback, per_day: perDay } = kept ?? {};
  const part = (share) => percent(share, Math.abs(100 * share % 1) < 1e-9 ? 0 : 1);
  return [
    minimum ? `Every arm gets at least ${part(minimum)} of the traffic.` : null,
    ...Object.entries(arms).map(([arm, share]) => `${arm} gets at least ${part(share)}.`),
    fixed ? `${control} gets ${part(fixed)} of the traffic, always.` : null,
    holdback ? `${part(holdback)} of all visitors stay outside and see ${outside}.` : null,
    perDay ? `An arm's share changes by at most ${part(perDay)} a day.` : null,
  ];
}

const closed = ({ fallback, control }) => {
  const outside = fallback ?? control;
  const others = outside ? ` New visitors see ${outside} and are not counted.` : "";
  return `It is closed: visitors in it keep their arm, and their orders count.${others}`;
};

const count = (number, noun) =>
  `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

const orders = ({ orders: counts }) => {
  if (!counts) return null;
  const parts = [`${count(counts.orders, "order")} reported by visitor`];
  if (counts.unmatched) {
    parts.push(`${counts.unmatched.toLocaleString("en")} of them from visitors without a decision`);
  }
  if (counts.refunds) parts.push(count(counts.refunds, "refund"));
  if (counts.retracted) parts.push(`${count(counts.retracted, "order")} retracted`);
  return `${parts.join("; ")}.`;
};

const quarantine = ({ quarantine: rules = [] }) => {
  if (rules.length === 0) return null;
  return `${rules.length} quarantine ${rules.length > 1 ? "rules exclude" : "rule excludes"} ` +
    "events that were reported wrongly.";
};

export const settingsCard = (experiment, report) =>
  card("Settings", null,
    html("ul", { class: "plain" },
      ...sentences(experiment, report).map((text) => html("li", {}, text))));
