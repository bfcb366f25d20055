// Pictures of one report, as wide as they are shown. Colours are classes a0..a7, by an arm's place.
import { colour, html, legend, svg } from "./dom.js";
import { clock, day, percent, span } from "./format.js";

const HEIGHT = 220;
const BOTTOM = HEIGHT - 24;
const LEFT = 46;
const NARROW = 430;
const FEWEST_EACH = 10;
const scale = (from, to, low, high) => (x) => low + ((x - from) / (to - from || 1)) * (high - low);
const short = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
const points = (pairs) => pairs.map((pair) => pair.map((v) => v.toFixed(1)).join(",")).join(" ");
const picture = (width, height, label, ...content) =>
  svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...content);

// Round numbers from 0 to the top, at most five steps.
const steps = (top) => {
  const size = 10 ** Math.floor(Math.log10(top || 1));
  const step = [0.2, 0.25, 0.5, 1, 2].map((k) => k * size).find((s) => top / s <= 5) ?? size;
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, j) => j * step);
};
const digitsOf = (top) => {
  const step = 100 * (steps(top)[1] ?? top);
  return [0, 1, 2].find((digits) => Math.abs(step - Number(step.toFixed(digits))) < 1e-9) ?? 3;
};

function across(values, y, width, label) {
  return values.flatMap((value) => [
    svg("line", { class: "axis", x1: LEFT, x2: width - 10, y1: y(value), y2: y(value) }),
    svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, label(value)),
  ]);
}

// Labels below an axis of time: those that do not touch, the first and the last kept.
function dates(times, x, width, words) {
  const most = Math.max(2, Math.floor((width - LEFT) / 110));
  const step = Math.max(1, Math.ceil((times.length - 1) / (most - 1)));
  const shown = times.filter((_, j) => j % step === 0);
  let end = -Infinity;
  return shown.flatMap((time) => {
    const text = words(time), wide = 6.2 * text.length;
    const place = Math.min(Math.max(x(time), LEFT + wide / 2 - 20), width - wide / 2 - 2);
    if (place - wide / 2 < end + 10) return [];
    end = place + wide / 2;
    return [svg("text", { x: place, y: HEIGHT - 6, "text-anchor": "middle" }, text)];
  });
}

// One row for each arm: its name beside the bar, or above it where there is little room.
function rowsOf(arms, width, draw) {
  const narrow = width < NARROW;
  
  const tall = narrow ? 46 : 34;
  const rows = arms.map((arm, j) => {
    const y = narrow ? 34 + tall * j : 20 + tall * j;
    const name = svg("text", { class: "name", x: 0, y: narrow ? y - 16 : y + 4 },
      short(arm.arm, narrow ? 44 : 18));
    return svg("g", { class: `${colour(arm.place)}${arm.retired ? " retired" : ""}` },
      name, ...draw(arm, y));
  });
  return { rows, bottom: 12 + tall * arms.length };
}

export function rates(arms, units, width) {
  const shown = arms.filter((arm) => arm.state === "known");
  if (shown.length === 0) return nothing(arms);
  const top = Math.max(...shown.map((arm) => Math.max(arm.high, arm.raw_rate ?? 0)), 1e-9) * 1.05;
  const x = scale(0, top, width < NARROW ? 14 : 142, width - 22);
  const draw = (arm, y) => [
    svg("line", { x1: x(arm.low), x2: x(arm.high), y1: y, y2: y, class: "band" }),
    svg("circle", { cx: x(arm.rate), cy: y, r: 6, fill: "currentColor" },
      svg("title", {}, `corrected ${units.amount(arm.rate)} (${units.range(arm.low, arm.high)})`)),
    svg("circle", { cx: x(arm.raw_rate ?? 0), cy: y, r: 5, class: "hollow" },
      svg("title", {}, `seen so far ${units.amount(arm.raw_rate)}`)),
  ];
  const { rows, bottom } = rowsOf(shown, width, draw);
  const label = (value) =>
    (units.paid ? `${Number(value.toPrecision(3))}` : percent(value, digitsOf(top)));
  const marks = steps(top).flatMap((value) => [
    svg("line", { class: "axis", x1: x(value), x2: x(value), y1: 6, y2: bottom }),
    svg("text", { x: x(value), y: bottom + 17, "text-anchor": "middle" }, label(value)),
  ]);
  return picture(width, bottom + 24, `${units.what} of each arm`, marks, rows);
}

const nothing = (arms) => html("p", {},
  arms.some((arm) => arm.state === "too early") ? "Too early." : "No data yet.");

export function matured(arms, width) {
  const shown = arms.filter((arm) => arm.state === "known" && arm.matured !== null);
  if (shown.length === 0) return nothing(arms);
  return bars(shown, (arm) => arm.matured, "share of conversions already seen", width);
}

function bars(arms, share, label, width) {
  const x = scale(0, 1, width < NARROW ? 4 : 136, width - 52);
  const bar = (y) => ({ x: x(0), y: y - 9, height: 18, rx: 4 });
  const draw = (arm, y) => [
    svg("rect", { ...bar(y), width: x(1) - x(0), class: "faint" }),
    svg("rect", { ...bar(y), width: Math.max(x(share(arm)) - x(0), 1), fill: "currentColor" }),
    svg("text", { x: x(1) + 8, y: y + 5 }, percent(share(arm), 0)),
  ];
  const { rows, bottom } = rowsOf(arms, width, draw);
  return picture(width, bottom, label, rows);
}

