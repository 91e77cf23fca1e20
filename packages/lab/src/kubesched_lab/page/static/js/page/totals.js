// The totals of the cluster in one line: how much of each resource is requested, and the largest pod that fits.

import { amount, grouped, percent } from "../cluster/amounts.js";
import { bar, h } from "./dom.js";

const ALWAYS = ["cpu", "memory"];
const NEVER = ["pods", "ephemeral-storage"];
const MOST = 5; // resources; cpu and memory are among them
const CLOSED = /:(NoSchedule|NoExecute)$/;

/** What is requested of a resource on all nodes: {resource, used, all}. */
function totalOf(cluster, resource) {
  let [used, all] = [0, 0];
  const [requested, allocatable] = [cluster.requested.get(resource), cluster.allocatable.get(resource)];
  for (const node of cluster.nodeRows()) {
    used += requested[node];
    all += allocatable[node];
  }
  return { resource, used, all };
}

/** Totals of cpu and memory, then of what else nodes offer: the scarcest first. */
export function totalsOf(cluster) {
  const others = cluster.resources.filter((each) => !ALWAYS.includes(each) && !NEVER.includes(each));
  const found = others.map((each) => totalOf(cluster, each)).filter(({ all }) => all > 0);
  found.sort((a, b) => b.used / b.all - a.used / a.all);
  const first = ALWAYS.filter((each) => cluster.resources.includes(each)).map((each) => totalOf(cluster, each));
  return [...first, ...found].slice(0, MOST);
}

/** The largest pod of cpu and memory that some node takes without tolerations: {node, cpu, memory}, or null. */
export function largestPod(cluster) {
  let best = null;
  const most = Object.fromEntries(ALWAYS.map((each) => [each, cluster.allocatable.get(each)?.reduce((a, b) => Math.max(a, b), 0) || 1]));
  for (const node of cluster.nodeRows()) {
    if (!cluster.ready[node] || cluster.unschedulable[node] || cluster.taints[node]?.some((taint) => CLOSED.test(taint))) continue;
    const pods = cluster.allocatable.get("pods")?.[node] || 0;
    if (pods && cluster.podCount[node] >= pods) continue;
    const [cpu, memory] = ALWAYS.map((each) => (cluster.allocatable.has(each) ? Math.max(0, cluster.freeOf(each, node)) : 0));
    const size = cpu / most.cpu + memory / most.memory;
    if (!best || size > best.size) best = { node, cpu, memory, size };
  }
  return best;
}

export class Totals {
  /** on: fits() asks how many of something fit; node(name) opens one. */
  constructor(host, on) {
    this.on = on;
    this.line = h("div.figures", { role: "list", "aria-label": "Totals" });
    host.append(this.line, h("button", { id: "fits", type: "button", onclick: () => on.fits() }, "How many fit?"));
  }

  show(cluster) {
    const shares = totalsOf(cluster).map(({ resource, used, all }) =>
      h("span.total", { role: "listitem", title: `${amount(resource, used)} of ${amount(resource, all)} ${resource} requested, on all nodes` },
        h("b", {}, percent(used / all)), ` ${resource}`, bar(used / all)));
    this.line.replaceChildren(...shares, ...[this.pending(cluster), this.largest(cluster)].filter(Boolean));
  }

  pending(cluster) {
    let pods = 0;
    for (const pod of cluster.podRows()) if (cluster.isPending(pod)) pods += 1;
    return h("span.total", { role: "listitem" }, h("b", {}, grouped(pods)), " pending");
  }

  largest(cluster) {
    const found = largestPod(cluster);
    if (!found) return null;
    const name = cluster.nodes.name[found.node];
    const size = `${amount("cpu", found.cpu)} cpu, ${amount("memory", found.memory)}`;
    return h("span.total", { role: "listitem", title: `On node ${name}, for a pod without tolerations` },
      "largest pod that fits: ", h("button.link", { type: "button", onclick: () => this.on.node(name) }, h("b", {}, size)));
  }
}
