// Starts the page and ties its parts together: changes flow from the feed into the cluster, from there into map, lane and
// table once a frame; clicks flow into the panel.

import { Actions } from "./actions/actions.js";
import { fitsDialog } from "./actions/fits.js";
import { count, shortKey } from "./cluster/amounts.js";
import { ConfigurationView } from "./configuration/configuration.js";
import { partsOf } from "./panel/links.js";
import { gapsView } from "./panel/pod.js";
import { byId, h, isTyped } from "./page/dom.js";
import { Server, follow, takeToken } from "./cluster/feed.js";
import { gestures } from "./map/gestures.js";
import { ClusterMap } from "./map/map.js";
import { Paint, measuresOf } from "./map/measures.js";
import { Panel } from "./panel/panel.js";
import { PendingLane, causesOf } from "./queue/lane.js";
import { QueueView } from "./queue/queue.js";
import { SearchBox } from "./cluster/searchbox.js";
import { Cluster } from "./cluster/state.js";
import { NodeTable } from "./map/table.js";
import { hintsAtMore } from "./page/scrolling.js";
import { followTheme, theme } from "./page/theme.js";
import { Totals } from "./page/totals.js";
import { TimeBar } from "./time/time.js";
import { Tooltip } from "./map/tooltip.js";
import { Views } from "./page/views.js";
import { Visits } from "./page/visits.js";

const AGES = 1000; // milliseconds between two updates of the waiting times of pods
const SLOWLY = 250; // milliseconds between two updates of the slower parts: lane, table, search, counts

class Page {
  constructor() {
    this.server = new Server(takeToken());
    this.lost = new Map();
    const on = {
      pod: (namespace, name) => this.openPod(namespace, name),
      node: (name) => this.openNode(name),
      fits: (pod) => fitsDialog(this.server, pod),
      closed: () => this.closed(),
    };
    this.map = new ClusterMap(byId("map"), { hover: (hit, x, y) => this.tooltip.show(hit, x, y), select: (hit) => this.select(hit) });
    this.tooltip = new Tooltip(byId("tooltip"), this);
    const isThere = ({ kind, key }) => (kind === "node" ? this.cluster.findNode(key) : this.cluster.findPod(key)) !== -1;
    this.panel = new Panel(byId("panel"), this.server, { ...on, isThere });
    this.lane = new PendingLane(byId("pending-list"), byId("pending-title"), on);
    this.table = new NodeTable(byId("table"), on);
    this.totals = new Totals(byId("totals"), on);
    this.queue = new QueueView(byId("queue"), this.server, on);
    this.visits = new Visits((visit) => this.goBack(visit));
    this.configuration = new ConfigurationView(byId("configuration"), this.server, on);
    this.actions = new Actions(byId("actions"), byId("acted"), this);
    this.time = new TimeBar(this.server, {
      ...on,
      isThere,
      clock: (clock) => this.cluster.takeClock(clock),
    });
    this.searchBox = new SearchBox({
      ...on,
      looked: (search) => this.looked(search),
      nodesInOrder: () => this.map.placed?.order ?? [],
      pendingInOrder: () => this.lane.pods(),
      pointNode: (node) => this.pointNode(node),
      pointPod: (pod) => this.pointPod(pod),
    });
    this.views = new Views(byId("views"), () => this.note());
    byId("lane-fold").addEventListener("click", () => this.foldLane(!document.body.classList.contains("lane-folded")));
    this.addViews();
    this.controls();
    gestures(this.map, (node) => (byId("spoken").textContent = this.tooltip.sentence(node)));
    followTheme(byId("theme"), () => this.recolour());
    follow(this.server, {
      cluster: (data, broken) => this.start(data, broken),
      clock: (clock) => this.tick(clock),
      changes: (data) => this.change(data),
      source: (source) => this.source(source),
      scheduler: (scheduler) => this.scheduler(scheduler),
      gone: (sentence) => this.banner("gone", sentence),
      refused: () => this.banner("refused", "This page needs its token: open the address that kubesched page printed, with all that follows the #."),
    });
  }

  // ---- data

