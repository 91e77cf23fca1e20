// The attempts on record of a pod: one at a time, from extension point to extension point, as far as the scheduler kept it.
// In: decisions of an explanation, the newest first. Out: elements.

import { count, grouped } from "../cluster/amounts.js";
import { details, h, section } from "../page/dom.js";
import { nodeLink, podLink } from "./links.js";

const BEFORE = ["PreEnqueue", "PreFilter", "Filter"];
const AFTER = ["Reserve", "Permit", "PreBind", "Bind"];
const NOT_KEPT = "Details were not kept: the scheduler was busy, or the pod is one of a group.";

// which attempt is open, of which pod: a panel that is rebuilt keeps it
let open = { pod: "", key: "" };

/** 2026-01-01T00:00:05.123456Z: "2026-01-01 00:00:05.123". */
export function written(time) {
  return time.replace("T", " ").replace(/(\.\d{3})\d*Z$/, "$1").replace(/Z$/, "");
}

const keyOf = (decision) => `${decision.time} ${decision.outcome}`;

/** A choice of attempts, and the one that is chosen. */
export function attemptsView(pod, decisions, on) {
  if (!decisions.length) return null;
  const chosen = decisions.find((each) => open.pod === pod && keyOf(each) === open.key) ?? decisions[0];
  const host = h("div");
  const show = (decision) => host.replaceChildren(attemptView(decision, on));
  const title = (each) => [each.attempt ? `attempt ${each.attempt}` : null, each.outcome, written(each.time)].filter(Boolean).join(" · ");
  const choice = h("select", { id: "attempt", onchange: (event) => {
    const decision = decisions[event.target.selectedIndex];
    open = { pod, key: keyOf(decision) };
    show(decision);
  } }, decisions.map((each) => h("option", { selected: each === chosen }, title(each))));
  show(chosen);
  return section("Attempts on record", h("label", {}, `${count(decisions.length, "decision")}: `, choice), host);
}

function attemptView(decision, on) {
  const moves = (decision.moves || []).map((each) => h("li", {}, `${written(each.time)} ${each.event} → ${each.place}`));
  const after = [
    decision.place ? `It waits among ${decision.place} pods` : null,
    decision.backoffUntil ? `backs off until ${written(decision.backoffUntil)}` : null,
  ].filter(Boolean).join(", ");
  return h("div.attempt", {},
    decision.wokenBy ? h("p", {}, `Tried because of ${decision.wokenBy}.`) : null,
    h("ol.points", {}, pointsOf(decision).map(({ point, state, parts }) => pointView(point, state, parts(on)))),
    decision.seconds ? h("p.facts", {}, `It took ${(decision.seconds * 1000).toFixed(1)} ms${decision.profile ? `, in profile ${decision.profile}` : ""}.`) : null,
    after ? h("p", {}, `${after}.`) : null,
    moves.length ? details("Moves in the queue afterwards", h("ul.plain", {}, moves)) : null);
}

function pointView(point, state, parts) {
  const words = { passed: "passed", rejected: "rejected", failed: "failed", waits: "under way", skipped: "not needed" };
  const there = parts.flat(Infinity).filter(Boolean);
  return h("li.point", { "data-point": point, "data-state": state }, h("p.line", {}, h("span.plugin", {}, point), h("span.tag", {}, words[state])), there.length ? h("div.about", {}, there) : null);
}

/** The extension points of an attempt that are known to have run: [{point, state, parts(on)}]. */
export function pointsOf(decision) {
  const { outcome, point = "" } = decision;
  if (outcome === "skipped") return [];
  const failure = outcome === "error" ? "failed" : "rejected";
  const message = () => (decision.message ? [h("p", {}, decision.message)] : []);
  if (outcome === "gated") return [{ point: "PreEnqueue", state: "rejected", parts: message }];
  const found = [{ point: "PreEnqueue", state: "passed", parts: () => [] }];
  const chosen = Boolean(decision.node);
  // no point rejected it: its group does not fit, or there are no nodes
  if (!chosen && !point) return [...found, { point: "Scheduling cycle", state: failure, parts: message }];
  const ended = chosen ? "" : point;
  for (const each of BEFORE.slice(1)) {
    const here = each === ended;
    found.push({ point: each, state: here ? failure : "passed", parts: (on) => [here ? message() : [], each === "Filter" ? filterParts(decision, on) : []] });
    if (here) return [...found, ...postFilter(decision, failure)];
  }
  found.push(scorePoint(decision, ended, failure, message));
  if (!chosen) return found;
  return [...found, ...afterChoice(decision, point, failure, message)];
}

function afterChoice(decision, point, failure, message) {
  const at = AFTER.indexOf(point);
  const failed = ["error", "unschedulable"].includes(decision.outcome);
  const state = (number) => {
    if (!failed) return decision.outcome === "bound" ? "passed" : "waits";
    return number < at ? "passed" : failure;
  };
  const until = failed ? Math.max(0, at) : AFTER.length - 1;
  return AFTER.slice(0, until + 1).map((each, number) => ({
    point: each,
    state: state(number),
    parts: () => [
      failed && number === until ? message() : [],
      each === "Bind" ? extenderParts(decision, "bind") : [],
      each === "Bind" && decision.boundAt ? h("p", {}, `Bound at ${written(decision.boundAt)}.`) : null,
    ],
  }));
}

