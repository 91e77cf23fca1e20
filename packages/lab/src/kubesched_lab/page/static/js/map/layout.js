// Where each node is on the map. In: the cluster, up to two labels to group by, and the size of the screen. Out: groups as
// rectangles and the corner of each node's cell, all cells of one size, as large as the screen allows.

import { grouped } from "../cluster/amounts.js";

const GAP = 10; // between groups
const TITLE = 20; // above a group
const LARGEST = 180; // of a cell
const SMALLEST = 3;
const MOST_GROUPS = 120;
const names = new Intl.Collator("en", { numeric: true });

/** Nodes in the order of their names: n2 before n10. */
export function nodesByName(cluster) {
  return [...cluster.nodes.row].sort((a, b) => names.compare(a[0], b[0])).map(([, row]) => row);
}

/** The largest groups, and one for the rest: a label may have a value for each node. */
function folded(groups, most) {
  if (groups.length <= most) return groups;
  const largest = new Set([...groups].sort((a, b) => b[1].length - a[1].length).slice(0, most - 1));
  const rest = groups.filter((each) => !largest.has(each));
  return [...groups.filter((each) => largest.has(each)), [`${grouped(rest.length)} other values`, rest.flatMap(([, rows]) => rows)]];
}

/** A tree of groups: [{title, rows, parts}]; without labels one group that has no title. At most `most` are separate groups. */
export function groupsOf(cluster, ordered, keys, most = MOST_GROUPS) {
  if (!keys.length) return [{ title: "", rows: ordered, parts: [] }];
  const column = cluster.labels.get(keys[0]);
  const found = new Map();
  for (const row of ordered) {
    const value = column ? column.get(row) : "";
    if (!found.has(value)) found.set(value, []);
    found.get(value).push(row);
  }
  const ranked = folded([...found].sort((a, b) => (a[0] === "") - (b[0] === "") || names.compare(a[0], b[0])), most);
  const parts = Math.max(4, Math.floor((2 * MOST_GROUPS) / ranked.length));
  return ranked.map(([value, rows]) => ({
    title: value || "without it",
    rows,
    parts: keys.length > 1 ? groupsOf(cluster, rows, keys.slice(1), parts) : [],
  }));
}

/** The size of a group with cells of size `step`, at most `most` columns wide, and the places of its parts. */
function measure(group, step, shape, most = Infinity) {
  const top = group.title ? TITLE : 0;
  const wide = group.title ? Math.ceil(Math.min(90, group.title.length * 7) / step) : 1;
  const fitting = Math.max(wide, Math.ceil(Math.sqrt(group.rows.length * shape)));
  if (group.parts.length) {
    // parts are as wide as the group, small ones side by side
    const parts = group.parts.map((part) => measure(part, step, shape, fitting));
    const packed = shelves(parts, Math.max(fitting * step, ...parts.map((part) => part.w)));
    return { group, parts: packed.boxes, w: packed.w, h: packed.h + top, top, columns: 0 };
  }
  const columns = Math.max(1, Math.min(group.rows.length, most === Infinity ? fitting : most));
  const h = Math.ceil(group.rows.length / columns) * step + top;
  return { group, parts: [], w: Math.max(columns, wide) * step, h, top, columns };
}

/** Boxes side by side on shelves of a width. */
function shelves(boxes, width) {
  let x = 0;
  let y = 0;
  let shelf = 0;
  let widest = 0;
  for (const box of boxes) {
    if (x > 0 && x + box.w > width + 0.5) {
      x = 0;
      y += shelf + GAP;
      shelf = 0;
    }
    box.x = x;
    box.y = y;
    x += box.w + GAP;
    shelf = Math.max(shelf, box.h);
    widest = Math.max(widest, x - GAP);
  }
  return { boxes, w: widest, h: y + shelf };
}

/** The best packing of groups with cells of one size: of a few shapes the one that wastes least of the screen. */
function packed(groups, step, width, height) {
  let best = null;
  for (const shape of [0.3, 0.5, 0.75, 1, 1.4, 2, 3, 5, width / height]) {
    const boxes = groups.map((group) => measure(group, step, shape));
    const found = shelves(boxes, width);
    const over = Math.max(found.w / width, found.h / height);
    if (best === null || over < best.over) best = { ...found, over };
  }
  return best;
}

