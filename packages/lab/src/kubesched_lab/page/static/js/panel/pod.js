// The panel of a pod: the verdict, the funnel through the filters, the scores, preemption, remedies and what is on record.
// In: the answer of /v1/pods/{namespace}/{name}. Out: elements.

import { count, grouped } from "../cluster/amounts.js";
import { attemptsView } from "./attempts.js";
import { bar, details, h, section } from "../page/dom.js";
import { nodeLink, podLink } from "./links.js";

const MANY = 12;

/** Names of nodes, as links; the first ones. */
function nodeNames(names, total, on) {
  const shown = names.slice(0, MANY).map((name) => [nodeLink(name, on), " "]);
  return h("p.names", {}, shown, total > shown.length ? `and ${grouped(total - shown.length)} more` : null);
}

// ---- the funnel

function funnelStep(step, all, on) {
  const reasons = (step.reasons || []).map((reason) =>
    h("li", {}, h("b", {}, grouped(reason.count)), ` ${reason.message}`, nodeNames(reason.nodes || [], reason.count, on)));
  const line = [
    h("span.plugin", {}, step.plugin, step.extensionPoint === "Filter" ? null : h("span.point", {}, ` ${step.extensionPoint}`)),
    h("span.rejected", {}, step.rejected ? `−${grouped(step.rejected)}` : "0"),
    bar(all ? step.left / all : 0, step.rejected ? "" : "quiet"),
    h("span.left", {}, grouped(step.left)),
  ];
  if (!step.rejected) return h("li.step", {}, h("div.line", {}, line));
  const spoken = `${step.plugin}: rejects ${count(step.rejected, "node")}, leaves ${grouped(step.left)}`;
  return h("li.step", {}, h("details", {}, h("summary.line", { "aria-label": spoken }, line), h("ul.reasons", {}, reasons)));
}

/** From all nodes through each filter to the feasible ones. Filters that reject nothing are on demand. */
export function funnelView(funnel, on) {
  if (!funnel) return null;
  const steps = funnel.steps || [];
  const telling = steps.filter((step) => step.rejected);
  const quiet = steps.filter((step) => !step.rejected);
  const row = (title, number) =>
    h("li.step.end", {}, h("div.line", {}, h("span.plugin", {}, title), bar(funnel.nodes ? number / funnel.nodes : 0), h("span.left", {}, grouped(number))));
  return section("From all nodes to feasible ones",
    h("ol.funnel", {}, row("All nodes", funnel.nodes), telling.map((step) => funnelStep(step, funnel.nodes, on)), row("Feasible", funnel.feasible)),
    quiet.length ? details(`${count(quiet.length, "filter")} without an objection`, h("p.names", {}, quiet.map((step) => step.plugin).join(", "))) : null);
}

// ---- scores

function pluginKinds(scores) {
  const kinds = new Map();
  for (const node of scores) {
    for (const { plugin, weighted } of node.byPlugin) if (weighted && !kinds.has(plugin)) kinds.set(plugin, kinds.size % 8);
  }
  return kinds;
}

function scoreLine(node, rank, most, kinds, chosen, on) {
  const stack = h("span.stack", { "aria-hidden": "true" });
  for (const { plugin, weighted } of node.byPlugin) {
    if (!weighted) continue;
    const part = h(`span.part.kind${kinds.get(plugin)}`, { title: `${plugin} ${weighted}` });
    part.style.width = `${(weighted / most) * 100}%`;
    stack.append(part);
  }
  const rows = node.byPlugin.map((each) =>
    h("tr", {}, h("th", { scope: "row" }, each.plugin), [each.raw, each.score, each.weight, each.weighted].map((value) => h("td.figure", {}, value === null || value === undefined ? "–" : String(value)))));
  const spoken = `${rank}: ${node.node}${node.node === chosen ? ", chosen" : ""}, ${grouped(node.total)} points`;
  return h("li.scored", {},
    h("details", {},
      h("summary.line", { "aria-label": spoken }, h("span.rank", {}, String(rank)), h("span.plugin", {}, node.node, node.node === chosen ? h("span.tag", {}, "chosen") : null), stack, h("span.left", {}, grouped(node.total))),
      h("table", {}, h("thead", {}, h("tr", {}, ["plugin", "raw", "score", "weight", "weighted"].map((title) => h("th", { scope: "col" }, title)))), h("tbody", {}, rows)),
      h("p", {}, "Open ", nodeLink(node.node, on))));
}

