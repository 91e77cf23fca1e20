// The panel of a node: what is free, its pods, and why each pending pod does not fit.
// In: the answer of /v1/nodes/{name}. Out: elements.

import { count, percent } from "../cluster/amounts.js";
import { partsOf } from "./links.js";
import { gapsView } from "./pod.js";
import { bar, details, h, section } from "../page/dom.js";

const FIRST = 30;

function amounts(requests) {
  return Object.entries(requests || {}).map(([resource, value]) => `${value} ${resource}`).join(", ") || "requests nothing";
}

function resourceLine(each) {
  return h("li.step", {}, h("div.line", {},
    h("span.plugin", {}, each.resource), bar(each.used), h("span.left", {}, percent(each.used)),
    h("span.free", {}, `${each.free} free of ${each.allocatable}`)));
}

function heldPod(each, on) {
  const [namespace, name] = partsOf(each.pod);
  return h("li", {},
    h("button.link", { type: "button", onclick: () => on.pod(namespace, name) }, each.pod),
    each.terminating ? h("span.tag", {}, "terminating") : null,
    h("span.requests", {}, `${amounts(each.requests)} · priority ${each.priority}`));
}

function pendingKind(each, on) {
  const [namespace, name] = partsOf(each.example);
  const why = each.roomFor
    ? `${count(each.roomFor, "pod")} would fit`
    : [...each.lacks.map((lack) => lack.message), each.message].filter(Boolean).join("; ") || "does not fit";
  return h("li", {},
    h("button.link", { type: "button", onclick: () => on.pod(namespace, name) }, each.owner),
    h("span.tag", {}, count(each.pods, "pod")),
    h("span.requests", {}, amounts(each.requests)),
    h(each.roomFor ? "span.fits" : "span.lacks", {}, why));
}

/** A list whose end is on demand. */
function longList(items, view, on) {
  if (!items.length) return null;
  const first = h("ul.plain", {}, items.slice(0, FIRST).map((each) => view(each, on)));
  if (items.length <= FIRST) return first;
  return [first, details(`${items.length - FIRST} more`, h("ul.plain", {}, items.slice(FIRST).map((each) => view(each, on))))];
}

export function nodeView({ explanation }, on) {
  return [
    h("p.kicker", {}, "Node"),
    h("h2", { tabindex: "-1" }, explanation.node),
    h("p.verdict", {}, explanation.summary),
    explanation.notices.length ? h("ul.notices", {}, explanation.notices.map((each) => h("li", {}, each))) : null,
    section("Requested", h("ol.funnel", {}, explanation.resources.map(resourceLine))),
    section(`Pods (${explanation.pods.length})`, longList(explanation.pods, heldPod, on)),
    section("Pending pods, seen from this node", longList(explanation.pending, pendingKind, on)),
    gapsView(explanation.gaps),
  ].filter(Boolean);
}
