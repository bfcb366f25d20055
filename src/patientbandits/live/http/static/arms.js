// The arms and the other goals as tables; on a phone, cards.
import { card, swatch, table } from "./dom.js";
import { percent, signed, whole } from "./format.js";

export function armsTable(report, analysis, arms, units) {
  const compared = new Map((analysis?.arms ?? []).map((arm) => [arm.arm, arm]));
  const early = analysis?.verdict.too_early ?? true;
  const control = analysis?.control ?? report.control;
  const labels = ["arm", `${units.who}s`, "conversions"];
  if (units.paid) labels.push(`revenue${units.sign}`);
  labels.push(units.paid ? `so far per ${units.who}${units.sign}` : "seen so far");
  labels.push(`corrected ${units.what}${units.sign}`, `lift over ${control ?? "control"}`);
  labels.push(`still to come${units.sign}`, "best with probability");
  const rows = arms.map((arm) => {
    const counts = [arm.pulls, arm.conversions].map((count) => ({ text: whole(count) }));
    const cells = [nameCell(arm, control), ...counts];
    if (units.paid) cells.push({ text: units.total(arm.value) });
    cells.push(...estimates(arm, compared.get(arm.arm), early, units));
    return { class: arm.retired ? "retired" : null, cells };
  });
  return table(labels, rows, "stack");
}

function nameCell(arm, control) {
  const notes = [arm.arm === control && control !== "control" ? "control" : null,
    arm.retired ? "retired" : null];
  return { mark: swatch(arm.place), text: arm.arm, note: notes.filter(Boolean).join(", ") || null };
}

function estimates(arm, compared, early, units) {
  const dash = { text: "–" };
  if (arm.state === "no data") return [{ text: "no data yet" }, dash, dash, dash, dash];
  const seen = { text: units.plain(arm.raw_rate) };
  if (arm.state === "too early") {
    return [seen, { text: "too early" }, dash, dash, dash];
  }
  const lift = compared?.lift;
  const best = compared ? compared.best : arm.best;
  const chance = early ? "too early" : best === null ? "too new" : percent(best, 1);
  const soFar = compared?.best_so_far ?? null;
  const note = early || soFar === null ? null : `so far ${percent(soFar, 1)}`;
  return [
    seen,
    { text: units.plain(arm.rate), note: units.range(arm.low, arm.high) },
    lift ? { text: signed(lift.mean), note: `${signed(lift.low)} to ${signed(lift.high)}` } : dash,
    { text: units.total(arm.to_come) },
    arm.retired ? dash : { text: chance, note },
  ];
}

export function goalTables(report, arms, units) {
  return report.goals.map((goal) => {
    const valued = goal.arms.some((row) => row.value !== row.count); // worth 1 each unless told
    const labels = ["arm", "times", `${units.who}s`, `share of ${units.who}s`];
    if (valued) labels.push(`value${units.sign}`);
    const rows = goal.arms.map((row) => {
      const cells = [
        { mark: swatch(arms.find((arm) => arm.arm === row.arm).place), text: row.arm },
        { text: whole(row.count) },
        { text: whole(row.units) },
        { text: row.rate === null ? "no data yet" : percent(row.rate) },
      ];
      if (valued) cells.push({ text: row.value.toFixed(2) });
      return { cells };
    });
    return card(`Goal: ${goal.goal}`,
      "counted only: another goal drives the decisions; conversions reported so far",
      table(labels, rows));
  });
}
