// Who changed which settings, and when.
import { card, html } from "./dom.js";

const SHOWN = 10;
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? null));
const who = ({ by, note }) => (by ? note || `key ${by}` : "library or command line");
const what = ({ changed }) =>
  Object.entries(changed).map(([name, { before, after }]) =>
    `${name}: ${text(before)} → ${text(after)}`).join("; ");

const row = (change, created) => html("li", {},
  html("span", { class: "soft" }, `${change.time.slice(0, 16).replace("T", " ")} UTC `),
  html("b", {}, who(change)), " ", created ? "created the experiment" : what(change));

export function changesCard(changes) {
  const oldest = changes.at(-1);
  return card("Changes", "who changed which settings, and when; the latest first",
    html("ul", { class: "plain", id: "changes" },
      ...changes.slice(0, SHOWN).map((change) =>
        row(change, change === oldest && change.line === 1))));
}
