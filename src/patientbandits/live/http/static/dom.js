// Elements without markup in strings: what a user typed is text, never HTML.
const SVG = "http://www.w3.org/2000/svg";

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== undefined && value !== null && value !== false) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};

export const html = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export const card = (title, note, ...content) =>
  html("section", { class: "card" },
    html("h3", {}, title), note ? html("p", { class: "soft" }, note) : null, ...content);

export const colour = (place) => `a${place % 8}`;
export const swatch = (place) => html("span", { class: `swatch ${colour(place)}` });

export const legend = (arms) =>
  html("ul", { class: "legend" },
    ...arms.map((arm) => html("li", {}, swatch(arm.place), arm.arm)));

// Rows of cells { mark, text, note }; a table of the kind "stack" is one card for each row where
// there is little room.
export function table(labels, rows, kind = null) {
  const head = labels.map((text) => html("th", { scope: "col" }, text));
  const body = rows.map((row) => html("tr", { class: row.class },
    ...row.cells.map((cell, place) => html("td", { "data-label": labels[place] },
      html("span", {}, cell.mark ?? null, cell.text,
        cell.note ? html("small", {}, cell.note) : null)))));
  return html("table", { class: kind },
    html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body));
}
