// The cluster on a canvas: cells of nodes, blocks of pods inside when there is room. Two layers: the cluster, and above it the items
// that are pointed at, focused or selected. A frame draws all after the view moved, and only the changed cells otherwise.

import { calm } from "../page/dom.js";
import { fitted, inkOn } from "./labels.js";
import { arrange, nodeAt, nodesByName, podBlocks } from "./layout.js";

const PODS_FROM = 26; // pixels of a cell from which pods are drawn
const NAMES_FROM = 84; // and node names
const LINED_FROM = 8; // and an outline, so that an empty cell differs from the ground
const POD_NAME = { w: 52, h: 15 }; // pixels of a block from which it has its pod's name
const LARGEST = 560; // of a cell
const FONT = "system-ui, sans-serif";

export class ClusterMap {
  /** host: an element; on.hover(hit, x, y), on.select(hit) with hit {node, pod}; -1 is none. */
  constructor(host, on) {
    this.host = host;
    this.on = on;
    this.base = host.querySelector("canvas.base");
    this.over = host.querySelector("canvas.over");
    this.view = { k: 1, x: 0, y: 0 };
    this.placed = null;
    this.keys = [];
    this.areas = "scarcest";
    this.blocks = new Map();
    this.hovered = { node: -1, pod: -1 };
    this.selected = { node: -1, pod: -1 };
    this.focused = -1;
    this.full = true;
    this.dirty = new Set();
    this.waiting = false;
    new ResizeObserver(() => this.resize()).observe(host);
  }

  // ---- content

  show(cluster, paint, search) {
    const other = cluster !== this.cluster;
    this.cluster = cluster;
    this.paint = paint;
    this.search = search;
    if (other) {
      this.blocks.clear();
      this.hovered = { node: -1, pod: -1 };
      this.ordered = null;
      this.arrange();
    }
    this.redraw();
  }

  group(keys) {
    this.keys = keys;
    this.fit();
  }

  sizePodsBy(resource) {
    this.areas = resource;
    this.blocks.clear();
    this.redraw();
  }

  /** Draw the nodes that a batch of changes touched. */
  update({ nodes, layout }) {
    if (layout) {
      this.ordered = null;
      this.arrange();
    }
    for (const node of nodes) {
      this.blocks.delete(node);
      this.dirty.add(node);
    }
    this.ask();
  }

  redraw() {
    this.full = true;
    this.ask();
  }

  arrange() {
    if (!this.cluster || !this.width) return;
    const sawAll = this.seesAll();
    this.ordered ??= nodesByName(this.cluster);
    this.placed = arrange(this.cluster, this.keys, this.width, this.height, this.ordered);
    this.room = [this.width, this.height];
    this.all = this.viewOfAll();
    if (sawAll) this.view = this.all;
    this.redraw();
  }

  resize() {
    const { width, height } = this.host.getBoundingClientRect();
    if (!width || !height) return;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.seen = [this.width, this.height];
    [this.width, this.height] = [width, height];
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    // a panel that opens or closes leaves every node in its place: a view of all becomes smaller, another one stays
    const seesAll = this.seesAll();
    const screen = `${window.innerWidth} ${window.innerHeight}`;
    if (!this.placed || screen !== this.screen || width > this.room[0] + 1) this.arrangeAround(seesAll ? -1 : this.middle());
    this.screen = screen;
    this.all = this.viewOfAll();
    if (seesAll) this.view = this.all ?? this.view;
    else if (this.selected.node !== -1) this.goTo(this.selected.node, false);
    this.full = true;
    this.draw();
  }

  /** Arrange the nodes for the room that there is now; the node stays in the middle, in its size. */
  arrangeAround(node) {
    const size = this.placed?.step * this.view.k;
    this.arrange();
    if (node === -1 || !this.placed) return;
    const k = size / this.placed.step;
    const at = (corner) => (corner[node] + this.placed.step / 2) * k;
    this.view = { k, x: this.width / 2 - at(this.placed.x), y: this.height / 2 - at(this.placed.y) };
  }

  /** The node that is nearest to the middle of what was seen last, or -1. */
  middle() {
    const far = (node) => {
      const { x, y, w, h } = this.box(node);
      return Math.hypot(x + w / 2 - this.seen[0] / 2, y + h / 2 - this.seen[1] / 2);
    };
    return this.placed.order.reduce((best, node) => (best === -1 || far(node) < far(best) ? node : best), -1);
  }

