// The meaning of a node's colour. In: the cluster and the chosen measure. Out: a colour for each node and pod, and a legend.

import { amount, percent } from "../cluster/amounts.js";
import { kindOf, kinds, nothing, ramp } from "./colours.js";

/** The measures that can be chosen: [{id, label}]. */
export function measuresOf(cluster) {
  const shares = cluster.resources.map((name) => ({ id: `share:${name}`, label: `allocated ${name}, %` }));
  const used = cluster.resources.map((name) => ({ id: `used:${name}`, label: `requested ${name}` }));
  const free = cluster.resources.map((name) => ({ id: `free:${name}`, label: `free ${name}` }));
  return [
    { title: "Share that is allocated", options: [{ id: "scarcest", label: "scarcest resource, %" }, ...shares] },
    { title: "Requested amount", options: used },
    { title: "Free amount", options: free },
    {
      title: "Pods",
      options: [
        { id: "pods", label: "number of pods" },
        { id: "priority", label: "highest priority" },
        { id: "owner", label: "owner with most pods" },
      ],
    },
  ];
}

function highestPriority(cluster, node) {
  let highest = -Infinity;
  for (const pod of cluster.podsOf(node)) highest = Math.max(highest, cluster.priority[pod]);
  return highest === -Infinity ? NaN : highest;
}

function commonOwner(cluster, node) {
  const counts = new Map();
  let best = "";
  for (const pod of cluster.podsOf(node)) {
    const owner = cluster.ownerOf(pod);
    counts.set(owner, (counts.get(owner) || 0) + 1);
    if (!best || counts.get(owner) > counts.get(best)) best = owner;
  }
  return best;
}

/** A measure: its value of a node as a number or a text, as words, and the largest number of the scale. */
function measure(id, cluster) {
  const [kind, resource] = [id.split(":")[0], id.slice(id.indexOf(":") + 1)];
  if (kind === "scarcest") {
    return { value: (node) => cluster.scarcest(node).share, top: () => 1, words: (value) => percent(value) };
  }
  if (kind === "share") {
    return { value: (node) => cluster.share(resource, node), top: () => 1, words: (value) => percent(value) };
  }
  if (kind === "free" || kind === "used") {
    const column = () => cluster.allocatable.get(resource);
    const amountOf = kind === "free" ? (node) => cluster.freeOf(resource, node) : (node) => cluster.requested.get(resource)[node];
    const value = (node) => (column()[node] ? amountOf(node) : NaN);
    return { value, top: () => column().reduce((most, each) => Math.max(most, each), 0), words: (value) => amount(resource, value) };
  }
  if (kind === "pods") {
    return { value: (node) => cluster.podCount[node], top: () => cluster.podCount.reduce((most, each) => Math.max(most, each), 10), words: String };
  }
  return null;
}

/** Colours by the chosen measure and theme. `index` is by node; the colour of a node is `palette[index[node]]`. */
export class Paint {
  constructor(cluster, id, theme) {
    this.cluster = cluster;
    this.id = id;
    this.theme = theme;
    this.measure = measure(id, cluster);
    this.scale = ramp(theme);
    this.kinds = kinds(theme);
    this.palette = id === "owner" ? this.kinds.concat([nothing(theme)]) : this.scale.concat([nothing(theme)]);
    this.all();
  }

  /** Recolour every node. */
  all() {
    if (this.measure) this.top = this.measure.top() || 1;
    this.priorities = this.id === "priority" ? [...new Set([...this.cluster.podRows()].map((pod) => this.cluster.priority[pod]))] : [];
    this.priorities.sort((a, b) => a - b);
    this.index = new Uint16Array(this.cluster.nodeRoom);
    for (const node of this.cluster.nodeRows()) this.one(node);
  }

  one(node) {
    this.index[node] = this.indexOf(node);
  }

  indexOf(node) {
    if (this.id === "owner") {
      const owner = commonOwner(this.cluster, node);
      return owner ? kindOf(owner) : 8;
    }
    const share = this.id === "priority" ? this.rank(highestPriority(this.cluster, node)) : this.measure.value(node) / this.top;
    return Number.isFinite(share) ? Math.round(255 * Math.max(0, Math.min(1, share))) : 256;
  }

  rank(priority) {
    if (Number.isNaN(priority)) return NaN;
    const below = this.priorities.filter((each) => each < priority).length;
    return this.priorities.length > 1 ? below / (this.priorities.length - 1) : 0.5;
  }

  colour(node) {
    return this.palette[this.index[node]];
  }

  /** The colour of a pod's block: by its own owner or priority, otherwise that of its node. */
  podColour(pod, node) {
    if (this.id === "owner") return this.kinds[kindOf(this.cluster.ownerOf(pod))];
    if (this.id === "priority") return this.scale[Math.round(255 * this.rank(this.cluster.priority[pod]))] ?? this.scale[128];
    return this.palette[Math.max(70, this.index[node] === 256 ? 70 : this.index[node])];
  }

  /** The measure of a node, in words. */
  words(node) {
    if (this.id === "owner") return commonOwner(this.cluster, node) || "no pods";
    if (this.id === "scarcest") return `${percent(this.measure.value(node))} of ${this.cluster.scarcest(node).resource}`;
    const value = this.id === "priority" ? highestPriority(this.cluster, node) : this.measure.value(node);
    if (Number.isNaN(value)) return this.id === "priority" ? "no pods" : "has none";
    return this.id === "priority" ? String(value) : this.measure.words(value);
  }

  /** The ends of the scale in words, or null where colours are kinds. */
  ends() {
    if (this.id === "owner") return null;
    if (this.id === "priority") return this.priorities.length ? [String(this.priorities[0]), String(this.priorities.at(-1))] : ["", ""];
    return [this.measure.words(0), this.measure.words(this.top)];
  }
}
