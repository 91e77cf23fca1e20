// The tooltip of a node or pod under the pointer.

import { amount, count, percent } from "../cluster/amounts.js";
import { h } from "../page/dom.js";
import { requestsOf } from "../queue/lane.js";

export class Tooltip {
  constructor(element, page) {
    this.element = element;
    this.page = page;
  }

  show(hit, x, y) {
    this.hit = hit;
    this.element.hidden = !hit;
    if (!hit) return;
    this.refresh();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const host = this.element.parentElement;
    const left = x + 16 + width > host.clientWidth ? x - width - 12 : x + 16;
    const top = y + 16 + height > host.clientHeight ? y - height - 12 : y + 16;
    this.element.style.transform = `translate(${Math.round(Math.max(4, left))}px, ${Math.round(Math.max(4, top))}px)`;
  }

  refresh() {
    if (!this.hit || this.element.hidden) return;
    const { cluster } = this.page;
    if (cluster.nodes.name[this.hit.node] == null) return this.show(null);
    const there = this.hit.pod !== -1 && cluster.pods.name[this.hit.pod] != null;
    this.element.replaceChildren(...(there ? this.pod(this.hit.pod) : this.node(this.hit.node)));
  }

  pod(pod) {
    const { cluster } = this.page;
    return [
      h("b", {}, cluster.podKey(pod)),
      h("div", {}, [cluster.owner.get(pod), cluster.podState.get(pod), `priority ${cluster.priority[pod]}`].filter(Boolean).join(" · ")),
      h("div", {}, requestsOf(cluster, pod)),
    ];
  }

  node(node) {
    const { cluster, paint } = this.page;
    const shown = cluster.resources.filter((each) => cluster.allocatable.get(each)[node] && each !== "ephemeral-storage");
    return [
      h("b", {}, cluster.nodes.name[node]),
      this.state(node) ? h("div.state", {}, this.state(node)) : "",
      h("table", {}, h("tbody", {}, shown.slice(0, 5).map((each) =>
        h("tr", {}, h("th", {}, each), h("td", {}, percent(cluster.share(each, node))), h("td", {}, `${amount(each, cluster.freeOf(each, node))} free`))))),
      paint.id === "owner" || paint.id === "priority" ? h("div", {}, `${paint.id}: ${paint.words(node)}`) : "",
    ];
  }

  state(node) {
    const { cluster } = this.page;
    const words = [cluster.ready[node] ? "" : "not ready", cluster.unschedulable[node] ? "cordoned" : "", ...(cluster.taints[node] || []).slice(0, 3)];
    return words.filter(Boolean).join(", ");
  }

  /** A node in one sentence, to be read out. */
  sentence(node) {
    const { cluster } = this.page;
    const shares = cluster.resources.filter((each) => cluster.allocatable.get(each)[node] && each !== "pods").slice(0, 3);
    const places = this.page.keys().map((key) => cluster.labels.get(key)?.get(node)).filter(Boolean);
    return [`Node ${cluster.nodes.name[node]}`, ...places, this.state(node), count(cluster.podCount[node], "pod"), ...shares.map((each) => `${percent(cluster.share(each, node))} of ${each} requested`)]
      .filter(Boolean).join(", ");
  }
}
