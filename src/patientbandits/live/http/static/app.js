// The dashboard: asks the service's own API, draws, and asks again. The key stays in this tab.
import { ask, forgetKey, keepKey, key, pathOf } from "./api.js";
import { armsTable, goalTables } from "./arms.js";
import { changesCard } from "./changes.js";
import { allocation, lag, matured, maturing, rates } from "./charts.js";
import { card, html } from "./dom.js";
import { unitsOf } from "./format.js";
import { manageCard } from "./manage.js";
import { settingsCard } from "./settings.js";
import { verdictCard, windowsCard } from "./verdict.js";

const REFRESH = 10_000;
const ANALYSIS_EVERY = 60_000; // it takes longer than a report; the longer, the rarer
const REST = 20;
const GAP = 16, INSET = 34, NARROWEST = 340, LEAST = 240;
const main = document.querySelector("#main");
const nav = document.querySelector("#experiments");
const leave = document.querySelector("#leave");
const analyses = new Map(); // experiment -> { found, failure, next }
const chosen = () => decodeURIComponent(location.hash.slice(1));
let timer, asked = 0, shown = null, scopes = [], cohort = "";

async function analyse(name) {
  const known = analyses.get(name) ?? {};
  if (known.next > Date.now()) return;
  const began = Date.now();
  analyses.set(name, { ...known, next: Infinity });
  const result = await ask(`${pathOf(name)}/analysis`)
    .then((found) => ({ found }), (error) => ({ failure: error.message }));
  const wait = Math.max(ANALYSIS_EVERY, REST * (Date.now() - began));
  analyses.set(name, { ...result, next: Date.now() + wait });
  if (shown?.experiment.name === name) draw();
}

// How wide a picture is shown: one column, or two.
function room() {
  const inner = main.clientWidth - 2 * parseFloat(getComputedStyle(main).paddingLeft);
  const columns = inner >= 2 * NARROWEST + GAP ? 2 : 1;
  return Math.max(Math.floor((inner - (columns - 1) * GAP) / columns) - INSET, LEAST);
}

function cohortCard(analysis, arms, width) {
  const known = arms.some((arm) => arm.state === "known");
  if (!known || !analysis || analysis.cohorts.length === 0) return null;
  const period = analysis.cohort_days === 7 ? "week" : "day";
  const arm = arms.find((one) => one.arm === cohort);
  const rows = arm ? analysis.cohorts.filter((row) => row.arm === arm.arm) : analysis.cohorts;
  const choose = html("select", { "aria-label": "arm of the cohorts", onchange: (event) => {
    cohort = event.target.value;
    event.target.blur();
    draw();
  } }, ...["", ...arms.map((one) => one.arm)].map((name) =>
    html("option", { value: name, selected: name === cohort }, name || "all arms")));
  return card(`Cohorts by ${period}`,
    "dark: the share that has converted; light: still expected. The youngest always look worst.",
    choose, maturing(rows, analysis.cohort_days, arm ? arm.place : null, width));
}

function draw() {
  const { experiment, report, series, changes } = shown;
  const { found: analysis, failure } = analyses.get(report.experiment) ?? {};
  const arms = report.arms.map((arm, place) => ({ ...arm, place }));
  const units = unitsOf(report);
  const state = experiment.paused ? "paused" : experiment.closed ? "closed" : "running";
  const width = room();
  const goals = goalTables(report, arms, units);
  main.replaceChildren(
    html("h2", {}, report.experiment, " ", html("span", { class: `state ${state}` }, state)),
    experiment.about ? html("p", { class: "soft", id: "about" }, experiment.about) : "",
    verdictCard(analysis, units, failure),
    ...alerts(report.alerts),
    ...report.notes.map((note) => html("p", { class: "note" }, note)),
    html("section", { class: "card", id: "arms" }, armsTable(report, analysis, arms, units)),
    html("div", { class: "grid" },
      card(units.paid ? `Revenue per ${units.who}${units.sign}` : "Rate",
        "filled: corrected for conversions still to come, with its 95 % interval; " +
        "hollow: seen so far", rates(arms, units, width)),
      card("Share matured", "expected share of each arm's conversions that has already been seen",
        matured(arms, width)),
      report.lag ? card("Conversion lag",
        "of the visitors who convert, the share that has done so by then; bands: 95\u00a0%",
        lag(report.lag, arms, width)) : null,
      card("Allocation", "share of decisions in each period", allocation(series, arms, width)),
      cohortCard(analysis, arms, width),
      settingsCard(experiment, report),
      changesCard(changes),
      windowsCard(analysis, arms),
      ...goals,
      scopes.includes("admin") ? manageCard(experiment, refresh) : null));
  document.title = `${report.experiment} · patientbandits`;
}