  // ---- the view

  /** Whether the user has not moved the map since all nodes were shown. */
  seesAll() {
    return !this.all || ["k", "x", "y"].every((name) => this.all[name] === this.view[name]);
  }

  /** The view with all nodes. */
  viewOfAll() {
    if (!this.room) return null;
    return { k: Math.min(1, this.width / this.room[0], this.height / this.room[1]), x: 0, y: 0 };
  }

  /** All nodes, arranged for the room that there is now. */
  fit() {
    this.arrange();
    this.moveTo({ k: 1, x: 0, y: 0 });
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const k = Math.max(0.5, Math.min(LARGEST / (this.placed?.step || 1), this.view.k * factor));
    const real = k / this.view.k;
    this.moving = undefined;
    this.view = { k, x: x - (x - this.view.x) * real, y: y - (y - this.view.y) * real };
    this.redraw();
  }

  pan(dx, dy) {
    this.moving = undefined;
    this.view = { k: this.view.k, x: this.view.x + dx, y: this.view.y + dy };
    this.redraw();
  }

  /** Bring a node into view, close enough to see its pods. */
  goTo(node, close = true) {
    if (!this.placed) return;
    const k = close ? Math.max(this.view.k, Math.min(LARGEST, 150) / this.placed.step) : this.view.k;
    const [x, y] = [this.placed.x[node] + this.placed.step / 2, this.placed.y[node] + this.placed.step / 2];
    const at = [x * this.view.k + this.view.x, y * this.view.k + this.view.y];
    const seen = at[0] > 20 && at[1] > 20 && at[0] < this.width - 20 && at[1] < this.height - 20;
    if (seen && k === this.view.k) return;
    this.moveTo({ k, x: this.width / 2 - x * k, y: this.height / 2 - y * k });
  }

  moveTo(target) {
    this.moving = undefined;
    if (calm()) {
      this.view = target;
      return this.redraw();
    }
    const from = this.view;
    const start = performance.now();
    const move = (now) => {
      if (this.moving !== move) return; // the user, or another motion, moves the map now
      const share = Math.min(1, Math.max(0, (now - start) / 220));
      const eased = 1 - (1 - share) ** 3;
      const mix = (name) => from[name] + (target[name] - from[name]) * eased;
      this.view = share < 1 ? { k: mix("k"), x: mix("x"), y: mix("y") } : target;
      this.full = true;
      this.draw();
      if (share < 1) requestAnimationFrame(move);
    };
    this.moving = move;
    requestAnimationFrame(move);
  }

  /** The node and the pod at a point of the screen. */
  at(x, y) {
    if (!this.placed) return { node: -1, pod: -1 };
    const node = nodeAt(this.placed, (x - this.view.x) / this.view.k, (y - this.view.y) / this.view.k);
    if (node === -1 || !this.showsPods()) return { node, pod: -1 };
    const box = this.podArea(this.box(node));
    const blocks = this.blocksOf(node);
    for (let at = 0; at < blocks.length; at += 5) {
      const [left, top] = [box.x + blocks[at + 1] * box.w, box.y + blocks[at + 2] * box.h];
      if (x >= left && y >= top && x < left + blocks[at + 3] * box.w && y < top + blocks[at + 4] * box.h) return { node, pod: blocks[at] };
    }
    return { node, pod: -1 };
  }

  point(hit) {
    if (hit.node === this.hovered.node && hit.pod === this.hovered.pod) return;
    this.hovered = hit;
    this.ask();
  }

  select(hit) {
    this.selected = hit;
    this.ask();
  }

  focus(node) {
    this.focused = node;
    if (node !== -1) this.goTo(node, false);
    this.ask();
  }

  // ---- drawing

  ask() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  showsPods() {
    return this.placed.cell * this.view.k >= PODS_FROM;
  }

  box(node) {
    const { k } = this.view;
    const x = Math.round(this.placed.x[node] * k + this.view.x);
    const y = Math.round(this.placed.y[node] * k + this.view.y);
    const size = Math.max(1, Math.round(this.placed.cell * k));
    return { x, y, w: size, h: size };
  }

