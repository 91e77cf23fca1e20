// The lane of pending pods: groups by what they wait for, the largest first, pods oldest first. Only rows that are in view
// are elements.

import { age, amount, count } from "../cluster/amounts.js";
import { h } from "../page/dom.js";

const POD = 44;
const BEYOND = 300; // pixels above and below the view that have rows

/** The height of a group: one to three lines of its reason. */
function groupHeight(why, width) {
  return 20 + 18 * Math.max(1, Math.min(3, Math.ceil((why.length * 7) / (width - 84))));
}

/** Groups of pending pods: [{why, gated, pods}], of those that a search finds. */
export function pendingGroups(cluster, search) {
  const found = new Map();
  for (const pod of cluster.podRows()) {
    if (!cluster.isPending(pod) || (search && !search.pods[pod])) continue;
    const gated = cluster.podState.get(pod) === "gated";
    const why = cluster.why.get(pod) || (gated ? "Held by a scheduling gate" : cluster.causes?.get(pod) || "Not tried yet");
    if (!found.has(why)) found.set(why, { why, gated, pods: [] });
    found.get(why).pods.push(pod);
  }
  const groups = [...found.values()];
  const created = (pod) => (Number.isNaN(cluster.created[pod]) ? Infinity : cluster.created[pod]);
  for (const group of groups) group.pods.sort((a, b) => created(a) - created(b) || a - b);
  return groups.sort((a, b) => b.pods.length - a.pods.length || (a.why < b.why ? -1 : 1));
}

/** Why pods are pending, by row, from the answer of /v1/pending. */
export function causesOf(cluster, { groups, others }) {
  const found = new Map();
  const rows = new Map();
  for (const pod of cluster.podRows()) if (cluster.isPending(pod)) rows.set(cluster.podKey(pod), pod);
  for (const { verdict, cause, names } of [...groups, ...others]) {
    const why = { unschedulable: `Fits nowhere: ${cause}`, schedulable: "Not tried yet: there is a place" }[verdict] ?? cause[0].toUpperCase() + cause.slice(1);
    for (const name of names) found.set(rows.get(name), why);
  }
  return found;
}

/** What a pod requests, in words. */
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
    list.append(this.room);
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
    if (this.groups.length === 1 && pods <= 50) this.open.add(this.groups[0].why);
    this.flatten();
  }

  flatten() {
    this.items = [];
    let top = 0;
    for (const group of this.groups) {
      const height = groupHeight(group.why, this.list.clientWidth || 300);
      this.items.push({ group, top, height });
      top += height;
      if (!this.open.has(group.why)) continue;
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
    const open = this.open.has(group.why);
    const toggle = () => {
      if (open) this.open.delete(group.why);
      else this.open.add(group.why);
      this.flatten();
    };
    return h("button.group", { type: "button", "aria-expanded": String(open), onclick: toggle, title: group.why },
      h("span.number", {}, String(group.pods.length)), h("span.why", {}, group.why));
  }

  podButton(pod) {
    const { cluster } = this;
    return h("button.pod", { type: "button", "data-marked": pod === this.marked, onclick: () => this.on.pod(cluster.namespace.get(pod), cluster.podName[pod]) },
      h("span.name", {}, cluster.podKey(pod)), h("span.age", { "data-pod": pod }, this.waiting(pod)), h("span.requests", {}, requestsOf(cluster, pod)));
  }

  /** How long a pod has been waiting. */
  waiting(pod) {
    return age(this.cluster.now - this.cluster.created[pod]);
  }

  /** Time has passed: tell the ages of the pods in view anew. */
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
    this.open.add(this.groups.find((group) => group.pods.includes(pod)).why);
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