const GOOD_NEWS = ["leader", "can_stop"]; // the verdict says it

function alerts(standing) {
  const found = standing.filter((one) => !GOOD_NEWS.includes(one.kind));
  if (!found.length) return [];
  const line = (one) => html("li", {}, `${one.subject ? `${one.subject}: ` : ""}${one.words} `,
    html("span", { class: "soft" }, `since ${one.raised.slice(0, 16).replace("T", " ")} UTC`));
  return [html("section", { class: "card alert", id: "alerts" },
    html("h3", {}, "Alerts"), html("ul", {}, ...found.map(line)))];
}

function fail(error) {
  shown = null;
  main.replaceChildren(html("section", { class: "card alert", role: "alert" },
    html("h3", {}, "That did not work"), html("p", {}, error.message)));
}

function login(wrong) {
  clearTimeout(timer);
  shown = null;
  analyses.clear();
  nav.replaceChildren();
  const field = html("input", { type: "password", name: "key", "aria-label": "key",
    placeholder: "a key with the scope “read”", autocomplete: "off" });
  const submit = (event) => { event.preventDefault(); keepKey(field.value.trim()); refresh(); };
  main.replaceChildren(html("section", { class: "card" }, html("h2", {}, "Enter a key"),
    html("p", { class: "soft" }, wrong ? "This key was refused."
      : "It stays in this browser tab. Create one with: patientbandits keys create --scope read"),
    html("form", { onsubmit: submit }, field, html("button", { class: "main" }, "Open"))));
  field.focus();
}

function empty() {
  shown = null;
  main.replaceChildren(html("section", { class: "card" }, html("h2", {}, "No experiment yet"),
    html("p", {}, "Create one with:"),
    html("pre", {}, "patientbandits experiments create checkout control blue --window 30d"),
    html("p", {}, "or import your history:"),
    html("pre", {}, "patientbandits import checkout exposures.csv orders.csv --window 30d")));
}

async function refresh() {
  clearTimeout(timer);
  const mine = ++asked;
  try {
    if (!key() && (await ask("/healthz")).keys) return login(false);
    const asks = [ask("/v1/experiments"), ask("/v1/scopes")];
    const [{ experiments }, allowed] = await Promise.all(asks);
    if (mine !== asked) return;
    scopes = allowed.scopes;
    leave.hidden = !key();
    const one = experiments.find((other) => other.name === chosen()) ?? experiments[0];
    nav.replaceChildren(...experiments.map((other) => html("a", {
      href: `#${encodeURIComponent(other.name)}`, "aria-current": other === one ? "page" : null,
    }, other.name)));
    if (one) {
      const path = pathOf(one.name);
      const parts = ["report", "timeseries", "changes"].map((part) => ask(`${path}/${part}`));
      const [report, series, { changes }] = await Promise.all(parts);
      if (mine !== asked) return;
      shown = { experiment: one, report, series: series.counts, changes };
      if (document.activeElement?.tagName !== "SELECT") draw();
      analyse(one.name);
    } else empty();
  } catch (error) {
    if (mine !== asked) return;
    if (error.status === 401 || error.status === 403) {
      const had = key();
      forgetKey();
      return login(had);
    }
    fail(error);
  }
  timer = setTimeout(next, REFRESH);
}

const next = () => {
  if (document.hidden) document.addEventListener("visibilitychange", next, { once: true });
  else refresh();
};

leave.addEventListener("click", () => { forgetKey(); leave.hidden = true; login(false); });
addEventListener("hashchange", refresh);
addEventListener("resize", () => shown && draw());
refresh();