  start(data, broken) {
    const back = this.cluster !== undefined;
    this.cluster = new Cluster(data);
    this.cluster.takeChanges();
    const { origin, kubernetes, live } = this.cluster;
    const release = [kubernetes, live ? "live" : ""].filter(Boolean).join(" · ");
    byId("origin").replaceChildren(h("span.where", { title: origin }, origin), h("span.release", {}, origin && release ? `· ${release}` : release));
    byId("placed-label").hidden = this.cluster.placed === null;
    byId("placed").checked = this.cluster.placed === true;
    this.fillChoices();
    byId("gaps").replaceChildren(...[gapsView(this.cluster.gaps)].filter(Boolean));
    this.paint = undefined; // the value of the previous cluster
    this.searchBox.again(this.cluster);
    // the bar takes its room before nodes are arranged in theirs
    this.time.start(data);
    if (!back) this.map.resize();
    this.recolour();
    this.slow();
    document.body.dataset.ready = "yes";
    if (!back) requestAnimationFrame(() => requestAnimationFrame((now) => (window.shownAt = now)));
    this.source(this.cluster.source);
    this.scheduler(data.scheduler);
    this.actions.refresh();
    this.configuration.refresh();
    if (data.mode === "files") requestAnimationFrame(() => requestAnimationFrame(() => this.explainPending(this.cluster)));
    if (!back) {
      this.visits.resume();
      this.note();
    } else {
      if (broken && !this.lost.size) this.banner("back", "Connected again.");
      this.panel.refresh();
    }
  }

  /** In files no scheduler has tried pods: after the first view the lane gets the expected results. */
  async explainPending(cluster) {
    try {
      const { explanation } = await this.server.get("/v1/pending?remedies=no");
      cluster.causes = causesOf(cluster, explanation);
    } catch {
      return; // the lane stays as it is
    }
    if (this.cluster === cluster) this.lane.show(cluster, this.search);
  }

  /** The clock of a simulation has changed: where it goes to another moment at once, or its run is there, the panel follows. */
  tick(clock) {
    const before = this.time.clock;
    this.time.take(clock);
    const jumped = clock.state !== "playing" && (before?.cycles !== clock.cycles || before?.seconds !== clock.seconds);
    if (before && (jumped || (before.behind !== null && clock.behind === null))) this.panel.refresh();
  }

  change(data) {
    this.cluster.apply(data);
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.asked = false;
    const changed = this.cluster.takeChanges();
    if (this.paint.index.length < this.cluster.nodeRoom) this.paint.all();
    for (const node of changed.nodes) this.paint.one(node);
    if (this.search.active && (this.search.pods.length < this.cluster.podRoom || this.search.nodes.length < this.cluster.nodeRoom)) this.searchBox.again(this.cluster);
    this.map.update(changed);
    this.later(changed);
  }