// ---- details of each point

function filterParts(decision, on) {
  const groups = (decision.rejected || []).map((each) => rejectedGroup(each, on));
  const { evaluatedNodes = 0, feasibleNodes = 0 } = decision;
  return [
    evaluatedNodes ? h("p", {}, `${grouped(feasibleNodes)} of ${count(evaluatedNodes, "evaluated node")} feasible.`) : feasibleNodes ? h("p", {}, `${count(feasibleNodes, "feasible node")}.`) : null,
    groups.length ? h("ul.plain", {}, groups) : null,
    !groups.length && !decision.node && !decision.detailed ? h("p.facts", {}, NOT_KEPT) : null,
    extenderParts(decision, "filter", on),
  ];
}

function rejectedGroup(each, on) {
  const names = (each.sample || []).map((name) => [" ", nodeLink(name, on)]);
  return h("li", {}, each.plugin ? `${each.plugin}: ` : "", `${count(each.nodes, "node")}: ${each.message}`, h("span.names", {}, names));
}

/** Answers of extenders: nodes that passed, scores, errors. */
function extenderParts(decision, call, on) {
  return (decision.extenders || []).filter((each) => each.call === call).map((each) => {
    const left = { filter: "passed", prioritize: "scored", preempt: "stayed candidates", bind: "bound" }[call];
    const scores = Object.entries(each.scores || {}).map(([name, score]) => h("li", {}, on ? nodeLink(name, on) : name, `: ${score} of 10`));
    const groups = (each.rejected || []).map((group) => rejectedGroup(group, on));
    return h("div.extender", {},
      h("p", {}, h("b", {}, "Extender "), each.extender, ` · ${(1000 * (each.seconds || 0)).toFixed(0)} ms`),
      each.error ? h("p.lacks", {}, each.error) : h("p", {}, `${grouped(each.left)} of ${count(each.nodes, "node")} ${left}.`),
      groups.length ? h("ul.plain", {}, groups) : null,
      scores.length ? h("ol.plain", {}, scores) : null);
  });
}

function scorePoint(decision, ended, failure, message) {
  const here = ended === "Score";
  const only = decision.node && decision.feasibleNodes === 1;
  return {
    point: "PreScore, Score",
    state: here ? failure : only ? "skipped" : "passed",
    parts: (on) => [
      here ? message() : [],
      only ? h("p", {}, "Only one node was feasible.") : null,
      decision.node ? h("p", {}, "Chosen: ", nodeLink(decision.node, on), decision.ties > 1 ? `, drawn from ${grouped(decision.ties)} with the highest score.` : "") : null,
      scoresTable(decision.scores || [], on),
      !only && decision.node && !decision.detailed ? h("p.facts", {}, NOT_KEPT) : null,
      extenderParts(decision, "prioritize", on),
    ],
  };
}

function scoresTable(scores, on) {
  if (!scores.length) return null;
  const plugins = [...new Set(scores.flatMap((each) => Object.keys(each.scores || {})))].filter((plugin) => scores.some((each) => each.scores?.[plugin]));
  return details("Scores by plugin", h("div.scrolls", { tabindex: "0", role: "region", "aria-label": "Scores by plugin" }, h("table", {},
    h("thead", {}, h("tr", {}, ["plugin, weighted", ...scores.map((each) => each.node)].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, [...plugins.map((plugin) => [plugin, ...scores.map((each) => each.scores?.[plugin] ?? 0)]), ["total", ...scores.map((each) => each.total)]].map(([title, ...figures]) =>
      h("tr", {}, h("th", { scope: "row" }, title), figures.map((each) => h("td.figure", {}, String(each)))))))));
}

function postFilter(decision, failure) {
  if (failure === "failed") return [];
  const { candidates = [], candidateCount = 0, preemption, nominatedNode } = decision;
  const helps = Boolean(preemption || nominatedNode);
  if (!helps && !candidates.length && !/preemption/i.test(decision.message || "")) return [];
  const line = (each, on) => h("li", {}, nodeLink(each.node, on), each.node === (preemption?.node || nominatedNode) ? h("span.tag", {}, "chosen") : null,
    `: ${count(each.victims, "victim")}`, each.budgetViolations ? `, ${count(each.budgetViolations, "disruption budget")} violated` : "",
    h("span.names", {}, (each.names || []).map((name) => [" ", podLink(name, on)])));
  return [{
    point: "PostFilter",
    state: helps ? "passed" : "rejected",
    parts: (on) => [
      nominatedNode ? h("p", {}, "Nominated to ", nodeLink(nominatedNode, on), ".") : null,
      preemption ? h("p", {}, `${count(preemption.victims, "victim")} evicted from ${preemption.node}`, (preemption.evicted || []).map((name) => [" ", podLink(name, on)])) : null,
      candidates.length ? details(count(candidateCount, "candidate"), h("ul.plain", {}, candidates.map((each) => line(each, on)))) : null,
      extenderParts(decision, "preempt", on),
    ],
  }];
}
