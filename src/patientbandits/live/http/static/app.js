// The dashboard: asks the service's own API, draws, and asks again. The key stays in this tab.
import { allocation, lag, matured, rates } from "./charts.js";
import { amounts, html, percent, whole } from "./dom.js";

const REFRESH = 10_000;
const VERDICT_EVERY = 60_000;
const verdicts = new Map(); // experiment -> { words, time }: it takes longer than a report
const main = document.querySelector("#main"), nav = document.querySelector("#experiments"), leave = document.querySelector("#leave");
const key = () => sessionStorage.getItem("key");
const chosen = () => decodeURIComponent(location.hash.slice(1));
let timer, asked = 0;

async function ask(path) {
  const answer = await fetch(path, { headers: key() ? { authorization: `Bearer ${key()}` } : {} });
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw Object.assign(new Error(problem.detail ?? problem.title ?? answer.statusText), { status: answer.status });
  }
  return answer.json();
}

const card = (title, note, content) => html("section", { class: "card" }, html("h3", {}, title), note ? html("div", { class: "soft" }, note) : null, content);

function table(arms, report) {
  const amount = amounts(report), what = amount === percent ? "corrected rate" : "corrected, per decision";
  const head = ["arm", "decisions", "conversions", "seen so far", what, "95 % interval", "still to come", "best with probability"];
  return html("table", {}, html("thead", {}, html("tr", {}, ...head.map((text) => html("th", { scope: "col" }, text)))),
    html("tbody", {}, ...arms.map((arm) => html("tr", {},
      html("td", {}, html("span", { class: `swatch a${arm.place % 8}` }), arm.retired ? `${arm.arm} (retired)` : arm.arm),
      ...cells(arm, amount).map((text) => html("td", {}, text))))));
}

function cells(arm, amount) {
  const counted = [whole(arm.pulls), whole(arm.conversions)];
  if (arm.pulls === 0) return [...counted, "no data yet", "–", "–", "–", "–"];
  return [...counted, amount(arm.raw_rate), amount(arm.rate), arm.rate === null ? "–" : `${amount(arm.low)} – ${amount(arm.high)}`,
    whole(arm.to_come), percent(arm.best, 1)];
}

async function verdict(name, path) {
  const known = verdicts.get(name);
  if (known && Date.now() - known.time < VERDICT_EVERY) return;
  verdicts.set(name, { words: known?.words, time: Date.now() });
  try {
    const { words } = await ask(`${path}/verdict`);
    verdicts.set(name, { words, time: Date.now() });
    const place = document.querySelector("#verdict");
    if (place && place.dataset.experiment === name) place.replaceChildren(`${words}.`);
  } catch (error) {
    verdicts.delete(name); // the report says what is wrong, if something is
  }
}

function show(report, series) {
  const arms = report.arms.map((arm, place) => ({ ...arm, place }));
  const words = verdicts.get(report.experiment)?.words;
  const state = [report.policy, report.window_text ? `conversions within ${report.window_text} count` : null, report.sticky ? "sticky units" : null, report.paused ? "PAUSED" : null];
  main.replaceChildren(html("h2", {}, report.experiment), html("p", { class: "soft" }, state.filter(Boolean).join(" · ")),
    html("section", { class: "card", id: "verdict", "data-experiment": report.experiment }, words ? `${words}.` : "…"),
    ...alerts(report.alerts),
    html("section", { class: "card" }, table(arms, report)),
    html("div", { class: "grid" },
      card("Rate", "filled: corrected for conversions still to come, with its 95 % interval; hollow: seen so far", rates(arms, amounts(report))),
      card("Allocation", "share of decisions in each period", allocation(series, arms)),
      report.lag ? card("Conversion lag", "of those who convert, the share that has done so by then", lag(report.lag, arms)) : null,
      card("Share matured", "expected share of each arm's conversions that has already been seen", matured(arms))),
    ...report.notes.map((note) => html("p", { class: "soft" }, note)));
}

function alerts(found) {
  if (!found.length) return [];
  const line = (one) => html("li", {}, `${one.subject ? `${one.subject}: ` : ""}${one.words} `, html("span", { class: "soft" }, `since ${one.raised.slice(0, 16).replace("T", " ")} UTC`));
  return [html("section", { class: "card alert", role: "alert" }, html("h3", {}, "Alerts"), html("ul", {}, ...found.map(line)))];
}

function fail(error) {
  main.replaceChildren(html("section", { class: "card alert", role: "alert" }, html("h3", {}, "That did not work"), html("p", {}, error.message)));
}

function login(wrong) {
  clearTimeout(timer);
  nav.replaceChildren();
  const field = html("input", { type: "password", name: "key", placeholder: "a key with the scope “read”", "aria-label": "key", autocomplete: "off" });
  const submit = (event) => { event.preventDefault(); sessionStorage.setItem("key", field.value.trim()); refresh(); };
  main.replaceChildren(html("section", { class: "card" }, html("h2", {}, "A key, please"),
    html("p", { class: "soft" }, wrong ? "This key was refused." : "It is kept in this tab only. Make one with: patientbandits keys create --scope read"),
    html("form", { onsubmit: submit }, field, html("button", {}, "Open"))));
  field.focus();
}

async function refresh() {
  clearTimeout(timer);
  const mine = ++asked;
  try {
    if (!key() && (await ask("/healthz")).keys) return login(false);
    const { experiments } = await ask("/v1/experiments");
    if (mine !== asked) return;
    leave.hidden = !key();
    const name = experiments.some((one) => one.name === chosen()) ? chosen() : experiments[0]?.name;
    nav.replaceChildren(...experiments.map((one) => html("a", { href: `#${encodeURIComponent(one.name)}`, "aria-current": one.name === name ? "page" : null }, one.name)));
    if (!name) main.replaceChildren(html("section", { class: "card" }, html("h2", {}, "No experiment yet"), html("p", {}, "Make one with: patientbandits experiments create NAME ARM ARM")));
    else {
      const path = `/v1/experiments/${encodeURIComponent(name)}`;
      const [report, series] = await Promise.all([ask(`${path}/report`), ask(`${path}/timeseries`)]);
      if (mine !== asked) return;
      show(report, series.counts);
      verdict(name, path);
    }
  } catch (error) {
    if (mine !== asked) return;
    if (error.status === 401 || error.status === 403) { const had = key(); sessionStorage.removeItem("key"); return login(had); }
    fail(error);
  }
  timer = setTimeout(refresh, REFRESH);
}

leave.addEventListener("click", () => { sessionStorage.removeItem("key"); leave.hidden = true; login(false); });
addEventListener("hashchange", refresh);
refresh();
