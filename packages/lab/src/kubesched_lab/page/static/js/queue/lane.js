// The lane of pending pods: groups by the reason that they wait for, the largest first, pods oldest first. Only rows that are in view
// are elements.

import { age, amount, count, cutMiddle, grouped } from "../cluster/amounts.js";
import { fitted } from "../map/labels.js";
import { h } from "../page/dom.js";

const POD = 44;
const BEYOND = 300; // pixels above and below the view that have rows
const LONGEST = 240; // characters of a reason; a longer one is cut in its middle
const BETWEEN = 4; // pixels between groups
const AGE = 100; // pixels beside the name of a pod
const FITS_NOWHERE = "Fits nowhere: ";

const FONT = '13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const REMEMBERED = 2000; // heights of groups

/** A reason in three parts; the middle one, about most of the nodes, decides. */
function partsOf(why) {
  return /^(Fits nowhere: )?(.*?)((?:, \d+ .*)?)$/s.exec(why).slice(1).map((part) => part ?? "");
}

/** The key of a group: its reason without numbers of nodes, which change while pods are tried one by one. */
function kindOf(why) {
  if (!why.startsWith(FITS_NOWHERE)) return why;
  return why.slice(FITS_NOWHERE.length).split(/, (?=\d+ )/).map((part) => part.replace(/^\d+ /, "")).sort().join(", ");
}

/** Why a pod is pending, in words. */
function reasonOf(cluster, pod) {
  const why = cluster.why.get(pod) || (cluster.podState.get(pod) === "gated" ? "Held by a scheduling gate" : cluster.causes?.get(pod) || "Not tried yet");
  return cutMiddle(why, LONGEST);
}

/** Whose pods these are, most first: "Deployment shop/web × 12 and 2 more". */
export function ownersOf(cluster, pods) {
  const counts = new Map();
  for (const pod of pods) {
    const [kind, name] = cluster.owner.get(pod).split("/");
    const owner = name ? `${kind} ${cluster.namespace.get(pod)}/${name}` : "";
    counts.set(owner, (counts.get(owner) || 0) + 1);
  }
  const [[most, times]] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const first = most || (times === 1 ? `Pod ${cluster.podKey(pods.find((pod) => !cluster.owner.get(pod)))}` : "Pods without an owner");
  const others = counts.size > 1 ? ` and ${count(counts.size - 1, "other owner")}` : "";
  return `${first}${times > 1 ? ` × ${grouped(times)}` : ""}${others}`;
}

/** Groups of pending pods: [{kind, why, pods}], filtered by a search. Pods with the same text are one group. */
export function pendingGroups(cluster, search) {
  const found = new Map();
  for (const pod of cluster.podRows()) {
    if (!cluster.isPending(pod) || (search && !search.pods[pod])) continue;
    const why = reasonOf(cluster, pod);
    const kind = kindOf(why);
    if (!found.has(kind)) found.set(kind, { kind, why, pods: [] });
    found.get(kind).pods.push(pod);
  }
  const groups = [...found.values()];
  const created = (pod) => (Number.isNaN(cluster.created[pod]) ? Infinity : cluster.created[pod]);
  for (const group of groups) {
    group.pods.sort((a, b) => created(a) - created(b) || a - b);
    group.why = reasonOf(cluster, group.pods[0]);
    group.owners = ownersOf(cluster, group.pods);
  }
  return groups.sort((a, b) => b.pods.length - a.pods.length || (a.why < b.why ? -1 : 1));
}

/** Why pods are pending, by row, from the answer of /v1/pending. */
export function causesOf(cluster, { groups, others }) {
  const found = new Map();
  const rows = new Map();
  for (const pod of cluster.podRows()) if (cluster.isPending(pod)) rows.set(cluster.podKey(pod), pod);
  for (const { verdict, cause, names } of [...groups, ...others]) {
    const why = { unschedulable: `${FITS_NOWHERE}${cause}`, schedulable: "Not tried yet: it fits on a node" }[verdict] ?? cause[0].toUpperCase() + cause.slice(1);
    for (const name of names) found.set(rows.get(name), why);
  }
  return found;
}

/** The requests of a pod, in words. */
export function requestsOf(cluster, pod) {
  const parts = [];
  for (const [resource, column] of cluster.requests) {
    if (column[pod] && resource !== "pods") parts.push(`${amount(resource, column[pod])} ${resource}`);
  }
  return parts.join(", ") || "requests nothing";
}

