// The view of the configuration: its text and its form, which follow each other, faults while typing, and the placements
// that would differ. The server reads texts and makes the form's changes in them, so that comments stay.

import { comparisonView } from "./comparison.js";
import { profileView, fieldsView } from "./form.js";
import { h } from "../page/dom.js";

const TYPING = 250; // milliseconds of rest after which a text is checked

export class ConfigurationView {
  constructor(host, server, on) {
    this.host = host;
    this.server = server;
    this.on = on;
    this.profile = 0;
    this.version = 0;
    this.changes = Promise.resolve();
    this.build();
  }

  build() {
    this.text = h("textarea", { id: "configuration-text", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-describedby": "configuration-faults" });
    this.text.addEventListener("input", () => this.typed());
    this.faults = h("ol.faults", { id: "configuration-faults", "aria-label": "Faults of the text" });
    this.status = h("p.configuration-status", { role: "status" });
    this.form = h("div.configuration-form", { role: "group", "aria-label": "Configuration as a form" });
    this.behind = h("p.configuration-behind", { hidden: true }, "The text has a fault: this form shows the last valid text.");
    this.all = h("input", { type: "checkbox", id: "configuration-all" });
    this.compareButton = h("button.main", { type: "button", onclick: () => this.compare() }, "Compare placements");
    this.applyButton = h("button.configuration-apply", { type: "button", hidden: true, onclick: () => this.apply() }, "Apply");
    this.why = h("p", { hidden: true });
    this.old = h("p.comparison-old", { role: "status" });
    this.results = h("section.comparison", { "aria-label": "Placements that would differ", tabindex: "-1" });
    this.host.replaceChildren(
      h("div.configuration-tools", { role: "toolbar", "aria-label": "Configuration" },
        this.compareButton,
        h("label", {}, this.all, " with all pods rescheduled"),
        this.applyButton,
        h("button", { type: "button", onclick: () => this.load() }, "Back to the one in force")),
      this.status,
      this.why,
      this.results,
      h("div.configuration-parts", {},
        h("div.configuration-yaml", {}, h("label", { for: "configuration-text" }, "KubeSchedulerConfiguration (YAML)"), this.text, this.faults),
        h("div", {}, this.behind, this.form)));
  }

  /** The view is opened: read the configuration in force, unless the text was edited. */
  async shown() {
    if (this.inForce === undefined) await this.load();
  }

  /** Return the configuration in force; null if a newer request was sent meanwhile. */
  async read() {
    const asked = (this.asked = (this.asked ?? 0) + 1);
    const answer = await this.server.get("/v1/configuration");
    return asked === this.asked ? answer : null;
  }

  async load() {
    try {
      const answer = await this.read();
      if (!answer) return;
      this.take(answer);
      this.text.value = answer.yaml;
      this.version++;
      this.results.replaceChildren();
      this.show(answer);
    } catch (error) {
      this.say(error);
    }
  }

  /** Another configuration may be in force: an unedited text follows it, an edited one stays. */
  async refresh() {
    if (this.inForce === undefined) {
      if (this.asked) await this.load(); // the pending answer is about the previous cluster
      return;
    }
    if (this.text.value === this.inForce) {
      await this.load();
      return;
    }
    try {
      const answer = await this.read();
      if (answer) this.take(answer);
    } catch (error) {
      this.say(error);
    }
  }

  /** The configuration in force, whether it is certain, and why another one cannot be applied. */
  take({ yaml, applicable, why, status }) {
    this.inForce = yaml;
    this.known = status;
    this.applyButton.hidden = !applicable;
    this.why.hidden = applicable;
    this.why.textContent = why && `Apply: ${why}.`;
  }

  say(problem) {
    this.status.textContent = typeof problem === "string" ? problem : problem.status ? problem.message : "The page's server does not answer.";
  }

  // ---- text and form

  typed() {
    this.version++;
    this.markComparison();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), TYPING);
  }

