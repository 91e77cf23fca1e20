// The panel of a node: what is free, its pods, and why each pending pod does not fit.
// In: the answer of /v1/nodes/{name}. Out: elements.

import { count, percent } from "../cluster/amounts.js";
import { partsOf, podLink } from "./links.js";
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

/** Devices by driver: how many are free, and who has the others. */
function devicesOf(devices, on) {
  const drivers = new Map();
  for (const each of devices) drivers.set(each.driver, [...(drivers.get(each.driver) ?? []), each]);
  return [...drivers].map(([driver, all]) => {
    const free = all.filter((each) => !each.claim).length;
    return h("div.driver", {},
      h("p", {}, `${driver}: ${free} of ${all.length} free`),
      h("ul.plain.devices", {}, all.map((each) => h("li", {},
        `${each.pool}/${each.device} `,
        each.claim ? h("span.taken", {}, "taken by ", each.pods.length ? each.pods.map((pod) => [podLink(pod, on), " "]) : `claim ${each.claim}`) : h("span.fits", {}, "free")))));
  });
}

export function nodeView({ explanation, devices }, on) {
  return [
    h("p.kicker", {}, "Node"),
    h("h2", { tabindex: "-1" }, explanation.node),
    h("p.verdict", {}, explanation.summary),
    explanation.notices.length ? h("ul.notices", {}, explanation.notices.map((each) => h("li", {}, each))) : null,
    section("Requested", h("ol.funnel", {}, explanation.resources.map(resourceLine))),
    section("Devices", devicesOf(devices ?? [], on)),
    section(`Pods (${explanation.pods.length})`, longList(explanation.pods, heldPod, on)),
    section("Pending pods, seen from this node", longList(explanation.pending, pendingKind, on)),
    gapsView(explanation.gaps),
  ].filter(Boolean);
}