export class PendingLane {
  constructor(list, title, on) {
    this.list = list;
    this.title = title;
    this.on = on;
    this.open = new Set();
    this.items = [];
    this.current = 0;
    this.marked = -1; // the pod that a search is at
    this.room = h("div.room", { role: "presentation" });
    // groups whose height is not known yet, one moment
    this.ruler = h("div.ruler", { "aria-hidden": "true" });
    this.heights = new Map();
    this.pen = document.createElement("canvas").getContext("2d");
    this.pen.font = FONT;
    list.append(this.room, this.ruler);
    list.addEventListener("scroll", () => this.fill(), { passive: true });
    list.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.cluster && this.flatten()).observe(list);
  }

  /** A search that finds nodes alone leaves all pods here. */
  show(cluster, search) {
    this.cluster = cluster;
    if (!search?.pods[this.marked]) this.marked = -1;
    const looking = search?.active && (search.found.length || !search.named.length);
    this.groups = pendingGroups(cluster, looking ? search : null);
    const pods = this.groups.reduce((sum, group) => sum + group.pods.length, 0);
    this.title.textContent = looking ? `${count(pods, "pending pod")} found` : pods ? count(pods, "pending pod") : "Nothing is pending";
    document.body.classList.toggle("nothing-pending", !pods && !looking);
    if (this.groups.length === 1 && pods <= 50) this.open.add(this.groups[0].kind);
    this.flatten();
  }

  /** The heights of all groups: as high as their texts are in the width of the lane. */
  measured() {
    const keyOf = ({ why, pods }) => `${this.list.clientWidth} ${String(pods.length).length} ${why}`;
    if (this.heights.size > REMEMBERED) this.heights.clear();
    const unknown = this.groups.filter((group) => !this.heights.has(keyOf(group)));
    const buttons = unknown.map((group) => this.groupButton(group));
    this.ruler.replaceChildren(...buttons);
    unknown.forEach((group, number) => this.heights.set(keyOf(group), buttons[number].offsetHeight + BETWEEN));
    this.ruler.replaceChildren();
    return this.groups.map((group) => this.heights.get(keyOf(group)));
  }

  flatten() {
    this.items = [];
    let top = 0;
    const heights = this.measured();
    for (const [number, group] of this.groups.entries()) {
      const height = heights[number];
      this.items.push({ group, top, height });
      top += height;
      if (!this.open.has(group.kind)) continue;
      for (const pod of group.pods) {
        this.items.push({ pod, group, top, height: POD });
        top += POD;
      }
    }
    this.room.style.height = `${top}px`;
    this.fill();
  }

  /** Make the rows that are in view; a row that has the focus keeps it. */
  fill() {
    if (!this.cluster) return;
    const from = this.list.scrollTop - BEYOND;
    const to = this.list.scrollTop + this.list.clientHeight + BEYOND;
    const focused = this.room.contains(document.activeElement) ? this.current : -1;
    const rows = [];
    for (let number = this.firstAfter(from); number < this.items.length && this.items[number].top < to; number++) {
      rows.push(this.row(this.items[number], number));
    }
    this.room.replaceChildren(...rows);
    if (focused !== -1) this.button(focused)?.focus({ preventScroll: true });
  }

  firstAfter(y) {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.items[middle].top + this.items[middle].height < y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  row(item, number) {
    const button = item.pod === undefined ? this.groupButton(item.group) : this.podButton(item.pod);
    button.dataset.number = number;
    button.addEventListener("focus", () => (this.current = number));
    const row = h("div.row", { role: "listitem", "aria-setsize": this.items.length, "aria-posinset": number + 1 }, button);
    row.style.transform = `translateY(${item.top}px)`;
    row.style.height = `${item.height}px`;
    return row;
  }

  groupButton(group) {
    const open = this.open.has(group.kind);
    const toggle = () => {
      if (open) this.open.delete(group.kind);
      else this.open.add(group.kind);
      this.flatten();
    };
    const [start, decisive, rest] = partsOf(group.why);
    return h("button.group", { type: "button", "aria-expanded": String(open), onclick: toggle, title: `${group.why}\n${group.owners}` },
      h("span.number", {}, String(group.pods.length)),
      h("span.cause", {}, h("span.why", {}, start, h("b", {}, decisive), rest), h("span.owners", {}, group.owners)));
  }

  podButton(pod) {
    const { cluster } = this;
    const name = cluster.podKey(pod);
    // names of one owner differ at their end
    const shown = fitted(this.pen, name, (this.list.clientWidth || 300) - AGE);
    const spoken = shown === name ? null : `${name}, ${this.waiting(pod)}, ${requestsOf(cluster, pod)}`;
    return h("button.pod", { type: "button", title: name, "aria-label": spoken, "data-marked": pod === this.marked, onclick: () => this.on.pod(cluster.namespace.get(pod), cluster.podName[pod]) },
      h("span.name", {}, shown), h("span.age", { "data-pod": pod }, this.waiting(pod)), h("span.requests", {}, requestsOf(cluster, pod)));
  }

  /** How long a pod has been waiting. */
  waiting(pod) {
    return age(this.cluster.now - this.cluster.created[pod]);
  }

  /** Time has passed: update the ages of the pods in view. */
  tick() {
    for (const element of this.room.querySelectorAll(".age")) {
      const text = this.waiting(Number(element.dataset.pod));
      if (element.textContent !== text) element.textContent = text;
    }
  }

  /** The pods of all groups, in their order. */
  pods() {
    return this.groups.flatMap((group) => group.pods);
  }

  /** Mark a pod and bring it into view. */
  goTo(pod) {
    this.marked = pod;
    this.open.add(this.groups.find((group) => group.pods.includes(pod)).kind);
    this.flatten();
    this.reveal(this.items.findIndex((item) => item.pod === pod));
  }

  /** Bring a row into view. */
  reveal(number) {
    const { top, height } = this.items[number];
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    if (top + height > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + height - this.list.clientHeight;
    this.fill();
  }

  button(number) {
    return this.room.querySelector(`button[data-number="${number}"]`);
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || !this.items.length) return;
    event.preventDefault();
    // from the list itself the first key leads to the row of the last time
    const from = this.room.contains(document.activeElement) || Math.abs(step) !== 1 ? this.current + step : this.current;
    this.current = Math.max(0, Math.min(this.items.length - 1, from));
    this.reveal(this.current);
    this.button(this.current)?.focus({ preventScroll: true });
  }
}
