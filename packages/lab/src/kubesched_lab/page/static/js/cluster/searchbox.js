// The search field: how much is found, the first matches as a list, and the way through them by keyboard.
// In: words, and the cluster as it changes. Out: a Search; a match is shown on the map or in the lane, or opened.

import { count } from "./amounts.js";
import { byId, h } from "../page/dom.js";
import { Search } from "./search.js";

const NODES = 6; // that are listed
const PODS = 8;

export class SearchBox {
  /** on: looked(search) after each search; node(name), pod(namespace, name) open; nodesInOrder(), pendingInOrder(); pointNode(row), pointPod(row). */
  constructor(on) {
    this.on = on;
    this.field = byId("search");
    this.list = byId("results");
    this.field.addEventListener("input", () => this.look());
    this.field.addEventListener("keydown", (event) => this.fieldKey(event));
    this.list.addEventListener("keydown", (event) => this.listKey(event));
    document.addEventListener("pointerdown", (event) => {
      if (!event.target.closest(".searching")) this.fold();
    });
  }

  /** Search for other words. */
  look() {
    this.at = undefined;
    this.again(this.cluster);
    this.list.hidden = !this.list.children.length;
  }

  /** Search for the same words after the cluster has changed: the list stays open or closed, the focus where it is. */
  again(cluster) {
    this.cluster = cluster;
    if (!cluster) return;
    this.search = new Search(cluster, this.field.value);
    const { named, found, active } = this.search;
    byId("found").textContent = active ? `${count(named.length, "node")}, ${count(found.length, "pod")}` : "";
    const focused = this.list.contains(document.activeElement) ? document.activeElement.textContent : undefined;
    this.list.replaceChildren(...(active ? this.results() : []));
    if (!this.list.children.length) this.fold();
    if (focused !== undefined) (this.buttons().find((each) => each.textContent === focused) ?? this.field).focus();
    this.on.looked(this.search);
  }

  clear() {
    this.field.value = "";
    this.look();
  }

  /** Close the list; its focus goes to the field. */
  fold() {
    if (this.list.contains(document.activeElement)) this.field.focus();
    this.list.hidden = true;
  }

  // ---- the list

  results() {
    const { cluster, search } = this;
    const result = (name, kind, open) => h("li", {}, h("button", { type: "button", onclick: open }, h("span.name", {}, name), h("span.tag", {}, kind)));
    const missing = search.unknownKeys().map((key) => h("li.why", {}, `No node has a label ${key}; labels of pods are not searched.`));
    return [
      ...search.named.slice(0, NODES).map((node) => result(cluster.nodes.name[node], "node", () => this.openNode(node))),
      ...search.found.slice(0, PODS).map((pod) => result(cluster.podKey(pod), cluster.podState.get(pod), () => this.openPod(pod))),
      ...missing,
    ];
  }

  openNode(node) {
    this.on.node(this.cluster.nodes.name[node]);
  }

  openPod(pod) {
    this.on.pod(this.cluster.namespace.get(pod), this.cluster.podName[pod]);
  }

  buttons() {
    return [...this.list.querySelectorAll("button")];
  }

  listKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      this.fold();
    } else if (step) {
      event.preventDefault();
      const buttons = this.buttons();
      const next = buttons.indexOf(document.activeElement) + step;
      if (next < 0) this.field.focus();
      else buttons[next]?.focus();
    }
  }

  fieldKey(event) {
    if (event.key === "Enter") this.enter();
    if (event.key !== "ArrowDown" || !this.buttons().length) return;
    event.preventDefault();
    this.list.hidden = false;
    this.buttons()[0].focus();
  }

  // ---- from match to match

  /** Open the only match; of several go to the next: matching nodes, then pending pods. */
  enter() {
    if (!this.search?.active) return;
    const { named, found, nodes, pods } = this.search;
    if (named.length + found.length === 1) {
      if (named.length) this.openNode(named[0]);
      else this.openPod(found[0]);
      return;
    }
    const matches = [
      ...this.on.nodesInOrder().filter((node) => nodes[node]).map((row) => ({ kind: "node", row })),
      ...this.on.pendingInOrder().filter((pod) => pods[pod]).map((row) => ({ kind: "pod", row })),
    ];
    if (!matches.length) return;
    const before = matches.findIndex(({ kind, row }) => kind === this.at?.kind && row === this.at.row);
    this.at = matches[(before + 1) % matches.length];
    if (this.at.kind === "node") this.on.pointNode(this.at.row);
    else this.on.pointPod(this.at.row);
  }
}