  /** Update the parts that need not follow every frame. */
  later(changed) {
    this.late ??= { pods: new Set(), nodes: new Set(), pending: false, layout: false };
    for (const pod of changed.pods) this.late.pods.add(pod);
    for (const node of changed.nodes) this.late.nodes.add(node);
    this.late.pending ||= changed.pending;
    this.late.layout ||= changed.layout;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.slow();
    }, SLOWLY);
  }

  slow() {
    const late = this.late ?? { pods: new Set(), nodes: new Set(), pending: true, layout: false };
    this.late = undefined;
    const { cluster } = this;
    byId("map").querySelector(".empty").hidden = cluster.nodeCount > 0;
    byId("counts").textContent = `${count(cluster.nodeCount, "node")}, ${count(cluster.podTotal, "pod")}`;
    if (late.pending) this.lane.show(cluster, this.search);
    if (late.pending || late.nodes.size) this.totals.show(cluster);
    this.strokes();
    if (this.search.active && late.pods.size) this.searchBox.again(this.cluster);
    if (this.views.is("table")) this.showTable();
    this.tooltip.refresh();
    if (late.layout) this.fillChoices();
    if (this.touches(late)) this.panel.refreshSoon();
  }

  /** Whether changes touch the subject of the panel. */
  touches({ pods, nodes }) {
    const { cluster, panel: { subject } } = this;
    if (subject?.kind === "node") return cluster.findNode(subject.key) === -1 || nodes.has(cluster.findNode(subject.key));
    return subject?.kind === "pod" && [...pods].some((pod) => cluster.pods.name[pod] === null || cluster.podKey(pod) === subject.key);
  }

  source({ state, why }) {
    this.tellLost("cluster", state === "lost" && `The cluster is lost: ${why || "it does not answer"}. The page shows its last known state.`, "The cluster is back.");
  }

  /** Null without a named scheduler. Its record of pods is available only while it answers. */
  scheduler(scheduler) {
    const { state, url, why, since } = scheduler ?? {};
    const lost = state === "lost" && `The scheduler at ${url} does not answer since ${new Date(since * 1000).toLocaleTimeString()}: ${why}.`;
    if (this.tellLost("scheduler", lost, url && `The scheduler at ${url} is back.`)) this.panel.refresh();
  }

  /** Report with a sentence that the cluster or its scheduler is lost, or that it answers; return whether that is new. */
  tellLost(what, sentence, back) {
    const before = this.lost.has(what);
    if (sentence) this.lost.set(what, sentence);
    else this.lost.delete(what);
    if (this.lost.size) this.banner("lost", [...this.lost.values()].join(" "));
    else if (before) this.banner(back ? "back" : "", back || "");
    else if (["gone", "refused"].includes(byId("banner").dataset.kind)) this.banner("", "");
    return before !== Boolean(sentence);
  }

  banner(kind, sentence) {
    const banner = byId("banner");
    if (banner.dataset.kind === kind && banner.textContent === sentence) return;
    clearTimeout(this.bannerTimer);
    banner.dataset.kind = kind;
    banner.textContent = sentence;
    if (kind === "back") this.bannerTimer = setTimeout(() => this.banner("", ""), 4000);
  }

  // ---- choices

  controls() {
    byId("colour").addEventListener("change", () => this.recolour());
    byId("area").addEventListener("change", (event) => this.map.sizePodsBy(event.target.value));
    for (const id of ["group", "within"]) byId(id).addEventListener("change", () => this.regroup());
    byId("placed").addEventListener("change", (event) => this.place(event.target));
    for (const row of [byId("node-tools"), this.totals.line]) hintsAtMore(row);
    byId("zoom-in").addEventListener("click", () => this.map.zoom(1.5));
    byId("zoom-out").addEventListener("click", () => this.map.zoom(1 / 1.5));
    byId("zoom-fit").addEventListener("click", () => this.map.fit());
    document.addEventListener("keydown", (event) => this.key(event));
    setInterval(() => this.cluster && !document.hidden && this.lane.tick(), AGES);
  }

  key(event) {
    if (event.key === "/" && !isTyped(event)) {
      event.preventDefault();
      byId("search").focus();
    } else if (event.key === "Escape") {
      if (event.target === byId("search") && byId("search").value) {
        this.searchBox.clear();
      } else if (this.panel.open) this.panel.close();
      else if (event.target === byId("search")) byId("map").querySelector("canvas.over").focus();
    }
  }

  /** Fill the selects, keeping what is chosen. */
  fillChoices() {
    const { cluster } = this;
    const labels = [...cluster.labels.keys()].sort();
    const group = byId("group").value;
    for (const id of ["group", "within"]) {
      const chosen = byId(id).value;
      byId(id).replaceChildren(h("option", { value: "" }, "nothing"), ...labels.map((key) => h("option", { value: key, title: key }, shortKey(key))));
      byId(id).value = chosen && cluster.labels.has(chosen) ? chosen : "";
    }
    if (!group && !this.chosen) ["group", "within"].forEach((id, number) => (byId(id).value = cluster.places[number] ?? ""));
    this.chosen = true;
    const colour = byId("colour").value;
    byId("colour").replaceChildren(...measuresOf(cluster).map(({ title, options }) =>
      h("optgroup", { label: title }, options.map(({ id, label }) => h("option", { value: id }, label)))));
    byId("colour").value = [...byId("colour").options].some((option) => option.value === colour) ? colour : "scarcest";
    const area = byId("area").value;
    const sizes = ["scarcest", ...cluster.resources.filter((each) => each !== "pods")];
    byId("area").replaceChildren(...sizes.map((each) => h("option", { value: each }, each)));
    byId("area").value = sizes.includes(area) ? area : sizes[0] || "";
    this.map.areas = byId("area").value;
    this.map.keys = this.keys();
  }

  keys() {
    return [...new Set([byId("group").value, byId("within").value].filter(Boolean))];
  }

  regroup() {
    this.map.group(this.keys());
    if (this.views.is("table")) this.showTable();
  }

  recolour() {
    if (!this.cluster) return;
    this.paint = new Paint(this.cluster, byId("colour").value, theme());
    this.map.show(this.cluster, this.paint, this.search);
    this.queue.chart.draw();
    this.legend();
  }

  legend() {
    const ends = this.paint.ends();
    const canvas = byId("legend-scale");
    canvas.hidden = ends === null;
    byId("legend-what").textContent = ends ? byId("colour").selectedOptions[0]?.textContent.replace(/, %$/, "") : "";
    byId("legend-low").textContent = ends ? ends[0] : "a colour for each owner";
    byId("legend-high").textContent = ends ? ends[1] : "";
    const g = canvas.getContext("2d");
    for (let x = 0; x < 128; x++) {
      g.fillStyle = this.paint.scale[Math.round((x / 127) * 255)];
      g.fillRect(x, 0, 1, canvas.height);
    }
  }

  /** The legend of the strokes on the map. */
  strokes() {
    const { cluster } = this;
    const rows = [...cluster.nodeRows()];
    byId("legend-cordoned").hidden = !rows.some((node) => cluster.unschedulable[node]);
    byId("legend-unready").hidden = !rows.some((node) => !cluster.ready[node]);
  }

  /** Show pods of manifests where the scheduler places them, or pending. */
  async place(box) {
    box.disabled = true;
    try {
      await this.server.post("/v1/placed", { placed: box.checked });
    } catch (error) {
      box.checked = this.cluster.placed === true;
      this.actions.say(error.status ? error.message : "The page's server does not answer.", "failed");
    }
    box.disabled = false;
  }

  // ---- search

  looked(search) {
    this.search = search;
    if (!this.paint) return;
    this.map.show(this.cluster, this.paint, search);
    this.lane.show(this.cluster, search);
    if (this.views.is("table")) this.showTable();
  }

  /** Show a node that was found. */
  pointNode(node) {
    this.map.focused = node;
    this.map.point({ node, pod: -1 });
    this.map.goTo(node);
    byId("spoken").textContent = this.tooltip.sentence(node);
  }

  /** Show a pending pod that was found. */
  pointPod(pod) {
    this.map.point({ node: -1, pod: -1 });
    this.foldLane(false);
    this.lane.goTo(pod);
    byId("spoken").textContent = `Pending pod ${this.cluster.podKey(pod)}`;
  }

  // ---- opening

  select({ node, pod }) {
    this.tooltip.show(null);
    if (pod !== -1) this.openPod(this.cluster.namespace.get(pod), this.cluster.podName[pod]);
    else this.openNode(this.cluster.nodes.name[node]);
  }

  openPod(namespace, name) {
    this.searchBox.fold();
    const pod = this.cluster.findPod(`${namespace}/${name}`);
    this.map.select({ node: pod === -1 ? -1 : this.cluster.podNode[pod], pod });
    const shown = this.panel.pod(namespace, name);
    this.note();
    return shown;
  }

  openNode(name) {
    this.searchBox.fold();
    const node = this.cluster.findNode(name);
    this.map.select({ node, pod: -1 });
    if (node !== -1) this.map.goTo(node, false);
    const shown = this.panel.node(name);
    this.note();
    return shown;
  }

  // ---- views, and the way back through them

  /** The registry is open to all parts: views.add({name, title, element, beside, shown, hidden}). */
  addViews() {
    const beside = [byId("node-tools"), byId("totals")];
    this.views.add({ name: "map", title: "Map", element: byId("map"), beside: [...beside, byId("map-legend")] });
    this.views.add({ name: "table", title: "Table", element: byId("table"), beside, shown: () => this.showTable() });
    this.views.add({ name: "configuration", title: "Configuration", element: byId("configuration"), shown: () => this.showConfiguration(), hidden: () => this.foldLane(false) });
    this.views.add({ name: "queue", title: "Queue", element: byId("queue"), shown: () => this.queue.shown(), hidden: () => this.queue.hidden() });
  }

  /** Remember the view and the panel, for the browser's Back. */
  note() {
    const { kind = "", key = "" } = this.panel.subject ?? {};
    this.visits.note({ view: this.views.current, kind, key });
  }

  goBack({ view, kind, key }) {
    this.views.show(view);
    if (kind === "pod") this.openPod(...partsOf(key));
    else if (kind === "node") this.openNode(key);
    else this.panel.close();
  }

  closed() {
    this.map.select({ node: -1, pod: -1 });
    this.note();
  }

  /** Hide the lane, or show it, where the screen is narrow. */
  foldLane(folded) {
    document.body.classList.toggle("lane-folded", folded);
    byId("lane-fold").setAttribute("aria-expanded", String(!folded));
    byId("lane-fold").textContent = folded ? "Show" : "Hide";
  }

  /** The text needs the room of a narrow screen; the lane can be shown beside it. */
  showConfiguration() {
    this.foldLane(true);
    return this.configuration.shown();
  }

  showTable() {
    if (this.cluster) this.table.show(this.cluster, this.search, this.keys());
  }
}

window.kubesched = new Page();