/** Arrange the nodes on a screen. */
export function arrange(cluster, keys, width, height, ordered = nodesByName(cluster)) {
  const groups = groupsOf(cluster, ordered, keys);
  const w = Math.max(80, width - 2 * GAP);
  const h = Math.max(80, height - 2 * GAP);
  let low = SMALLEST;
  let high = LARGEST;
  for (let turn = 0; turn < 8; turn++) {
    const middle = (low + high) / 2;
    if (packed(groups, middle, w, h).over <= 1) low = middle;
    else high = middle;
  }
  // whole pixels, so that all gaps look the same
  const step = Math.floor(low);
  const { boxes, w: usedW, h: usedH } = packed(groups, step, w, h);
  const placed = { step, cell: step - (step < 4 ? 0.6 : Math.max(1, Math.min(6, Math.round(step * 0.1)))), blocks: [], order: [], width: usedW, height: usedH };
  placed.x = new Float32Array(cluster.nodeRoom);
  placed.y = new Float32Array(cluster.nodeRoom);
  const left = GAP + Math.max(0, (w - usedW) / 2);
  const top = GAP + Math.max(0, Math.min(60, (h - usedH) / 3));
  for (const box of boxes) place(placed, box, left, top, 0);
  return placed;
}

function place(placed, box, left, top, level) {
  const block = { title: box.group.title, nodes: box.group.rows.length, level, x: left + box.x, y: top + box.y, w: box.w, h: box.h };
  block.rows = box.columns ? box.group.rows : null;
  block.columns = box.columns;
  block.cellsY = block.y + box.top;
  placed.blocks.push(block);
  for (const part of box.parts) place(placed, part, block.x, block.cellsY, level + 1);
  if (!block.rows) return;
  block.rows.forEach((row, number) => {
    placed.x[row] = block.x + (number % box.columns) * placed.step;
    placed.y[row] = block.cellsY + Math.floor(number / box.columns) * placed.step;
    placed.order.push(row);
  });
}

/** The node at a place of the map, or -1. */
export function nodeAt(placed, x, y) {
  for (const block of placed.blocks) {
    if (!block.rows || x < block.x || y < block.cellsY || x > block.x + block.w || y > block.y + block.h) continue;
    const column = Math.floor((x - block.x) / placed.step);
    if (column >= block.columns) return -1;
    return block.rows[Math.floor((y - block.cellsY) / placed.step) * block.columns + column] ?? -1;
  }
  return -1;
}

/** The nearest node in a direction, or the same. */
export function neighbour(placed, node, dx, dy) {
  let best = node;
  let least = Infinity;
  for (const other of placed.order) {
    const along = (placed.x[other] - placed.x[node]) * dx + (placed.y[other] - placed.y[node]) * dy;
    if (along < placed.step / 2) continue;
    const aside = Math.abs((placed.x[other] - placed.x[node]) * dy) + Math.abs((placed.y[other] - placed.y[node]) * dx);
    const far = along + 3 * aside;
    if (far < least) {
      least = far;
      best = other;
    }
  }
  return best;
}

/**
 * Pods as blocks in a unit square, filled from the bottom: [pod, x, y, w, h, ...]; an area is a share of the node's
 * resource, of "scarcest" that of which most is requested there.
 */
export function podBlocks(cluster, node, chosen) {
  const resource = chosen === "scarcest" ? cluster.scarcest(node).resource : chosen;
  const all = cluster.allocatable.get(resource)?.[node] || 0;
  const column = cluster.requests.get(resource);
  const pods = [...cluster.podsOf(node)];
  if (!pods.length) return [];
  const least = all ? all * 0.004 : 1;
  const amountOf = (pod) => (resource === "pods" ? 1 : column ? column[pod] : 0);
  const weights = new Map(pods.map((pod) => [pod, Math.max(least, amountOf(pod))]));
  pods.sort((a, b) => weights.get(b) - weights.get(a) || a - b);
  const sum = pods.reduce((total, pod) => total + weights.get(pod), 0);
  const level = all ? Math.min(1, sum / all) : Math.min(1, pods.length * 0.05);
  const out = [];
  split(pods, 0, pods.length, sum, weights, { x: 0, y: 1 - level, w: 1, h: level }, out);
  return out;
}

/** Halve by weight until each pod has a rectangle. */
function split(pods, from, to, sum, weights, box, out) {
  if (to - from === 1) {
    out.push(pods[from], box.x, box.y, box.w, box.h);
    return;
  }
  let first = weights.get(pods[from]);
  let middle = from + 1;
  while (middle < to - 1 && first + weights.get(pods[middle]) <= sum / 2) first += weights.get(pods[middle++]);
  const share = first / sum;
  const wide = box.w >= box.h;
  const one = wide ? { ...box, w: box.w * share } : { ...box, h: box.h * share };
  const two = wide
    ? { ...box, x: box.x + one.w, w: box.w - one.w }
    : { ...box, y: box.y + one.h, h: box.h - one.h };
  split(pods, from, middle, first, weights, one, out);
  split(pods, middle, to, sum - first, weights, two, out);
}