  async check() {
    this.stop?.abort();
    this.stop = new AbortController();
    try {
      this.show(await this.server.post("/v1/configuration/check", { yaml: this.text.value }, this.stop.signal));
    } catch (error) {
      if (error.name !== "AbortError") this.say(error);
    }
  }

  /** A change of the form: the server makes it in the text. Changes wait for each other. */
  change(change) {
    this.changes = this.changes.then(() => this.makeChange(change));
    return this.changes;
  }

  async makeChange(change) {
    const { version } = this;
    try {
      const answer = await this.server.post("/v1/configuration/check", { yaml: this.text.value, change: { profile: this.profile, ...change } });
      if (this.version !== version) {
        this.say("The text was changed meanwhile: the change of the form was not made.");
        return;
      }
      this.text.value = answer.yaml;
      if (change.do === "remove-profile") this.profile = 0;
      this.show(answer);
    } catch (error) {
      this.say(error);
    }
  }

  show({ faults, form, notice }) {
    this.faults.replaceChildren(...faults.map((fault) => h("li", {},
      h("button.link", { type: "button", onclick: () => this.goTo(fault) }, `Line ${fault.line}, column ${fault.column}`), ` ${fault.message}`)));
    this.text.setAttribute("aria-invalid", String(faults.length > 0));
    this.compareButton.disabled = this.applyButton.disabled = faults.length > 0;
    const state = faults.length ? `${faults.length === 1 ? "One fault" : `${faults.length} faults`} in the text.` : this.text.value === this.inForce ? this.known : "Edited: valid.";
    this.say([state, notice].filter(Boolean).join(" "));
    this.form.classList.toggle("stale", form === null);
    this.behind.hidden = form !== null;
    if (form) this.showForm(form);
    this.markComparison();
    this.host.dataset.checked = this.text.value;
  }

  showForm(form) {
    this.shownForm = form;
    this.profile = Math.min(this.profile, form.profiles.length - 1);
    const focused = this.form.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const opened = new Set([...this.form.querySelectorAll("details[open]")].map((each) => each.dataset.key));
    const change = (each) => this.change(each);
    this.form.replaceChildren(
      fieldsView(form.fields, change),
      profileView(form, this.profile, change, (number) => this.choose(number)));
    for (const each of this.form.querySelectorAll("details")) each.open = opened.has(each.dataset.key);
    if (focused) [...this.form.querySelectorAll("[data-key]")].find((each) => each.dataset.key === focused && each.tagName !== "DETAILS")?.focus();
  }

  choose(number) {
    this.profile = number;
    this.showForm(this.shownForm);
  }

  /** Put the cursor to a fault. */
  goTo({ line, column }) {
    const lines = this.text.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    this.text.focus();
    this.text.setSelectionRange(start, start);
    const height = parseFloat(getComputedStyle(this.text).lineHeight) || 18;
    this.text.scrollTop = Math.max(0, (line - 4) * height);
  }

  // ---- comparison

  /** Show whether the text has changed since the comparison. */
  markComparison() {
    this.old.textContent = this.text.value === this.compared ? "" : "The text has changed since: compare again.";
  }

  async compare() {
    this.compareButton.disabled = true;
    this.say("Scheduling under both …");
    const yaml = this.text.value;
    try {
      const { comparison } = await this.server.post("/v1/configuration/compare", { yaml, rescheduleAll: this.all.checked });
      this.compared = yaml;
      this.results.replaceChildren(this.old, ...comparisonView(comparison, this.on));
      this.markComparison();
      this.say(comparison.summary);
      this.results.dataset.pods = comparison.pods;
    } catch (error) {
      this.say(error);
    }
    this.compareButton.disabled = this.faults.children.length > 0;
  }

  async apply() {
    try {
      await this.server.post("/v1/configuration", { yaml: this.text.value });
      this.inForce = this.text.value;
      this.say("In force.");
    } catch (error) {
      this.say(error);
    }
  }
}
