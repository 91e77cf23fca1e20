// A chart of pods by place over time: stacked areas on a canvas, with a cursor that the pointer or arrow keys move.
// In: columns of samples. Out: pixels, and the sample under the cursor.

import { grouped } from "../cluster/amounts.js";
import { h } from "../page/dom.js";

// from the bottom up; `kind` is the colour
export const PLACES = [
  { place: "unschedulable", title: "Unschedulable", kind: 5 },
  { place: "backoff", title: "Backoff", kind: 1 },
  { place: "gated", title: "Gated", kind: 7 },
  { place: "active", title: "Active", kind: 0 },
  { place: "inFlight", title: "In flight", kind: 2 },
];
const HEIGHT = 190;
const MARGIN = { left: 46, right: 10, top: 8, bottom: 22 };

/** The next round number: 1, 2 or 5 times a power of ten. */
export function roundUp(number) {
  if (number <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= number);
}

export class QueueChart {
  /** `tell(row)` is called with the sample that the cursor is at. */
  constructor(tell) {
    this.tell = tell;
    this.row = -1;
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "Pods by place over time. Arrow keys move from sample to sample; the table below says the same." });
    this.element = h("div.chart", {}, this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.pointTo(this.rowAt(event.offsetX)));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Samples as columns, and how a time is written. */
  show(history, written) {
    const last = this.row === -1 || this.row === this.history?.at.length - 1;
    this.history = history;
    this.written = written;
    if (last || this.row >= history.at.length) this.row = history.at.length - 1;
    this.draw();
    if (this.row >= 0) this.tell(this.row);
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || !this.history?.at.length) return;
    event.preventDefault();
    this.pointTo(Math.max(0, Math.min(this.history.at.length - 1, this.row + step)));
  }

  pointTo(row) {
    if (row < 0 || row === this.row) return;
    this.row = row;
    this.draw();
    this.tell(row);
  }

  rowAt(x) {
    const at = this.history?.at ?? [];
    if (!at.length) return -1;
    const time = at[0] + ((x - MARGIN.left) / this.inner) * this.span;
    let row = 0;
    while (row + 1 < at.length && at[row + 1] <= time) row += 1;
    return row;
  }

  get inner() {
    return Math.max(1, this.width - MARGIN.left - MARGIN.right);
  }

  get span() {
    return Math.max(1, this.history.at.at(-1) - this.history.at[0]);
  }

  draw() {
    if (!this.history || !this.element.clientWidth) return;
    this.width = this.element.clientWidth;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(HEIGHT * ratio);
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const { at } = this.history;
    if (!at.length) return;
    const bottom = HEIGHT - MARGIN.bottom;
    const sums = at.map((_, row) => PLACES.reduce((sum, { place }) => sum + (this.history[place][row] ?? 0), 0));
    const most = roundUp(Math.max(...sums));
    const x = (time) => MARGIN.left + ((time - at[0]) / this.span) * this.inner;
    const y = (pods) => bottom - (pods / most) * (bottom - MARGIN.top);
    this.axes(g, colour, { most, x, y, bottom });
    this.areas(g, colour, { x, y, bottom });
    const cursor = Math.min(x(at[this.row] ?? at.at(-1)), this.width - MARGIN.right);
    g.strokeStyle = colour("--text");
    g.beginPath();
    g.moveTo(cursor, MARGIN.top);
    g.lineTo(cursor, bottom);
    g.stroke();
  }

  axes(g, colour, { most, x, y, bottom }) {
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = colour("--faint");
    g.strokeStyle = colour("--line");
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const pods of [0, most / 2, most].filter(Number.isInteger)) {
      g.beginPath();
      g.moveTo(MARGIN.left, y(pods));
      g.lineTo(this.width - MARGIN.right, y(pods));
      g.stroke();
      g.fillText(grouped(pods), MARGIN.left - 6, y(pods));
    }
    g.textBaseline = "top";
    const { at } = this.history;
    const ends = [["left", at[0]], ["right", at[0] + this.span]];
    if (this.width > 500) ends.push(["center", at[0] + this.span / 2]);
    for (const [align, time] of ends) {
      g.textAlign = align;
      g.fillText(this.written(time), x(time), bottom + 6);
    }
  }

  /** Steps: a count holds until the next sample. */
  areas(g, colour, { x, y, bottom }) {
    const { at } = this.history;
    const base = new Float64Array(at.length);
    for (const { place, kind } of PLACES) {
      const column = this.history[place];
      g.fillStyle = colour(`--k${kind}`);
      g.beginPath();
      g.moveTo(x(at[0]), bottom);
      const path = (top) => {
        for (let number = 0; number < at.length; number++) {
          const row = top ? number : at.length - 1 - number;
          const level = y(base[row] + (top ? column[row] ?? 0 : 0));
          const from = x(at[row]);
          const to = row + 1 < at.length ? x(at[row + 1]) : this.width - MARGIN.right;
          g.lineTo(top ? from : to, level);
          g.lineTo(top ? to : from, level);
        }
      };
      path(true);
      path(false);
      g.fill();
      for (let row = 0; row < at.length; row++) base[row] += column[row] ?? 0;
    }
  }
}
