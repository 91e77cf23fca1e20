// The marks of the time line, on a canvas above the slider. In: the answer of /v1/timeline. Out: a picture, the mark at a
// place, and the marks before and after a time, or before and after the current one.

import { dayAndTime, grouped, timeOfDay } from "../cluster/amounts.js";
import { h } from "../page/dom.js";

const HEIGHTS = { bound: 0.45, failed: 0.6, node: 0.8, preempted: 0.9, action: 1 };
const COLOURS = { bound: "--good", failed: "--bad", node: "--k6", preempted: "--k1", action: "--focus" };
const NAMES = { bound: "bound", failed: "no node", preempted: "preempted", node: "nodes", action: "what you did" };
const NEAR = 5; // pixels
const AXIS = 14; // pixels below the marks, for times
const APART = 110; // pixels between two times, at least
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
const ORDER = ["action", "preempted", "node", "failed", "bound"];

/** Seconds as 0:00:12.5, or with days. */
export function clockText(seconds) {
  const days = Math.floor(seconds / 86400);
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60, whole % 60];
  const [hours, minutes, rest] = parts.map((each, index) => (index ? String(each).padStart(2, "0") : String(each)));
  const tenths = Math.floor((seconds - whole) * 10 + 1e-6);
  return `${days ? `${days}d ` : ""}${hours}:${minutes}:${rest}${tenths ? `.${tenths}` : ""}`;
}

/** Round places between two ends of an axis, at most so many. */
export function ticksOf(from, to, most, whole = false) {
  const least = (to - from) / Math.max(1, most);
  let step = STEPS.find((each) => each >= least && (!whole || Number.isInteger(each)));
  if (!step || (whole && step > 10)) {
    const power = 10 ** Math.floor(Math.log10(least));
    step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least);
    if (whole) step = Math.max(1, Math.round(step));
  }
  const found = [];
  for (let number = Math.ceil(from / step); number * step <= to + step * 1e-9; number++) found.push(number * step);
  return found;
}

/** A mark as a sentence; `timeText` says its seconds. */
export function markText(mark, timeText = clockText) {
  const when = mark.until === undefined ? timeText(mark.at) : `${timeText(mark.at)} to ${timeText(mark.until)}`;
  const many = (mark.count || 1) > 1;
  const pods = many ? `${grouped(mark.count)} times: ` : "";
  const what = {
    bound: () => (many ? `${grouped(mark.count)} pods bound, the first ${mark.pod} to ${mark.node}` : `${mark.pod} bound to ${mark.node}`),
    failed: () => `${pods}no node for ${mark.pod}: ${mark.message}`,
    preempted: () => `${pods}${mark.pod} ${mark.message || "preempted"} on ${mark.node}`,
    node: () => `${pods}node ${mark.node} ${mark.message}`,
    action: () => `${pods}${mark.message}`,
  }[mark.kind];
  return `${when} · ${what ? what() : mark.message || mark.kind}`;
}

export class TimeMarks {
  /** `kinds` is the legend of the colours in use. */
  constructor(canvas, kinds) {
    this.canvas = canvas;
    this.kinds = kinds;
    this.marks = [];
    this.by = "at";
    this.began = 0;
    this.dated = false; // whether times are times of day
    this.from = 0;
    this.to = 1;
    this.current = undefined; // the current mark
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show({ marks, from, to, by, began }) {
    if (this.current) this.current = this.again(marks) ?? this.current;
    this.marks = marks;
    this.by = by === "cycles" ? "cycle" : "at";
    this.began = Date.parse(began) / 1000;
    this.from = from;
    this.to = Math.max(to, from + 1e-9);
    const there = ORDER.filter((kind) => marks.some((mark) => mark.kind === kind));
    this.kinds.replaceChildren(...there.map((kind) => h("li", {}, h(`span.swatch.mark-${kind}`, { "aria-hidden": "true" }), NAMES[kind])));
    this.draw();
  }

  /** The current mark among newly read marks; equal marks are matched by their number. */
  again(marks) {
    const same = (mark) => ["at", "kind", "pod", "node", "message"].every((name) => mark[name] === this.current[name]);
    const number = this.marks.slice(0, this.marks.indexOf(this.current)).filter(same).length;
    return marks.filter(same)[number];
  }

  /** Go to a mark, or to none. */
  go(mark) {
    this.current = mark;
    this.draw();
  }

  place(mark) {
    return mark[this.by] || 0;
  }

  /** Seconds as a date. */
  dateText(seconds) {
    return dayAndTime(this.began + seconds);
  }

  x(mark) {
    return (this.place(mark) - this.from) / (this.to - this.from) * this.canvas.clientWidth;
  }

  draw() {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    const foot = height - AXIS;
    this.drawAxis(g, style, width, foot);
    const most = Math.max(1, ...this.marks.map((mark) => mark.count || 1));
    for (const kind of [...ORDER].reverse()) {
      g.fillStyle = style.getPropertyValue(COLOURS[kind]);
      for (const mark of this.marks) {
        if (mark.kind !== kind) continue;
        // many are higher than few
        const tall = HEIGHTS[kind] * foot * (most > 1 ? 0.5 + 0.5 * Math.sqrt((mark.count || 1) / most) : 1);
        g.fillRect(this.x(mark) - 0.75, foot - tall, 1.5, tall);
      }
    }
    if (!this.current) return;
    g.strokeStyle = style.getPropertyValue("--text");
    g.strokeRect(this.x(this.current) - 2.5, 0.5, 5, foot - 1);
  }

  /** A line below the marks, with times, or numbers of scheduling cycles. */
  drawAxis(g, style, width, foot) {
    g.fillStyle = style.getPropertyValue("--outline");
    g.fillRect(0, foot, width, 1);
    g.fillStyle = style.getPropertyValue("--faint");
    g.font = "10px system-ui, sans-serif";
    g.textBaseline = "bottom";
    const whole = this.by === "cycle";
    for (const tick of ticksOf(this.from, this.to, Math.floor(width / APART), whole)) {
      const x = this.x({ [this.by]: tick });
      const text = this.tickText(tick);
      const wide = g.measureText(text).width;
      g.fillRect(Math.min(width - 1, x), foot, 1, 4);
      g.fillText(text, Math.max(0, Math.min(width - wide, x - wide / 2)), foot + AXIS);
    }
  }

  tickText(tick) {
    if (this.by === "cycle") return tick ? `cycle ${grouped(tick)}` : "0";
    return this.dated ? timeOfDay(this.began + tick) : clockText(tick);
  }

  /** The mark after the current one (step 1) or before it (step -1); without one, after or before a place. */
  beside(step, place = -step * Infinity) {
    const number = this.marks.indexOf(this.current);
    if (number !== -1) return this.marks[number + step];
    const from = this.current ? this.place(this.current) : place;
    return step > 0 ? this.after(from) : this.before(from);
  }

  /** The mark under a place on the canvas; of several the most important. */
  at(x) {
    const near = this.marks.filter((mark) => Math.abs(this.x(mark) - x) <= NEAR);
    near.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || Math.abs(this.x(a) - x) - Math.abs(this.x(b) - x));
    return near[0];
  }

  /** The first mark after a time, or a cycle. */
  after(place) {
    return this.marks.find((mark) => this.place(mark) > place + 1e-6);
  }

  before(place) {
    return this.marks.findLast((mark) => this.place(mark) < place - 1e-6);
  }
}