/** Scores by plugin, stacked and weighted; raw ones on demand. */
export function scoresView(scores, placement, on) {
  if (!scores || !scores.length) return null;
  const kinds = pluginKinds(scores);
  const most = Math.max(1, ...scores.map((node) => node.total));
  const line = (node, number) => scoreLine(node, number + 1, most, kinds, placement?.node, on);
  return section("Scores of the best nodes",
    h("ul.legend", {}, [...kinds].map(([plugin, kind]) => h("li", {}, h(`span.swatch.kind${kind}`), plugin))),
    h("ol.scores", {}, scores.slice(0, 5).map(line)),
    scores.length > 5 ? details(`${scores.length - 5} more`, h("ol.scores", {}, scores.slice(5).map((node, number) => line(node, number + 5)))) : null);
}

function placementView(title, placement, on) {
  if (!placement) return null;
  const rest = (placement.runnersUp || []).map((each) =>
    h("tr", {}, h("td.figure", {}, String(each.rank)), h("th", { scope: "row" }, nodeLink(each.node, on)), h("td.figure", {}, grouped(each.total))));
  return section(title,
    h("p", {}, nodeLink(placement.node, on), `, out of ${count(placement.feasible, "feasible node")}.`),
    placement.decidedBy ? h("p", {}, `Decided by: ${placement.decidedBy}`) : null,
    placement.ties > 1 && !/\btie\b/.test(placement.decidedBy || "") ? h("p", {}, `${grouped(placement.ties)} nodes have the highest score; one of them was drawn.`) : null,
    placement.again ? h("p", {}, `If it were scheduled again now, it would go to ${placement.again}.`) : null,
    rest.length ? details("Runners-up", h("table", {}, h("thead", {}, h("tr", {}, ["rank", "node", "total"].map((each) => h("th", { scope: "col" }, each)))), h("tbody", {}, rest))) : null);
}

// ---- preemption, remedies, the record

function preemptionView(preemption, on) {
  if (!preemption) return null;
  const candidate = (each) =>
    h("li", {}, nodeLink(each.node, on), each.node === preemption.node ? h("span.tag", {}, "chosen") : null,
      `: ${count(each.victims.length, "victim")}`, each.budgetViolations ? `, ${count(each.budgetViolations, "disruption budget")} violated` : "",
      h("ul", {}, each.victims.map((victim) => h("li", {}, podLink(victim.pod, on), ` priority ${victim.priority}`, (victim.violates || []).length ? `, violates ${victim.violates.join(", ")}` : ""))));
  const shown = preemption.candidates || [];
  return section("Preemption",
    h("p", {}, preemption.helps ? "Evicting pods of lower priority makes room." : preemption.message || "It does not help."),
    shown.length ? h("ul.plain", {}, shown.slice(0, 3).map(candidate)) : null,
    shown.length > 3 ? details(`${shown.length - 3} more candidates`, h("ul.plain", {}, shown.slice(3).map(candidate))) : null,
    preemption.candidateCount > shown.length ? h("p", {}, `${grouped(preemption.candidateCount)} candidates in all.`) : null);
}

/** Whether remedies are looked for. */
export function isRemedied({ explanation }) {
  return ["unschedulable", "gated", "another-schedulers"].includes(explanation.verdict);
}

function remediesView(remedies, on) {
  if (remedies === undefined) return section("What helps", h("p.waiting", { role: "status" }, "Testing remedies …"));
  return section("What helps", remedies.length ? h("ol.remedies", {}, remedies.map((each) => remedyView(each, on))) : null);
}