// Periods with too few decisions for a share go together with those that follow.
function periods(series, arms) {
  const enough = FEWEST_EACH * arms.length;
  const found = [];
  for (const time of [...new Set(series.map((row) => row.time))].sort()) {
    const rows = series.filter((row) => row.time === time && row.pulls > 0);
    if (rows.length === 0) continue;
    if (!found.length || found[found.length - 1].total >= enough) {
      found.push({ time, total: 0, pulls: new Map() });
    }
    const last = found[found.length - 1];
    for (const { arm, pulls } of rows) {
      last.total += pulls;
      last.pulls.set(arm, (last.pulls.get(arm) ?? 0) + pulls);
    }
  }
  if (found.length > 1 && found[found.length - 1].total < enough) found.pop(); // not over yet
  return found;
}

export function allocation(series, arms, width) {
  const shown = arms.filter((arm) => arm.pulls > 0);
  const slots = periods(series, shown);
  if (slots.length === 0) return html("p", {}, "No data yet.");
  const when = slots.map((slot) => Date.parse(slot.time));
  const x = scale(when[0], when[when.length - 1], LEFT, width - 14);
  const share = (slot, arm) => (slot.pulls.get(arm.arm) ?? 0) / slot.total;
  if (slots.length === 1) return bars(shown, (arm) => share(slots[0], arm), "share so far", width);
  const most = Math.max(...slots.flatMap((slot) => shown.map((arm) => share(slot, arm))));
  const top = Math.min(1, 1.1 * most);
  const y = scale(0, top, BOTTOM, 10);
  const lines = shown.map((arm) => {
    const way = slots.map((slot, j) => [x(when[j]), y(share(slot, arm))]);
    return svg("g", { class: colour(arm.place) }, svg("title", {}, arm.arm),
      svg("polyline", { points: points(way), class: "line" }));
  });
  const long = when[when.length - 1] - when[0] > 2 * 86400e3;
  const label = (time) => (long ? day(time) : `${day(time)} ${clock(time)}`);
  return html("div", {}, legend(shown), picture(width, HEIGHT, "share of decisions over time",
    across(steps(top), y, width, (value) => percent(value, digitsOf(top))), lines,
    dates(when, x, width, label)));
}

const ALWAYS = [3600, 86400, 604800, 2592000];
const OFTEN = [1, 10, 60, 600, 21600, 7776000, 31536000];

export function lag(curve, arms, width) {
  const seconds = curve.seconds, first = seconds[0], last = seconds[seconds.length - 1];
  const log = scale(Math.log(first), Math.log(last), LEFT, width - 22);
  const x = (s) => log(Math.log(s)), y = scale(0, 1, BOTTOM, 10);
  const point = (value, j) => [x(seconds[j]), y(value)];
  const placeOf = (name) => arms.find((arm) => arm.arm === name).place;
  const shown = curve.arms.map((one) => ({ ...one, place: placeOf(one.arm) }));
  const lines = shown.map((one) => svg("g", { class: colour(one.place) }, svg("title", {}, one.arm),
    svg("polygon", { points: points([...one.high.map(point), ...one.low.map(point).reverse()]),
      class: "faint" }),
    svg("polyline", { points: points(one.share.map(point)), class: "line" })));
  const kept = ALWAYS.filter((s) => s >= first && s <= last * 1.001);
  for (const s of OFTEN.filter((one) => one >= first && one <= last * 1.001)) {
    if (kept.every((other) => Math.abs(x(s) - x(other)) > 52)) kept.push(s);
  }
  const ticks = kept.flatMap((s) => [
    svg("line", { class: "axis", x1: x(s), x2: x(s), y1: 10, y2: BOTTOM + 4 }),
    svg("text", { x: x(s), y: HEIGHT - 6, "text-anchor": "middle" }, span(s)),
  ]);
  return html("div", {}, legend(shown), picture(width, HEIGHT, "share of conversions by delay",
    across([0, 0.5, 1], y, width, (value) => percent(value, 0)), ticks, lines));
}

// The decisions of each day or week: what came, and what is still expected of them.
export function maturing(rows, days, place, width) {
  const slots = new Map();
  for (const row of rows) {
    const sum = slots.get(row.day) ?? { decisions: 0, conversions: 0, expected: 0 };
    for (const name of Object.keys(sum)) sum[name] += row[name];
    slots.set(row.day, sum);
  }
  const times = [...slots.keys()].sort();
  if (times.length === 0) return html("p", {}, "No data yet.");
  const when = (time) => Date.parse(time) / 86400e3 / days;
  const count = when(times[times.length - 1]) - when(times[0]) + 1;
  const wide = (width - 14 - LEFT) / count;
  const x = (time) => LEFT + (when(time) - when(times[0])) * wide;
  const shares = [...slots.values()].map((one) => one.expected / one.decisions);
  const top = 1.05 * Math.max(...shares, 1e-9);
  const y = scale(0, top, BOTTOM, 10);
  const bars = times.map((time) => {
    const { decisions, conversions, expected } = slots.get(time);
    const bar = { x: x(time) + 0.1 * wide, width: Math.max(0.8 * wide, 1) };
    const came = y(conversions / decisions), all = y(expected / decisions);
    const words = `${conversions} of ${decisions} so far, ${expected.toFixed(1)} expected`;
    return svg("g", {}, svg("title", {}, `${day(time)}: ${words}`),
      svg("rect", { ...bar, y: all, height: BOTTOM - all, class: "coming" }),
      svg("rect", { ...bar, y: came, height: BOTTOM - came, fill: "currentColor" }));
  });
  return picture(width, HEIGHT, "conversions of each day's decisions",
    across(steps(top), y, width, (value) => percent(value, digitsOf(top))),
    svg("g", { class: place === null ? "all" : colour(place) }, bars),
    dates(times, (time) => x(time) + wide / 2, width, day));
}
