// Numbers, times and lengths of time as people write them.
const missing = (x) => x === null || x === undefined;
const DAY = 86400;

export const percent = (x, digits = 2) =>
  missing(x) ? "–" : `${(100 * x).toFixed(digits)} %`;
export const signed = (x) => `${x < 0 ? "−" : "+"}${Math.abs(100 * x).toFixed(1)} %`;
export const whole = (x) => (missing(x) ? "–" : Math.round(x).toLocaleString("en"));

const money = (x, currency) => {
  const digits = x !== 0 && Math.abs(x) < 1 ? 3 : 2;
  const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const text = x.toLocaleString("en", form);
  return currency ? `${text} ${currency}` : text;
};

// What a report's figures are counted in: money if conversions have values, else shares; with its
// sign for a heading over plain numbers.
export function unitsOf(report) {
  const who = report.sticky ? "visitor" : "decision";
  if (report.scale === 1 && !report.currency) {
    return {
      paid: false, who, what: "rate", sign: "", amount: percent, plain: percent, total: whole,
      range: (low, high) => `${(100 * low).toFixed(2)} – ${percent(high)}`,
    };
  }
  const currency = report.currency;
  const amount = (x) => (missing(x) ? "–" : money(x, currency));
  const plain = (x) => (missing(x) ? "–" : money(x));
  return {
    paid: true, who, what: `revenue per ${who}`, sign: currency ? `, ${currency}` : "",
    amount, plain, total: whole, range: (low, high) => `${plain(low)} – ${plain(high)}`,
  };
}

const UNITS = [["day", DAY], ["hour", 3600], ["minute", 60], ["second", 1]];
export const inWords = (seconds) => {
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? UNITS[3];
  const count = Number((seconds / size).toPrecision(3));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
};

export const span = (seconds) => {
  for (const [unit, size] of [["d", DAY], ["h", 3600], ["min", 60]]) {
    if (seconds >= size) return `${Number((seconds / size).toPrecision(3))} ${unit}`;
  }
  return `${Number(seconds.toPrecision(2))} s`;
};

export const day = (time) => {
  const when = new Date(time);
  const year = when.getUTCFullYear() === new Date().getUTCFullYear() ? undefined : "numeric";
  const form = { day: "numeric", month: "short", year, timeZone: "UTC" };
  return when.toLocaleDateString("en-GB", form);
};
export const clock = (time) => {
  const form = { hour: "2-digit", minute: "2-digit", timeZone: "UTC" };
  return new Date(time).toLocaleTimeString("en-GB", form);
};
export const moment = (time) => `${day(time)}, ${clock(time)} UTC`;
