// The view of the queue: pods by place over time, the events that moved pods, and the first pods of each place.
// In: the answer of /v1/queue, asked for while the view is shown. Out: elements, a canvas.

import { age, count, grouped, timeOfDay } from "../cluster/amounts.js";
import { partsOf } from "../panel/links.js";
import { gapsView } from "../panel/pod.js";
import { h, section } from "../page/dom.js";
import { PLACES, QueueChart } from "./chart.js";

const AGAIN = 1000; // milliseconds
const MOST_ROWS = 30;
const BY_CONDITION = { active: "Not tried yet", unschedulable: "Tried in vain", gated: "Gated" };

/** Names of the places that the answer distinguishes. */
export function titlesOf(answer) {
  return answer.kind === "conditions" ? BY_CONDITION : Object.fromEntries(PLACES.map(({ place, title }) => [place, title]));
}

/** A moment in words: seconds since the beginning of a simulation, else the time of day. */
export function moment(answer, at) {
  if (answer.beginning !== null) return `${Math.round((at - answer.beginning) * 10) / 10} s`;
  return timeOfDay(at);
}

export class QueueView {
  constructor(host, server, on) {
    this.host = host;
    this.server = server;
    this.on = on;
    this.wanted = false;
    this.counts = h("ul.legend.places");
    this.readout = h("p.readout", { role: "status" });
    this.chart = new QueueChart((at) => this.tell(at));
    this.samples = h("details", {}, h("summary", {}, "The same as a table"), h("div.scrolls", { tabindex: "0", role: "region", "aria-label": "Pods by place over time" }));
    this.samples.addEventListener("toggle", () => this.fillSamples());
    this.moves = h("div");
    this.first = h("div.firsts");
    this.gaps = h("div.gaps");
    this.told = h("p.failed", { role: "status" });
    host.replaceChildren(h("h2", {}, "The scheduling queue"), this.told, this.gaps, this.counts, this.chart.element, this.readout, this.samples, this.moves, this.first);
  }

  shown() {
    this.wanted = true;
    this.ask();
  }

  hidden() {
    this.wanted = false;
    clearTimeout(this.timer);
  }

  /** Ask, and again after a second as long as the view is shown. */
  async ask() {
    clearTimeout(this.timer);
    this.stop?.abort();
    this.stop = new AbortController();
    try {
      this.show(await this.server.get("/v1/queue", this.stop.signal));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.told.textContent = error.status ? error.message : "The page's server does not answer.";
    }
    if (this.wanted) this.timer = setTimeout(() => this.ask(), AGAIN);
  }

  show(answer) {
    this.answer = answer;
    this.titles = titlesOf(answer);
    this.told.textContent = "";
    this.counts.replaceChildren(...PLACES.filter(({ place }) => this.knows(place)).map(({ place, kind }) =>
      h("li", {}, h(`span.swatch.kind${kind}`), `${this.titles[place]} `, h("b", {}, grouped(answer.counts[place])))));
    this.chart.show(answer.history, (at) => moment(answer, at));
    this.fillSamples();
    this.keep(this.moves, () => movesView(answer, this.titles));
    this.keep(this.first, () => firstView(answer, this.titles, this.on));
    this.keep(this.gaps, () => gapsView(answer.gaps));
    this.host.dataset.shown = answer.kind;
  }

  knows(place) {
    return this.titles[place] !== undefined && this.answer.counts[place] !== null && this.answer.counts[place] !== undefined;
  }

  /** Rebuild a part unless it is unchanged; what has the focus keeps it. */
  keep(host, make) {
    const made = make();
    if (host.firstChild && made && host.firstChild.isEqualNode(made)) return;
    const focused = host.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    host.replaceChildren(...[made].flat().filter(Boolean));
    if (focused) host.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  /** A sample of the chart, in words. */
  tell(row) {
    const { history } = this.answer;
    const parts = PLACES.filter(({ place }) => this.knows(place)).map(({ place }) => `${grouped(history[place][row] ?? 0)} ${this.titles[place].toLowerCase()}`);
    this.readout.textContent = `${moment(this.answer, history.at[row])}: ${parts.join(", ")}`;
  }

  fillSamples() {
    if (!this.samples.open || !this.answer) return;
    const { history } = this.answer;
    const places = PLACES.filter(({ place }) => this.knows(place));
    const rows = history.at.map((_, row) => row).slice(-MOST_ROWS).reverse();
    this.samples.lastChild.replaceChildren(h("table", {},
      h("caption", {}, `The last ${count(rows.length, "sample")}`),
      headRow(["Time", ...places.map(({ place }) => this.titles[place])], true),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, moment(this.answer, history.at[row])),
        places.map(({ place }) => h("td.figure", {}, String(history[place][row] ?? "–"))))))));
  }
}

