// The time bar: play, pause, step, speed, and a slider with marks. In: the mode and the clock of /v1/cluster, `clock`
// events. Out: commands to the server's clock; a mark opens its pod or node.

import { count } from "../cluster/amounts.js";
import { byId, isTyped } from "../page/dom.js";
import { partsOf } from "../panel/links.js";
import { TimeMarks, clockText, markText } from "./marks.js";

const OFTEN = 1000; // milliseconds between two reads of the marks of a simulation
const SELDOM = 3000; // and of a cluster that is followed
const SHORT = 1; // simulations shorter than this have a slider of scheduling cycles
const STATES = { playing: "playing", paused: "paused", seeking: "going there", ended: "at its end" };

export class TimeBar {
  /** on: pod(namespace, name), node(name) open them; isThere({kind, key}); clock(clock). */
  constructor(server, on) {
    this.server = server;
    this.on = on;
    this.mode = "";
    this.clock = null;
    this.marks = new TimeMarks(byId("time-marks"), byId("time-kinds"));
    this.slider = byId("time-slider");
    byId("time-play").addEventListener("click", () => this.toggle());
    byId("time-step").addEventListener("click", () => this.step());
    byId("time-end").addEventListener("click", () => this.command({ do: "seek", to: "end" }));
    byId("time-back").addEventListener("click", () => this.stepBack());
    byId("time-before").addEventListener("click", () => this.walk(-1));
    byId("time-after").addEventListener("click", () => this.walk(1));
    byId("time-speed").addEventListener("change", () => this.clock?.state === "playing" && this.play());
    byId("time-by").addEventListener("change", () => {
      this.take(this.clock);
      this.look();
    });
    byId("time-try").addEventListener("click", () => this.ask(() => this.server.post("/v1/simulation", {})));
    byId("time-leave").addEventListener("click", () => this.ask(() => this.server.delete("/v1/simulation")));
    this.slider.addEventListener("input", () => this.slide());
    this.slider.addEventListener("change", () => this.seek());
    byId("time-marks").addEventListener("pointermove", (event) => this.hover(this.marks.at(event.offsetX)));
    byId("time-marks").addEventListener("pointerleave", () => this.hover(undefined));
    byId("time-marks").addEventListener("click", (event) => this.jump(this.marks.at(event.offsetX)));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // ---- display

  /** A cluster was read: update the mode and the clock. */
  start({ mode, clock, leavable }) {
    if (this.mode !== mode) this.marks.go(undefined);
    this.mode = mode;
    const simulated = mode === "simulation";
    const focused = byId("time").contains(document.activeElement) ? document.activeElement : null;
    byId("time").hidden = false;
    byId("time").dataset.mode = mode;
    this.marks.dated = mode === "live";
    for (const id of ["time-play", "time-step", "time-back", "time-by", "time-end", "time-speed", "time-slider", "time-clock"]) byId(id).hidden = !simulated;
    byId("time-leave").hidden = !leavable;
    byId("time-try").hidden = simulated;
    byId("time-line").hidden = mode === "files";
    for (const id of ["time-before", "time-after"]) byId(id).hidden = mode === "files";
    // the focus of a button that disappears goes to the one in its place
    if (focused?.closest("[hidden]")) byId(simulated ? "time-play" : "time-try").focus();
    this.complain("");
    byId("time-note").textContent = "";
    if (clock) this.take(clock);
    else this.clock = null;
    this.look();
  }

  /** Whether the slider is about scheduling cycles: chosen, or because nearly all happens at one time. */
  get byCycles() {
    if (!this.clock || !this.clock.furthestCycles) return false;
    const chosen = byId("time-by").value;
    return chosen ? chosen === "cycles" : this.clock.furthest < SHORT;
  }

  /** Where the simulation is on the slider. */
  get place() {
    return this.clock && (this.byCycles ? this.clock.cycles : this.clock.seconds);
  }

  take(clock) {
    const before = this.clock;
    this.clock = clock;
    const going = clock.state === "playing" || clock.state === "seeking";
    byId("time-play").textContent = going ? "Pause" : "Play";
    byId("time-play").disabled = clock.state === "ended";
    byId("time-step").disabled = clock.state === "ended" || clock.state === "seeking";
    byId("time-back").disabled = clock.cycles === 0 || clock.state === "seeking";
    byId("time-end").disabled = clock.state === "ended";
    const end = clock.state === "seeking" && clock.target ? ` to ${clockText(clock.target)}` : "";
    const catching = clock.behind ? ` · its run is worked out again: ${Math.floor(100 * clock.behind)} %` : "";
    byId("time-clock").textContent = `${clockText(clock.seconds)} · ${STATES[clock.state]}${end} · ${count(clock.cycles, "scheduling cycle")}${catching}`;
    byId("time").dataset.state = clock.state;
    if (!this.sliding) {
      this.slider.max = String(this.byCycles ? clock.furthestCycles : Math.max(clock.furthest, clock.seconds, 1e-3));
      this.slider.step = this.byCycles ? "1" : "any";
      this.slider.value = String(this.place);
      this.slider.setAttribute("aria-valuetext", this.placeText(this.place));
    }
    this.complain(clock.problem ? `The simulation has stopped: ${clock.problem}` : "");
    if (byId("time-note").textContent !== clock.note) byId("time-note").textContent = clock.note;
    this.on.clock(clock);
    if (this.wanted) this.arrive();
    if (!before || before.furthest !== clock.furthest || before.state !== clock.state || before.cycles !== clock.cycles) this.lookSoon();
  }

  placeText(place) {
    return this.byCycles ? `after ${count(place, "scheduling cycle")}` : clockText(place);
  }

  complain(sentence) {
    if (byId("time-problem").textContent !== sentence) byId("time-problem").textContent = sentence;
  }

  // ---- marks

  lookSoon() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.look();
    }, this.looked && performance.now() - this.looked < OFTEN ? OFTEN : 0);
  }

  async look() {
    if (this.mode === "files" || document.hidden) return;
    this.looked = performance.now();
    try {
      this.marks.show(await this.server.get(`/v1/timeline?by=${this.byCycles ? "cycles" : "seconds"}`));
    } catch {
      // the feed reports that the server does not answer
    }
    if (this.mode === "live") {
      clearTimeout(this.again);
      this.again = setTimeout(() => this.mode === "live" && this.look(), SELDOM);
    }
  }

  markText(mark) {
    return markText(mark, this.mode === "live" ? (seconds) => this.marks.dateText(seconds) : undefined);
  }

  hover(mark) {
    byId("time-mark").textContent = mark ? this.markText(mark) : "";
    byId("time-marks").style.cursor = mark ? "pointer" : "";
  }

  /** Go to the next mark, or to the one before: each of those of one moment, too. */
  walk(step) {
    const { current } = this.marks;
    if (this.clock && current && !this.wanted && !this.isAt(current)) this.marks.go(undefined);
    return this.jump(this.marks.beside(step, this.place ?? undefined));
  }

  /** Whether the simulation is where a mark is. */
  isAt(mark) {
    return Math.abs(this.place - this.marks.place(mark)) < 1e-3;
  }

  /** Go to a mark; its pod or node is opened when that time is shown. */
  async jump(mark) {
    if (!mark) return;
    this.marks.go(mark);
    byId("time-mark").textContent = this.markText(mark);
    const { clock } = this;
    const there = !clock || (["paused", "ended"].includes(clock.state) && this.isAt(mark) && clock.cycles >= (mark.cycle || 0));
    const sent = there ? undefined : this.command(this.byCycles ? { do: "seek", cycle: mark.cycle || 0 } : { do: "seek", to: mark.at });
    this.wanted = mark;
    if (there) this.arrive();
    await sent;
  }

  /** Open the pod or node of the mark, if it exists. */
  arrive() {
    const mark = this.wanted;
    const arrived = !this.clock || (this.clock.state !== "seeking" && this.isAt(mark));
    if (!arrived) return;
    this.wanted = undefined;
    const [namespace, name] = partsOf(mark.pod || "");
    if (name && this.on.isThere({ kind: "pod", key: mark.pod })) this.on.pod(namespace, name);
    else if (!name && this.on.isThere({ kind: "node", key: mark.node })) this.on.node(mark.node);
  }

  // ---- commands

  toggle() {
    if (this.clock?.state === "playing" || this.clock?.state === "seeking") this.command({ do: "pause" });
    else this.play();
  }

  play() {
    return this.command({ do: "play", speed: Number(byId("time-speed").value) });
  }

  step() {
    return this.command({ do: "step" });
  }

  stepBack() {
    if (this.clock?.cycles) return this.command({ do: "seek", cycle: this.clock.cycles - 1 });
  }

  slide() {
    this.sliding = true;
    byId("time-mark").textContent = this.placeText(Number(this.slider.value));
  }

  async seek() {
    const place = Number(this.slider.value);
    await this.command(this.byCycles ? { do: "seek", cycle: place } : { do: "seek", to: place });
    this.sliding = false;
    byId("time-mark").textContent = "";
  }

  command(asked) {
    this.wanted = undefined; // a user who seeks wants to arrive
    return this.ask(() => this.server.post("/v1/clock", asked));
  }

  async ask(request) {
    try {
      await request();
    } catch (error) {
      this.complain(error.status ? error.message : "The page's server does not answer.");
    }
  }

  key(event) {
    if (this.mode !== "simulation" || event.ctrlKey || event.metaKey || event.altKey || isTyped(event)) return;
    if (event.key === ".") this.step();
    else if (event.key === ",") this.stepBack();
    // a button that is focused is pressed by the space bar
    else if (event.key === " " && !event.target.closest("button, summary, a")) {
      event.preventDefault();
      this.toggle();
    }
  }
}
