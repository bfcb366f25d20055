// The dashboard: asks the service's own API, draws, and asks again. The key stays in this tab.
import { allocation, lag, matured, rates } from "./charts.js";
import { html, percent, whole } from "./dom.js";

const REFRESH = 10_000;
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

function table(arms) {
  const head = ["arm", "decisions", "conversions", "seen so far", "corrected rate", "95 % interval", "still to come", "best with probability"];
  return html("table", {}, html("thead", {}, html("tr", {}, ...head.map((text) => html("th", { scope: "col" }, text)))),
    html("tbody", {}, ...arms.map((arm) => html("tr", {},
      html("td", {}, html("span", { class: `swatch a${arm.place % 8}` }), arm.retired ? `${arm.arm} (retired)` : arm.arm),
      ...[whole(arm.pulls), whole(arm.conversions), percent(arm.raw_rate), percent(arm.rate), arm.rate === null ? "–" : `${percent(arm.low)} – ${percent(arm.high)}`,
        whole(arm.to_come), percent(arm.best, 1)].map((text) => html("td", {}, text))))));
}

function show(report, series) {
  const arms = report.arms.map((arm, place) => ({ ...arm, place }));
  const state = [report.policy, report.window ? `window ${report.window} s` : null, report.sticky ? "sticky units" : null, report.paused ? "PAUSED" : null];
  main.replaceChildren(html("h2", {}, report.experiment), html("p", { class: "soft" }, state.filter(Boolean).join(" · ")),
    html("section", { class: "card" }, table(arms)),
    html("div", { class: "grid" },
      card("Rate", "filled: corrected for conversions still to come, with its 95 % interval; hollow: seen so far", rates(arms)),
      card("Allocation", "share of decisions in each period", allocation(series, arms)),
      report.lag ? card("Conversion lag", "of those who convert, the share that has done so by then", lag(report.lag, arms)) : null,
      card("Share matured", "expected share of each arm's conversions that has already been seen", matured(arms))),
    ...report.notes.map((note) => html("p", { class: "soft" }, note)));
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
