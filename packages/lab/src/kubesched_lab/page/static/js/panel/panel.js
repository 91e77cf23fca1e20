// The panel beside the map: asks the server about a pod or a node, shows the answer, and gives the focus back when it closes.

import { h } from "../page/dom.js";
import { isRemedied, podView } from "./pod.js";
import { nodeView } from "./node.js";

const AGAIN = 2000; // milliseconds

function titleOf({ kind, key }) {
  return [h("p.kicker", {}, kind === "pod" ? "Pod" : "Node"), h("h2", { tabindex: "-1" }, key)];
}

export class Panel {
  /** on: pod(namespace, name), node(name) open them; fits(key) asks how many like a pod fit; isThere({kind, key}); closed(). */
  constructor(aside, server, on) {
    this.aside = aside;
    this.body = aside.querySelector(".body");
    this.server = server;
    this.on = { pod: (namespace, name) => on.pod(namespace, name), node: (name) => on.node(name), fits: (key) => on.fits(key) };
    this.isThere = on.isThere;
    this.closed = on.closed;
    this.subject = null;
    // elements that others add below the title, by subject
    this.extras = () => null;
    aside.querySelector(".close").addEventListener("click", () => this.close());
  }

  get open() {
    return !this.aside.hidden;
  }

  pod(namespace, name) {
    // remedies come later, and stay until there are new ones
    let remedies;
    const ask = async (signal) => {
      const answer = await this.server.pod(namespace, name, signal);
      if (isRemedied(answer)) answer.explanation.remedies = remedies;
      return answer;
    };
    const more = async (answer, signal) => {
      if (!isRemedied(answer)) return null;
      remedies = (await this.server.remedies(namespace, name, signal)).remedies;
      answer.explanation.remedies = remedies;
      return answer;
    };
    return this.show({ kind: "pod", key: `${namespace}/${name}`, ask, more, view: podView });
  }

  node(name) {
    return this.show({ kind: "node", key: name, ask: (signal) => this.server.node(name, signal), view: nodeView });
  }

  async show(subject) {
    if (!this.open) this.before = document.activeElement;
    this.subject = subject;
    this.aside.hidden = false;
    document.body.classList.add("with-panel");
    this.body.replaceChildren(...titleOf(subject), h("p.waiting", { role: "status" }, "Asking …"));
    this.body.querySelector("h2").focus({ preventScroll: true });
    this.body.scrollTop = 0;
    await this.ask(subject);
  }

  /** Ask again about what is shown, without moving anything. */
  async refresh() {
    if (this.open && this.subject) await this.ask(this.subject);
  }

  /** The same, at most once in two seconds. */
  refreshSoon() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.refresh();
    }, AGAIN);
  }

  async ask(subject) {
    this.stop?.abort();
    this.stop = new AbortController();
    const { signal } = this.stop;
    if (!this.isThere(subject)) return this.fail(subject, `There is no ${subject.kind} ${subject.key} now.`);
    try {
      const answer = await subject.ask(signal);
      this.put(subject, subject.view(answer, this.on));
      const more = await subject.more?.(answer, signal);
      if (more) this.put(subject, subject.view(more, this.on));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.fail(subject, error.status ? error.message : "The page's server does not answer.");
    }
  }

  fail(subject, sentence) {
    this.put(subject, [...titleOf(subject), h("p.verdict.failed", { role: "status" }, sentence)]);
  }

  /** Show parts in place of those before; what is open and what has the focus stays so. */
  put(subject, parts) {
    if (this.subject !== subject || !this.open) return;
    const opened = new Set([...this.body.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    this.body.replaceChildren(...parts);
    for (const summary of this.body.querySelectorAll("summary")) if (opened.has(summary.textContent)) summary.parentElement.open = true;
    this.decorate();
    if (focused) ((focused.id && document.getElementById(focused.id)) || this.body.querySelector("h2")).focus({ preventScroll: true });
    this.body.dataset.shown = `${subject.kind} ${subject.key}`;
  }

  /** Show what others add. */
  decorate() {
    if (!this.open || !this.subject) return;
    const before = this.body.querySelector(".actions");
    const focused = before?.contains(document.activeElement) ? [...before.children].indexOf(document.activeElement) : -1;
    before?.remove();
    const extra = this.extras(this.subject);
    if (!extra) return;
    this.body.querySelector("h2").after(extra);
    if (focused !== -1) extra.children[focused]?.focus({ preventScroll: true });
  }

  close() {
    if (!this.open) return;
    this.stop?.abort();
    this.aside.hidden = true;
    delete this.body.dataset.shown;
    this.subject = null;
    document.body.classList.remove("with-panel");
    this.closed();
    (this.before?.isConnected ? this.before : document.querySelector("canvas.over")).focus({ preventScroll: true });
  }
}
