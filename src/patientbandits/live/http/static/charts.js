// Four pictures of one report. Each takes data and returns an <svg>; colours are classes a0..a7, by the arm's place.
import { percent, span, svg } from "./dom.js";

const WIDTH = 560;
const colour = (place) => `a${place % 8}`;
const scale = (from, to, low, high) => (x) => low + ((x - from) / (to - from || 1)) * (high - low);
const short = (name) => (name.length > 16 ? `${name.slice(0, 15)}…` : name);

const steps = (top) => {
  const size = 10 ** Math.floor(Math.log10(top || 1));
  const step = [0.2, 0.25, 0.5, 1, 2].map((k) => k * size).find((s) => top / s <= 5) ?? size;
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, j) => j * step);
};

export function rates(arms, amount) {
  const shown = arms.filter((arm) => arm.rate !== null);
  const height = 46 + 34 * shown.length;
  const top = Math.max(...shown.map((arm) => Math.max(arm.high, arm.raw_rate ?? 0)), 1e-9) * 1.05;
  const x = scale(0, top, 130, WIDTH - 20);
  const marks = steps(top).flatMap((value) => [
    svg("line", { class: "axis", x1: x(value), x2: x(value), y1: 8, y2: height - 26 }),
    svg("text", { x: x(value), y: height - 10, "text-anchor": "middle" }, amount(value, top < 0.05 ? 2 : top < 0.5 ? 1 : 0)),
  ]);
  const rows = shown.map((arm, j) => {
    const y = 24 + 34 * j;
    return svg("g", { class: colour(arm.place) },
      svg("text", { class: "name", x: 0, y: y + 4 }, short(arm.arm)),
      svg("line", { x1: x(arm.low), x2: x(arm.high), y1: y, y2: y, stroke: "currentColor", "stroke-width": 4, "stroke-linecap": "round", opacity: 0.45 }),
      svg("circle", { cx: x(arm.rate), cy: y, r: 6, fill: "currentColor" }, svg("title", {}, `corrected ${amount(arm.rate)} (${amount(arm.low)} to ${amount(arm.high)})`)),
      svg("circle", { cx: x(arm.raw_rate ?? 0), cy: y, r: 5, fill: "none", stroke: "currentColor", "stroke-width": 2 }, svg("title", {}, `seen so far ${amount(arm.raw_rate)}`)));
  });
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": "rate of each arm" }, marks, rows);
}

export function allocation(series, arms) {
  const height = 230, left = 46, bottom = height - 26;
  const times = [...new Set(series.map((row) => row.time))].sort();
  if (times.length === 0) return null;
  const x = scale(0, Math.max(times.length - 1, 1), left, WIDTH - 12), y = scale(0, 1, bottom, 10);
  const total = new Map(times.map((time) => [time, 0]));
  series.forEach((row) => total.set(row.time, total.get(row.time) + row.pulls));
  const lines = arms.map((arm) => {
    const pulls = new Map(series.filter((row) => row.arm === arm.arm).map((row) => [row.time, row.pulls]));
    const points = times.map((time, j) => [x(j), y((pulls.get(time) ?? 0) / (total.get(time) || 1))]).filter((_, j) => total.get(times[j]) > 0);
    return svg("g", { class: colour(arm.place) }, svg("title", {}, arm.arm),
      svg("polyline", { points: points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), fill: "none", stroke: "currentColor", "stroke-width": 2 }),
      points.length < 3 ? points.map(([cx, cy]) => svg("circle", { cx, cy, r: 4, fill: "currentColor" })) : []);
  });
  const marks = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    svg("line", { class: "axis", x1: left, x2: WIDTH - 12, y1: y(value), y2: y(value) }),
    svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, percent(value, 0)),
  ]);
  const label = (time) => time.slice(0, 16).replace("T", " ");
  const ends = [svg("text", { x: left, y: height - 8 }, label(times[0]))];
  if (times.length > 1) ends.push(svg("text", { x: WIDTH - 12, y: height - 8, "text-anchor": "end" }, label(times[times.length - 1])));
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": "share of decisions over time" }, marks, lines, ends);
}

export function lag(curve, arms) {
  const height = 230, left = 46, bottom = height - 26, seconds = curve.seconds;
  const x = (s) => scale(Math.log(seconds[0]), Math.log(seconds[seconds.length - 1]), left, WIDTH - 12)(Math.log(s)), y = scale(0, 1, bottom, 10);
  const point = (value, j) => `${x(seconds[j]).toFixed(1)},${y(value).toFixed(1)}`;
  const lines = curve.arms.map((one) => {
    const place = arms.find((arm) => arm.arm === one.arm).place;
    return svg("g", { class: colour(place) }, svg("title", {}, one.arm),
      svg("polygon", { points: [...one.high.map(point), ...one.low.map(point).reverse()].join(" "), fill: "currentColor", opacity: 0.15 }),
      svg("polyline", { points: one.share.map(point).join(" "), fill: "none", stroke: "currentColor", "stroke-width": 2 }));
  });
  const marks = [0, 0.5, 1].flatMap((value) => [
    svg("line", { class: "axis", x1: left, x2: WIDTH - 12, y1: y(value), y2: y(value) }),
    svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, percent(value, 0)),
  ]);
  let free = -Infinity;
  const ticks = [1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000, 31536000].filter((s) => s >= seconds[0] && s <= seconds[seconds.length - 1]).flatMap((s) => {
    if (x(s) - free < 58) return [];
    free = x(s);
    return [svg("line", { class: "axis", x1: x(s), x2: x(s), y1: bottom, y2: bottom + 5 }), svg("text", { x: x(s), y: height - 8, "text-anchor": "middle" }, span(s))];
  });
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": "share of conversions by delay" }, marks, lines, ticks);
}

export function matured(arms) {
  const shown = arms.filter((arm) => arm.matured !== null), height = 20 + 34 * shown.length, x = scale(0, 1, 130, WIDTH - 70);
  const rows = shown.map((arm, j) => {
    const y = 8 + 34 * j;
    return svg("g", { class: colour(arm.place) },
      svg("text", { class: "name", x: 0, y: y + 15 }, short(arm.arm)),
      svg("rect", { x: x(0), y, width: x(1) - x(0), height: 20, rx: 4, fill: "currentColor", opacity: 0.15 }),
      svg("rect", { x: x(0), y, width: Math.max(x(arm.matured) - x(0), 1), height: 20, rx: 4, fill: "currentColor" }),
      svg("text", { x: x(1) + 8, y: y + 15 }, percent(arm.matured, 0)));
  });
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": "share of conversions already seen" }, rows);
}