function remedyView(remedy, on) {
  const command = (remedy.commands || []).join("\n");
  const copied = h("span.copied", { role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      copied.textContent = "copied";
    } catch {
      copied.textContent = "select it and copy";
    }
  };
  return h("li", {},
    h("p.remedy", {}, remedy.summary, remedy.recreate ? h("span.tag", {}, "pod is recreated") : null),
    h("p", {}, "It then goes to ", remedy.node, (remedy.preempts || []).length ? ` after ${count(remedy.preempts.length, "eviction")}.` : "."),
    command ? details("Command", h("pre", { tabindex: "0" }, command), h("button", { type: "button", onclick: copy }, "Copy"), copied) : null);
}

function nearestView(nearest, on) {
  return section("Nearest nodes", (nearest || []).length ? h("ul.plain", {}, nearest.map((each) =>
    h("li", {}, nodeLink(each.node, on), ` ${each.lacks.map((lack) => lack.message).join("; ")}`, each.resolvable ? h("span.tag", {}, "eviction may help") : null))) : null);
}

function waitsView(waits) {
  if (!waits) return null;
  const meanings = [...new Set((waits.events || []).map((each) => each.meaning))];
  return section("Tried again when",
    h("ul.plain", {}, meanings.map((each) => h("li", {}, each))),
    waits.backoffSeconds ? h("p", {}, `In backoff for ${Math.ceil(waits.backoffSeconds)} s more.`) : null,
    waits.attempts ? h("p", {}, `${count(waits.attempts, "attempt")} so far.`) : null,
    waits.atLatestSeconds ? h("p", {}, `At the latest after ${Math.round(waits.atLatestSeconds)} s.`) : null);
}

function groupView(group) {
  if (!group) return null;
  return section("Pod group",
    h("p", {}, `${group.name}: ${group.scheduled} of ${count(group.pods, "pod")} scheduled${group.minCount ? `, ${group.minCount} wanted at least` : ""}.`),
    group.message ? h("p", {}, group.message) : null,
    group.blocking ? h("p", {}, `First to find no node: ${group.blocking.pod}. ${group.blocking.message}`) : null);
}

export function gapsView(gaps) {
  return section("What is not known", (gaps || []).length ? h("ul.plain", {}, gaps.map((gap) => h("li", {}, `${gap.what}: ${gap.why}. ${gap.uncertain}`))) : null);
}

/** All of the panel. */
export function podView({ explanation, funnel, recordsLater, placed }, on) {
  const decisions = explanation.decisions || [];
  const facts = [explanation.owner, `priority ${explanation.priority}`, explanation.nominatedNode ? `nominated to ${explanation.nominatedNode}` : null];
  return [
    h("p.kicker", {}, "Pod"),
    h("h2", { tabindex: "-1" }, explanation.pod),
    h("p.verdict", { "data-verdict": explanation.verdict }, h("span.tag", {}, explanation.verdict), ` ${explanation.summary}`),
    placed ? h("p.notice", {}, "The page has placed this pod as the scheduler would. The manifests name no node.") : null,
    h("p.facts", {}, facts.filter(Boolean).join(" · ")),
    h("div.asks", {}, h("button", { type: "button", onclick: () => on.fits(explanation.pod) }, "How many like it fit?")),
    funnelView(funnel, on),
    placementView("Chosen node", explanation.placement, on),
    placementView("Placed", explanation.placed, on),
    scoresView(funnel?.scores, explanation.placement || explanation.placed, on),
    remediesView(explanation.remedies, on),
    preemptionView(explanation.preemption, on),
    nearestView(explanation.nearest, on),
    groupView(explanation.group),
    waitsView(explanation.waits),
    recordsLater ? section("Attempts on record", h("p.waiting", { role: "status" }, "They appear once the run has caught up with this moment …")) : null,
    attemptsView(explanation.pod, decisions, on),
    section("Message", explanation.message ? h("p.message", {}, explanation.message) : null),
    gapsView(explanation.gaps),
  ].filter(Boolean);
}
