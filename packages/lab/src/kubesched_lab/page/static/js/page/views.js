// The views of the page (Map, Table, Queue, Configuration): a row of buttons, one view at a time, keys 1 to 4.
// Each part registers its own: views.add({name, title, element, beside, shown, hidden}).

import { h, isTyped } from "./dom.js";

const ORDER = ["map", "table", "queue", "configuration"];

export class Views {
  /** `changed(name)` is called after another view has been shown. */
  constructor(row, changed = () => {}) {
    this.row = row;
    this.changed = changed;
    this.all = new Map();
    this.current = "";
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * Add a view: its element, elements that are shown beside it (toolbars), and what to do when it is shown or hidden.
   * The first one that is added is shown.
   */
  add({ name, title, element, beside = [], shown = () => {}, hidden = () => {} }) {
    const button = h("button", { type: "button", "data-view": name, onclick: () => this.show(name) }, title);
    this.all.set(name, { name, element, beside, shown, hidden, button });
    element.hidden = true;
    const place = (view) => (ORDER.includes(view.name) ? ORDER.indexOf(view.name) : ORDER.length);
    const inOrder = [...this.all.values()].sort((a, b) => place(a) - place(b));
    this.row.replaceChildren(...inOrder.map((view) => view.button));
    inOrder.forEach((view, number) => (view.button.title = `Key ${number + 1}`));
    if (!this.current) this.turnTo(name);
  }

  is(name) {
    return this.current === name;
  }

  show(name) {
    if (this.current === name || !this.all.has(name)) return;
    this.turnTo(name);
    this.changed(name);
  }

  turnTo(name) {
    const view = this.all.get(name);
    const before = this.all.get(this.current);
    this.current = name;
    for (const each of this.all.values()) {
      each.element.hidden = each !== view;
      each.button.setAttribute("aria-current", String(each === view));
    }
    for (const each of before?.beside ?? []) each.hidden = !view.beside.includes(each);
    for (const each of view.beside) each.hidden = false;
    before?.hidden();
    view.shown();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyped(event)) return;
    this.row.querySelectorAll("button")[Number(event.key) - 1]?.click();
  }
}