const FIGURES = ["Pods", "Priority", "Attempts"];

/** The head of a table; figures are on the right. */
function headRow(titles, figures = false) {
  const right = (title, number) => (figures && number > 0) || FIGURES.includes(title);
  return h("thead", {}, h("tr", {}, titles.map((title, number) => h(right(title, number) ? "th.figure" : "th", { scope: "col" }, title))));
}

// ---- the events that moved pods

function movesView(answer, titles) {
  if (answer.kind === "conditions") return null;
  const place = (name) => (name ? titles[name] || name : "–");
  const table = (moves, when) => h("table", {},
    headRow([...(when ? ["Time"] : []), "Event", "Pods", "From", "To"]),
    h("tbody", {}, moves.map((each) => h("tr", {}, when ? h("td", {}, moment(answer, each.at)) : null,
      h("th", { scope: "row" }, each.event), h("td.figure", {}, grouped(each.pods)), h("td", {}, place(each.from)), h("td", {}, place(each.to))))));
  const all = [...answer.moved].sort((a, b) => b.pods - a.pods);
  return section("Events that moved pods",
    answer.moves.length ? table(answer.moves.slice(0, MOST_ROWS), true) : h("p", {}, answer.beginning === null ? "None since this page was opened." : "None so far."),
    all.length ? h("details", {}, h("summary", {}, answer.beginning === null ? "All since the scheduler started" : "All so far"), table(all, false)) : null);
}

// ---- the first pods of each place

function firstView(answer, titles, on) {
  const parts = PLACES.map(({ place }) => {
    const pods = answer.first.filter((each) => each.place === place);
    const title = titles[place] && `${titles[place]}: ${pods.length < answer.counts[place] ? `the first ${pods.length} of ${grouped(answer.counts[place])}` : count(pods.length, "pod")}`;
    return pods.length && title ? section(title, h("table", {},
      headRow(headOf(answer, place)),
      h("tbody", {}, pods.map((pod) => podRow(answer, pod, on))))) : null;
  }).filter(Boolean);
  return parts.length ? h("div", {}, parts) : h("p", {}, "No pod waits.");
}

function headOf(answer, place) {
  const tried = answer.kind === "scheduler" ? ["Attempts"] : [];
  const more = { backoff: ["Backs off for", "Rejected by"], unschedulable: ["Rejected by"], gated: ["Gated by"] }[place] ?? [];
  return ["Pod", "Priority", "Since", ...tried, ...(answer.kind === "scheduler" ? more : [])];
}

function podRow(answer, pod, on) {
  const [namespace, name] = partsOf(pod.pod);
  const since = pod.since ? Date.parse(pod.since) / 1000 : NaN;
  const known = answer.kind === "scheduler";
  const left = pod.backoffUntil ? Math.max(0, Date.parse(pod.backoffUntil) / 1000 - answer.now) : 0;
  const more = { backoff: [`${left.toFixed(1)} s more`, (pod.rejectedBy || []).join(", ") || "an error"], unschedulable: [(pod.rejectedBy || []).join(", ")], gated: [pod.gatedBy || ""] }[pod.place] ?? [];
  return h("tr", {},
    h("th", { scope: "row" }, h("button.link", { type: "button", "data-key": pod.uid, onclick: () => on.pod(namespace, name) }, pod.pod)),
    h("td.figure", {}, String(pod.priority || 0)),
    h("td", {}, Number.isNaN(since) ? "–" : age(answer.now - since)),
    known ? h("td.figure", {}, String(pod.attempts || 0)) : null,
    known ? more.map((each) => h("td", {}, each)) : null);
}
