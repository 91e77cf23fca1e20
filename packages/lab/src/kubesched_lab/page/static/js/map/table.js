// The nodes as a table: the content of the map, for screen readers and for users who prefer tables.

import { amount, count, grouped, percent } from "../cluster/amounts.js";
import { h } from "../page/dom.js";
import { nodesByName } from "./layout.js";

const PAGE = 100;

export class NodeTable {
  constructor(host, on) {
    this.host = host;
    this.on = on;
    this.from = 0;
  }

  /** Nodes that the search finds, a hundred at a time. */
  show(cluster, search, keys) {
    const rows = nodesByName(cluster).filter((node) => !search.active || search.nodes[node]);
    this.from = Math.min(this.from, Math.max(0, Math.floor((rows.length - 1) / PAGE) * PAGE));
    const again = (from) => {
      this.from = from;
      this.show(cluster, search, keys);
      this.host.querySelector("table").focus();
    };
    const resources = cluster.resources.filter((each) => each !== "pods" && each !== "ephemeral-storage").slice(0, 4);
    const shown = rows.slice(this.from, this.from + PAGE);
    const head = ["Node", ...keys, "State", "Pods", ...resources.map((each) => `${each} requested`)];
    this.host.replaceChildren(
      h("div.pages", {},
        h("span", {}, rows.length ? `${grouped(this.from + 1)}–${grouped(this.from + shown.length)} of ${count(rows.length, "node")}` : cluster.nodeCount ? "No node matches." : "The cluster has no nodes."),
        h("button", { type: "button", disabled: this.from === 0, onclick: () => again(this.from - PAGE) }, "Before"),
        h("button", { type: "button", disabled: this.from + PAGE >= rows.length, onclick: () => again(this.from + PAGE) }, "Next")),
      h("table", { tabindex: "-1" },
        h("caption", {}, "Nodes of the cluster"),
        h("thead", {}, h("tr", {}, head.map((title) => h("th", { scope: "col" }, title)))),
        h("tbody", {}, shown.map((node) => this.row(cluster, node, keys, resources)))),
    );
  }

  row(cluster, node, keys, resources) {
    const state = [cluster.ready[node] ? "ready" : "not ready", cluster.unschedulable[node] ? "cordoned" : ""].filter(Boolean).join(", ");
    const name = cluster.nodes.name[node];
    return h("tr", {},
      h("th", { scope: "row" }, h("button.link", { type: "button", onclick: () => this.on.node(name) }, name)),
      keys.map((key) => h("td", {}, cluster.labels.get(key)?.get(node) || "–")),
      h("td", {}, state),
      h("td.figure", {}, String(cluster.podCount[node])),
      resources.map((each) => h("td.figure", {}, cluster.allocatable.get(each)[node]
        ? `${amount(each, cluster.requested.get(each)[node])} of ${amount(each, cluster.allocatable.get(each)[node])} (${percent(cluster.share(each, node))})`
        : "–")));
  }
}
