// Elements without markup in strings: what a user typed is text, never HTML.
const SVG = "http://www.w3.org/2000/svg";
const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};
export const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export const percent = (x, digits = 2) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(digits)} %`);
// Rates in percent, or what a decision brings in, in its currency.
export const amounts = (report) => {
  if (report.scale === 1 && !report.currency) return percent;
  const currency = report.currency ? ` ${report.currency}` : "";
  return (x) => (x === null || x === undefined ? "–" : `${x.toFixed(2)}${currency}`);
};
export const whole = (x) => (x === null || x === undefined ? "–" : Math.round(x).toLocaleString("en"));
export const span = (seconds) => {
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= size) return `${Number((seconds / size).toPrecision(3))} ${unit}`;
  }
  return `${Number(seconds.toPrecision(2))} s`;
};
