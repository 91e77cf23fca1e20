// Actions of users on the cluster on display: a menu, buttons in the panels, dialogs, undo and redo. The server carries
// everything out; a line at the bottom shows its answer.

import { addNodesDialog, askDialog, createDialog, scaleDialog } from "./dialogs.js";
import { fileItems } from "./files.js";
import { count } from "../cluster/amounts.js";
import { h, isTyped } from "../page/dom.js";

const SAID = 8000; // milliseconds that a sentence stays
const AGAIN = 1000; // milliseconds between two reads of a drain that is under way
const SCALABLE = ["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Job"];
// an action's title begins with a verb; a drain takes longer, and its title has the progress
const PAST = { Add: "Added", Cordon: "Cordoned", Create: "Created", Delete: "Deleted", Remove: "Removed", Scale: "Scaled", Uncordon: "Uncordoned" };

/** An action's title in the past tense. */
export function doneText(title) {
  return title.replace(/^\w+/, (verb) => PAST[verb] ?? verb);
}

export class Actions {
  /** `page` has cluster, server and panel. */
  constructor(host, line, page) {
    this.line = line;
    this.page = page;
    this.server = page.server;
    this.known = { writable: false, why: "", done: [], undone: [], running: null, templates: [] };
    this.button = h("button", { type: "button", "aria-expanded": "false", "aria-controls": "actions-menu", onclick: () => this.toggle() }, "Change");
    this.menu = h("ul.menu", { id: "actions-menu", "aria-label": "Change the cluster", hidden: true });
    host.append(this.button, this.menu);
    host.addEventListener("keydown", (event) => this.menuKey(event));
    document.addEventListener("pointerdown", (event) => {
      if (!host.contains(event.target)) this.close();
    });
    document.addEventListener("keydown", (event) => this.key(event));
    page.panel.extras = (subject) => (subject.kind === "node" ? this.nodeButtons(subject.key) : this.podButtons(subject.key));
  }

  /** Read the possible actions and the past ones. */
  async refresh() {
    const asked = (this.asked = (this.asked ?? 0) + 1);
    try {
      const known = await this.server.get("/v1/actions");
      if (asked !== this.asked) return; // a newer request was sent meanwhile, for another cluster on display
      this.known = known;
    } catch {
      return;
    }
    if (!this.menu.hidden) this.fill();
    this.page.panel.decorate();
    this.watch();
  }

  /** Show the progress of a drain. */
  watch() {
    clearTimeout(this.timer);
    const { running } = this.known;
    if (running) {
      this.say(`${running.title}: ${count(running.waiting, "pod")} still to go. ${running.why}`, "");
      this.timer = setTimeout(() => this.refresh(), AGAIN);
    } else if (this.wasRunning) this.say("The drain is done.", "");
    this.wasRunning = Boolean(running);
  }

  // ---- doing

  /** Send an action; returns whether it was carried out. A refusal is shown, in the dialog if there is one. */
  async do(action, refused = (sentence) => this.say(sentence, "failed")) {
    return this.send("/v1/actions", action, refused);
  }

  async send(path, body, refused = (sentence) => this.say(sentence, "failed")) {
    try {
      const { done } = await this.server.post(path, body);
      this.say(doneText(done), "");
      await this.refresh();
      return true;
    } catch (error) {
      refused(error.status ? error.message : "The page's server does not answer.");
      return false;
    }
  }

  undo() {
    return this.send("/v1/undo", {});
  }

  redo() {
    return this.send("/v1/redo", {});
  }

  say(sentence, kind) {
    clearTimeout(this.sayTimer);
    this.line.dataset.kind = kind;
    this.line.replaceChildren(h("span", {}, sentence), h("button.link", { type: "button", onclick: () => this.line.replaceChildren() }, "Close"));
    if (!kind) this.sayTimer = setTimeout(() => this.line.replaceChildren(), SAID);
  }