  podArea({ x, y, w, h }) {
    const title = w >= NAMES_FROM ? 18 : 0;
    return { x: x + 3, y: y + 3 + title, w: w - 6, h: h - 6 - title };
  }

  blocksOf(node) {
    let blocks = this.blocks.get(node);
    if (!blocks) this.blocks.set(node, (blocks = podBlocks(this.cluster, node, this.areas)));
    return blocks;
  }

  draw() {
    if (!this.placed || !this.width) return;
    this.ink = inkOf(this.host);
    const g = this.base.getContext("2d", { alpha: false });
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (this.full) this.drawAll(g);
    else for (const node of this.dirty) this.redrawCell(g, node);
    this.full = false;
    this.dirty.clear();
    this.drawMarks();
  }

  drawAll(g) {
    g.globalAlpha = 1;
    g.fillStyle = this.ink.back;
    g.fillRect(0, 0, this.width, this.height);
    const { k, x, y } = this.view;
    const step = this.placed.step * k;
    for (const block of this.placed.blocks) {
      const [left, top] = [block.x * k + x, block.y * k + y];
      if (left > this.width || top > this.height || left + block.w * k < 0 || top + block.h * k < 0) continue;
      if (block.title) this.drawTitle(g, block, left, top);
      if (!block.rows) continue;
      const cells = block.cellsY * k + y;
      const firstLine = Math.max(0, Math.floor(-cells / step));
      const lastLine = Math.min(Math.ceil(block.rows.length / block.columns) - 1, Math.floor((this.height - cells) / step));
      const first = Math.max(0, Math.floor(-left / step));
      const last = Math.min(block.columns - 1, Math.floor((this.width - left) / step));
      for (let line = firstLine; line <= lastLine; line++) {
        for (let column = first; column <= last; column++) {
          const node = block.rows[line * block.columns + column];
          if (node !== undefined) this.drawCell(g, node);
        }
      }
    }
    g.globalAlpha = 1;
  }

  drawTitle(g, block, left, top) {
    const size = block.level ? 11 : 12;
    g.globalAlpha = 1;
    g.font = `${block.level ? 500 : 600} ${size}px ${FONT}`;
    g.fillStyle = block.level ? this.ink.faint : this.ink.text;
    g.textBaseline = "bottom";
    const room = Math.max(0, block.w * this.view.k - 2);
    const nodes = ` ${block.nodes}`;
    const bottom = block.cellsY * this.view.k + this.view.y - 4;
    const pinned = Math.max(left, Math.min(4, left + block.w * this.view.k - 60));
    const title = fitted(g, block.title, room);
    g.fillText(title, pinned, Math.max(bottom, top + size));
    const width = g.measureText(title).width;
    g.fillStyle = this.ink.faint;
    g.font = `${size - 1}px ${FONT}`;
    if (width + g.measureText(nodes).width < room) g.fillText(nodes, pinned + width + 2, Math.max(bottom, top + size));
  }

  redrawCell(g, node) {
    if (this.cluster.nodes.name[node] === null) return;
    const { x, y, w, h } = this.box(node);
    if (x > this.width || y > this.height || x + w < 0 || y + h < 0) return;
    g.globalAlpha = 1;
    g.fillStyle = this.ink.back;
    g.fillRect(x, y, w, h);
    this.drawCell(g, node);
    g.globalAlpha = 1;
  }

  drawCell(g, node) {
    const box = this.box(node);
    const lit = !this.search.active || this.search.nodes[node] > 0;
    g.globalAlpha = lit ? 1 : 0.18;
    const colour = this.paint.colour(node);
    if (box.w < PODS_FROM) {
      g.fillStyle = colour;
      g.fillRect(box.x, box.y, box.w, box.h);
      if (box.w >= LINED_FROM) this.drawLine(g, box);
    } else this.drawNode(g, node, box, colour, lit);
    if (!this.cluster.ready[node] || this.cluster.unschedulable[node]) this.drawClosed(g, node, box);
  }

