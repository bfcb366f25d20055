// The verdict at the top: the leading arm, the expected loss of stopping now, the days left.
import { card, html, swatch } from "./dom.js";
import { inWords, moment, percent, signed } from "./format.js";

const LEADS = 0.8; // as in the verdict of `analyse`

const tile = (value, words) =>
  html("div", { class: "tile" }, html("b", {}, value), html("span", {}, words));

function tiles(verdict, control, units) {
  const row = [
    tile(verdict.leader, verdict.probability >= LEADS ? "leads" : "is ahead, but not clearly"),
    tile(percent(verdict.probability, 0), "probability of being the best arm"),
  ];
  if (verdict.lift !== null) {
    const range = `${signed(verdict.lift_low)} to ${signed(verdict.lift_high)}`;
    row.push(tile(signed(verdict.lift), `over ${control} (95 %: ${range})`));
  }
  const loss = verdict.by === "revenue"
    ? units.amount(verdict.expected_loss) : inPoints(verdict.expected_loss);
  row.push(tile(loss, `per ${units.who} lost on average by stopping now`));
  row.push(tile(...daysLeft(verdict)));
  return html("div", { class: "tiles" }, ...row);
}

const inPoints = (rate) =>
  (100 * rate < 0.01 ? "< 0.01 points" : `${(100 * rate).toFixed(2)} points`);

function daysLeft({ days_left: left, days_left_low: low, days_left_high: high }) {
  if (left === null) return ["> 365", "days left"];
  if (left === 0) return ["0", "days left: safe to stop now"];
  const end = (days) => (days === null ? "over 365" : Math.round(days));
  const range = `${end(low)} to ${end(high)}`;
  return [`${Math.round(left)}`, `days left (80 %: ${range})`];
}

const certainty = (verdict) => {
  if (verdict.by !== "rate") return null;
  return verdict.certain
    ? `The always-valid intervals, which hold however often you look, leave only ${verdict.leader}.`
    : "The always-valid intervals, which hold however often you look, do not exclude the " +
      "others yet.";
};

export function verdictCard(analysis, units, failure) {
  if (failure) {
    return html("section", { class: "card verdict waiting", id: "verdict" },
      `No verdict at the moment: ${failure}`);
  }
  if (!analysis) {
    return html("section", { class: "card verdict waiting", id: "verdict" },
      "Computing the verdict …");
  }
  const { verdict, control, time } = analysis;
  const done = !verdict.too_early && verdict.days_left === 0;
  const kind = verdict.too_early ? "early" : done ? "done" : "open";
  const compared = verdict.leader !== null && !verdict.too_early && analysis.arms.length > 1;
  return html("section", { class: `card verdict ${kind}`, id: "verdict" },
    html("p", { class: "words" }, `${verdict.words}.`),
    compared ? tiles(verdict, control, units) : null,
    html("p", { class: "soft" }, [compared ? certainty(verdict) : null, `As of ${moment(time)}.`]
      .filter(Boolean).join(" ")));
}

// The winner by each window.
export function windowsCard(analysis, arms) {
  const rows = analysis?.windows ?? [];
  if (rows.length < 2) return null;
  const names = rows[0].arms.map((arm) => arm.arm);
  const place = (name) => arms.find((arm) => arm.arm === name)?.place ?? 0;
  const head = html("tr", {}, html("th", {}, "window"), html("th", {}, "winner"),
    html("th", {}, "probability"), html("th", { class: "brief" }, "catches"),
    ...names.map((name) => html("th", { class: "each", title: name }, swatch(place(name)), name)));
  const body = rows.map((row) => html("tr", { class: windowClass(row) },
    html("td", {}, windowName(row)),
    html("td", { class: row.sure ? null : "soft" }, row.sure ? row.leader : "open"),
    html("td", {}, percent(row.probability, 0)),
    html("td", { class: "brief" }, caughtRange(row)),
    ...row.arms.map((arm) => html("td", { class: "each" }, percent(arm.caught, 0)))));
  const section = card("Which window?", flips(rows),
    html("p", { class: "soft" }, "The arm that would have won with each window, " +
      "by what the verdict goes by and from data alone, and the share that it catches of each arm."),
    html("table", { class: `windows${names.length > 3 ? " many" : ""}` },
      html("thead", {}, head), html("tbody", {}, ...body)));
  section.classList.add("whole");
  return section;
}

function caughtRange(row) {
  const shares = row.arms.map((arm) => Math.round(100 * arm.caught));
  const low = Math.min(...shares), high = Math.max(...shares);
  return low === high ? `${low} %` : `${low} – ${high} %`;
}

const windowName = (row) => inWords(row.window) + (row.in_use ? " (in use)" : "");
const windowClass = (row) =>
  [row.in_use ? "chosen" : null, row.flipped ? "flip" : null].filter(Boolean).join(" ") || null;

function flips(rows) {
  const sure = rows.filter((row) => row.sure);
  const flipped = [];
  sure.forEach((row, j) => {
    if (!row.flipped || j === 0) return;
    const before = sure[j - 1];
    flipped.push(`between ${inWords(before.window)} and ${inWords(row.window)} ` +
      "the lead passes from " +
      `${before.leader} to ${row.leader}`);
  });
  if (flipped.length) return `The answer depends on the window: ${flipped.join("; ")}.`;
  return "No two windows clearly name different winners.";
}