  /** Ctrl+Z and Ctrl+Shift+Z, unless the user is typing. */
  key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || isTyped(event)) return;
    if (!this.known.writable) return;
    event.preventDefault();
    if (event.shiftKey) this.redo();
    else this.undo();
  }

  // ---- menu

  toggle() {
    if (!this.menu.hidden) return this.close();
    this.fill();
    this.menu.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.menu.querySelector("button:not(:disabled)")?.focus();
    return this.refresh();
  }

  close() {
    if (this.menu.contains(document.activeElement)) this.button.focus();
    this.menu.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  menuKey(event) {
    if (this.menu.hidden) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const items = [...this.menu.querySelectorAll("button:not(:disabled)")];
    items[(items.indexOf(document.activeElement) + step + items.length) % items.length]?.focus();
  }

  fill() {
    const { writable, why, done, undone } = this.known;
    const focused = [...this.menu.querySelectorAll("button")].indexOf(document.activeElement);
    const last = (list) => (list.length ? `: ${list[list.length - 1].title}` : "");
    const item = (title, work, enabled = writable) => h("li", {}, h("button", { type: "button", disabled: !enabled, onclick: () => {
      this.close();
      work();
    } }, title));
    this.menu.replaceChildren(
      ...(why ? [h("li.why", {}, why)] : []),
      ...(this.page.cluster?.mode === "simulation" ? [] : [item("Try it in a simulation", () => this.simulate(), true)]),
      item("Create objects …", () => createDialog(this)),
      item("Add nodes …", () => addNodesDialog(this)),
      item("Scale a workload …", () => scaleDialog(this)),
      item(`Undo${last(done)}`, () => this.undo(), writable && done.length > 0),
      item(`Redo${last(undone)}`, () => this.redo(), writable && undone.length > 0),
      ...fileItems(this).map(([title, work]) => item(title, work, true)));
    if (focused !== -1) this.menu.querySelectorAll("button")[focused]?.focus();
  }

  async simulate() {
    try {
      await this.server.post("/v1/simulation", {});
      this.say("This is a simulation of the cluster on display: your changes stay in it.", "");
    } catch (error) {
      this.say(error.message, "failed");
    }
  }

  // ---- buttons of the panels

  nodeButtons(name) {
    const { cluster } = this.page;
    const node = cluster.findNode(name);
    if (!this.known.writable || node === -1) return null;
    const closed = cluster.unschedulable[node];
    return h("div.actions", { role: "group", "aria-label": `Change node ${name}` },
      this.panelButton(closed ? "Uncordon" : "Cordon", () => this.do({ do: closed ? "uncordon" : "cordon", nodes: name })),
      this.panelButton("Drain …", () => this.drain(name)),
      this.panelButton("Remove …", () => askDialog(this, `Remove node ${name}?`, "The node is deleted with all of its pods; disruption budgets are ignored.", "Remove", { do: "remove-nodes", nodes: name })),
      this.panelButton("Add nodes like it …", () => addNodesDialog(this, name)));
  }

  drain(name) {
    const force = h("input", { type: "checkbox" });
    askDialog(this, `Drain node ${name}?`, "It takes no new pods, and its pods are evicted as their budgets allow. Pods of DaemonSets stay.", "Drain",
      () => ({ do: "drain", nodes: name, force: force.checked }), h("label", {}, force, " also delete pods that no controller creates again, and data in emptyDir volumes"));
  }

  podButtons(key) {
    const { cluster } = this.page;
    const pod = cluster.findPod(key);
    if (!this.known.writable || pod === -1) return null;
    const owner = cluster.owner.get(pod) || "";
    const [kind, name] = owner.split("/");
    const scalable = SCALABLE.includes(kind);
    const workload = `${kind}/${key.split("/")[0]}/${name}`;
    return h("div.actions", { role: "group", "aria-label": `Change pod ${key}` },
      this.panelButton("Delete …", () => askDialog(this, `Delete pod ${key}?`, owner ? `${owner} creates another.` : "Nothing creates it again.", "Delete", { do: "delete", pod: key })),
      scalable ? this.panelButton(`Scale ${owner} …`, () => scaleDialog(this, workload, this.siblings(pod))) : null);
  }

  /** How many pods an owner has. */
  siblings(pod) {
    const { cluster } = this.page;
    const owner = cluster.owner.get(pod);
    const namespace = cluster.namespace.get(pod);
    let found = 0;
    for (const other of cluster.podRows()) if (cluster.owner.get(other) === owner && cluster.namespace.get(other) === namespace) found++;
    return found;
  }

  panelButton(title, work) {
    return h("button", { type: "button", onclick: work }, title);
  }
}