  /** A node with its pods: filled from the bottom as far as pods request its resource. */
  drawNode(g, node, box, colour, lit) {
    g.fillStyle = this.ink.cell;
    g.fillRect(box.x, box.y, box.w, box.h);
    if (box.w >= NAMES_FROM) {
      g.fillStyle = this.ink.text;
      g.font = `11px ${FONT}`;
      g.textBaseline = "top";
      g.fillText(fitted(g, this.cluster.nodes.name[node], box.w - 8), box.x + 4, box.y + 5);
    }
    const area = this.podArea(box);
    const blocks = this.blocksOf(node);
    const gap = area.w > 60 ? 1 : 0.5;
    const searched = this.search.active && lit && !(this.search.nodes[node] & 1);
    for (let at = 0; at < blocks.length; at += 5) {
      const pod = blocks[at];
      g.fillStyle = this.paint.podColour(pod, node);
      if (searched) g.globalAlpha = this.search.pods[pod] ? 1 : 0.2;
      const w = Math.max(0.5, blocks[at + 3] * area.w - gap);
      const h = Math.max(0.5, blocks[at + 4] * area.h - gap);
      const [x, y] = [area.x + blocks[at + 1] * area.w, area.y + blocks[at + 2] * area.h];
      g.fillRect(x, y, w, h);
      if (w >= POD_NAME.w && h >= POD_NAME.h) this.drawPodName(g, pod, x, y, w, h);
    }
    g.globalAlpha = lit ? 1 : 0.18;
    g.fillStyle = colour;
    g.fillRect(box.x, box.y + box.h - 2, box.w, 2);
    this.drawLine(g, box);
  }

  drawPodName(g, pod, x, y, w, h) {
    g.fillStyle = inkOn(g.fillStyle);
    g.font = `10px ${FONT}`;
    g.textBaseline = "middle";
    g.fillText(fitted(g, this.cluster.podName[pod], w - 8), x + 4, y + h / 2 + 0.5);
  }

  drawLine(g, { x, y, w, h }) {
    g.strokeStyle = this.ink.outline;
    g.lineWidth = 1;
    g.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }

  /** One stroke through a cordoned node, two through one that is not ready. */
  drawClosed(g, node, { x, y, w, h }) {
    g.beginPath();
    g.moveTo(x + 1, y + h - 1);
    g.lineTo(x + w - 1, y + 1);
    if (!this.cluster.ready[node]) {
      g.moveTo(x + 1, y + 1);
      g.lineTo(x + w - 1, y + h - 1);
    }
    const width = Math.max(1, Math.min(2, w / 12));
    // a border in the colour of the ground, so that the stroke is seen on any colour
    for (const [colour, wide] of w >= PODS_FROM ? [[this.ink.back, width + 2], [this.ink.closed, width]] : [[this.ink.closed, width]]) {
      g.strokeStyle = colour;
      g.lineWidth = wide;
      g.stroke();
    }
  }

  drawMarks() {
    const g = this.over.getContext("2d");
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    const active = document.activeElement === this.over;
    if (this.hovered.node !== -1) this.mark(g, this.hovered, this.ink.text, 1.5);
    if (this.selected.node !== -1) this.mark(g, this.selected, this.ink.accent, 3);
    if (active && this.focused !== -1) this.mark(g, { node: this.focused, pod: -1 }, this.ink.focus, 3, 4);
  }

  mark(g, { node, pod }, colour, width, away = 1.5) {
    if (this.cluster.nodes.name[node] == null) return;
    const box = this.box(node);
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.strokeRect(box.x - away, box.y - away, box.w + 2 * away, box.h + 2 * away);
    if (pod === -1 || !this.showsPods()) return;
    const area = this.podArea(box);
    const blocks = this.blocksOf(node);
    for (let at = 0; at < blocks.length; at += 5) {
      if (blocks[at] !== pod) continue;
      g.strokeRect(area.x + blocks[at + 1] * area.w, area.y + blocks[at + 2] * area.h, blocks[at + 3] * area.w, blocks[at + 4] * area.h);
    }
  }
}

/** The colours of the style sheet that the map uses; read once a theme. */
const inks = new Map();

function inkOf(host) {
  const theme = document.documentElement.dataset.theme;
  if (!inks.has(theme)) {
    const style = getComputedStyle(host);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    inks.set(theme, { back: read("map"), cell: read("cell"), text: read("text"), faint: read("faint"), accent: read("accent"), focus: read("focus"), closed: read("closed"), outline: read("outline") });
  }
  return inks.get(theme);
}
