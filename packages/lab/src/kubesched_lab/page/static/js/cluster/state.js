// The cluster as columns. In: /v1/cluster once, then the data of `changes` events. Out: typed arrays by row, sums by node,
// and the changes since they were last taken. Rows of nodes and pods are recycled.

/** A typed array with the same values and room for `rows` of them. */
function grown(column, rows, empty = 0) {
  const next = new column.constructor(rows);
  if (empty) next.fill(empty, column.length);
  next.set(column);
  return next;
}

// limits: tenants name resources, kubelets name labels, and each name is a column
const MOST_RESOURCES = 100;
const MOST_LABELS = 300;
const MOST_UNUSED = 1000; // texts of a column that no row has any more

/** A value by a name that comes from a cluster: so "constructor" must be an own property. */
function own(values, name) {
  return values && Object.hasOwn(values, name) ? values[name] : undefined;
}

/** A column of few different texts: a code by row. */
export class Texts {
  constructor(values = [""], codes = [], rows = codes.length) {
    this.values = values.slice();
    this.known = new Map(this.values.map((value, code) => [value, code]));
    this.codes = new Int32Array(rows).fill(this.code(""));
    this.codes.set(codes);
  }

  code(value) {
    let code = this.known.get(value);
    if (code === undefined) {
      code = this.values.push(value) - 1;
      this.known.set(value, code);
    }
    return code;
  }

  get(row) {
    return this.values[this.codes[row]];
  }

  set(row, value) {
    if (this.values.length > this.codes.length + MOST_UNUSED) this.compact();
    this.codes[row] = this.code(value || "");
  }

  /** Forget texts that no row has. */
  compact() {
    const texts = [...this.codes].map((code) => this.values[code]);
    this.values = [""];
    this.known = new Map([["", 0]]);
    this.codes = Int32Array.from(texts, (text) => this.code(text));
  }

  grow(rows) {
    this.codes = grown(this.codes, rows, this.code(""));
  }
}

/** Rows that are in use, by name; freed rows are used again. */
class Rows {
  constructor(names) {
    this.name = names.slice();
    this.row = new Map(names.map((name, row) => [name, row]));
    this.free = [];
  }

  get end() {
    return this.name.length;
  }

  take(name) {
    const row = this.free.length ? this.free.pop() : this.name.length;
    this.name[row] = name;
    this.row.set(name, row);
    return row;
  }

  drop(name) {
    const row = this.row.get(name);
    if (row === undefined) return -1;
    this.row.delete(name);
    this.name[row] = null;
    this.free.push(row);
    return row;
  }
}

export class Cluster {
  /** All of /v1/cluster. */
  constructor(data) {
    this.seq = data.seq;
    this.origin = data.origin || "";
    this.mode = data.mode || "files";
    this.kubernetes = data.kubernetes || "";
    this.live = Boolean(data.live);
    this.source = data.source || { state: "there", why: "" };
    this.gaps = data.gaps || [];
    this.placed = data.placed ?? null;
    this.places = data.places || [];
    this.takeClock(data.clock);
    this.resources = data.resources.slice();
    this.changed = { nodes: new Set(), pods: new Set(), layout: true, pending: true };
    this.orphans = new Map();
    this.readNodes(data.nodes);
    this.readPods(data.pods);
  }

  /** The clock of a simulation; null without a simulation. */
  takeClock(clock) {
    this.simulatedAt = clock ? Date.parse(clock.date) / 1000 : null;
  }

  /** The date of the cluster on display, in seconds. */
  get now() {
    return this.simulatedAt ?? Date.now() / 1000;
  }

  readNodes(nodes) {
    const rows = nodes.name.length;
    this.nodes = new Rows(nodes.name);
    this.nodeRoom = rows;
    this.ready = Uint8Array.from(nodes.ready, Number);
    this.unschedulable = Uint8Array.from(nodes.unschedulable, Number);
    this.taints = nodes.taints.slice();
    this.labels = new Map(Object.entries(nodes.labels).map(([key, { values, codes }]) => [key, new Texts(values, codes)]));
    this.allocatable = new Map();
    this.requested = new Map();
    for (const resource of this.resources) {
      this.allocatable.set(resource, Float64Array.from(own(nodes.allocatable, resource) || new Array(rows).fill(0)));
      this.requested.set(resource, new Float64Array(rows));
    }
    this.podCount = new Int32Array(rows);
    this.firstPod = new Int32Array(rows).fill(-1);
  }

  readPods(pods) {
    const rows = pods.uid.length;
    this.pods = new Rows(pods.uid);
    this.podRoom = rows;
    this.podName = pods.name.slice();
    this.podNode = Int32Array.from(pods.node);
    this.nominated = Int32Array.from(pods.nominated);
    this.priority = Float64Array.from(pods.priority);
    this.created = Float64Array.from(pods.created, (each) => (each === null ? NaN : each));
    this.namespace = new Texts(pods.namespace.values, pods.namespace.codes);
    this.podState = new Texts(pods.state.values, pods.state.codes);
    this.owner = new Texts(pods.owner.values, pods.owner.codes);
    this.why = new Texts(pods.why.values, pods.why.codes);
    this.requests = new Map();
    for (const [resource, column] of Object.entries(pods.requests)) this.requests.set(resource, Float64Array.from(column));
    this.nextPod = new Int32Array(rows).fill(-1);
    this.previousPod = new Int32Array(rows).fill(-1);
    for (let row = 0; row < rows; row++) this.attach(row);
  }

  // ---- asking

  get nodeCount() {
    return this.nodes.row.size;
  }

  get podTotal() {
    return this.pods.row.size;
  }

  nodeRows() {
    return this.nodes.row.values();
  }

  podRows() {
    return this.pods.row.values();
  }

  *podsOf(node) {
    for (let pod = this.firstPod[node]; pod !== -1; pod = this.nextPod[pod]) yield pod;
  }

  podKey(row) {
    return `${this.namespace.get(row)}/${this.podName[row]}`;
  }

  ownerOf(row) {
    const owner = this.owner.get(row);
    return owner ? `${owner} in ${this.namespace.get(row)}` : this.podKey(row);
  }

  /** The row of a pod `namespace/name`, or -1. */
  findPod(key) {
    for (const row of this.pods.row.values()) {
      if (key.endsWith(this.podName[row]) && this.podKey(row) === key) return row;
    }
    return -1;
  }

  findNode(name) {
    return this.nodes.row.get(name) ?? -1;
  }

  isPending(row) {
    const state = this.podState.get(row);
    return this.podNode[row] === -1 && (state === "pending" || state === "gated");
  }

  /** Requested of allocatable, between 0 and more than 1; NaN if the node has none of it. */
  share(resource, node) {
    const all = this.allocatable.get(resource)[node];
    return all ? this.requested.get(resource)[node] / all : NaN;
  }

  /** The resource of which the largest share of a node is requested, and that share; NaN if it offers nothing. */
  scarcest(node) {
    let found = { resource: "", share: NaN };
    for (const resource of this.resources) {
      const share = this.share(resource, node);
      if (share > found.share || Number.isNaN(found.share)) found = { resource, share };
    }
    return found;
  }

  freeOf(resource, node) {
    return this.allocatable.get(resource)[node] - this.requested.get(resource)[node];
  }

  // ---- changing

  /** The changes since the last call. */
  takeChanges() {
    const taken = this.changed;
    this.changed = { nodes: new Set(), pods: new Set(), layout: false, pending: false };
    return taken;
  }

  /** The data of a `changes` event. */
  apply(changes) {
    this.seq = changes.seq;
    for (const node of changes.nodes || []) this.putNode(node);
    for (const uid of changes.gonePods || []) this.dropPod(uid);
    for (const pod of changes.pods || []) this.putPod(pod);
    for (const name of changes.goneNodes || []) this.dropNode(name);
  }

  putNode(node) {
    let row = this.nodes.row.get(node.name);
    if (row === undefined) {
      row = this.nodes.take(node.name);
      if (row >= this.nodeRoom) this.growNodes(Math.max(16, 2 * row));
      this.changed.layout = true;
    }
    this.ready[row] = Number(node.ready);
    this.unschedulable[row] = Number(node.unschedulable);
    this.taints[row] = node.taints || [];
    this.putLabels(row, node.labels || {});
    for (const resource of Object.keys(node.allocatable || {})) this.knowResource(resource);
    for (const resource of this.resources) this.allocatable.get(resource)[row] = own(node.allocatable, resource) || 0;
    this.changed.nodes.add(row);
    for (const [uid, name] of this.orphans) {
      if (name !== node.name) continue;
      this.orphans.delete(uid);
      const pod = this.pods.row.get(uid);
      this.podNode[pod] = row;
      this.attach(pod);
    }
  }

  putLabels(row, labels) {
    for (const key of Object.keys(labels)) {
      if (key === "kubernetes.io/hostname") continue;
      if (!this.labels.has(key) && this.labels.size < MOST_LABELS) this.labels.set(key, new Texts([""], [], this.nodeRoom));
    }
    for (const [key, column] of this.labels) {
      const before = column.codes[row];
      column.set(row, own(labels, key));
      if (column.codes[row] !== before) this.changed.layout = true;
    }
  }

  dropNode(name) {
    const row = this.nodes.drop(name);
    if (row === -1) return;
    for (const pod of [...this.podsOf(row)]) {
      this.detach(pod);
      this.orphans.set(this.pods.name[pod], name);
      this.podNode[pod] = -1;
    }
    this.changed.layout = true;
    this.changed.nodes.delete(row);
  }

  putPod(pod) {
    let row = this.pods.row.get(pod.uid);
    if (row === undefined) {
      row = this.pods.take(pod.uid);
      if (row >= this.podRoom) this.growPods(Math.max(64, 2 * row));
    } else {
      if (this.isPending(row)) this.changed.pending = true;
      this.detach(row);
    }
    this.podName[row] = pod.name;
    this.podNode[row] = pod.node ? this.findNode(pod.node) : -1;
    if (pod.node && this.podNode[row] === -1) this.orphans.set(pod.uid, pod.node);
    else this.orphans.delete(pod.uid);
    this.nominated[row] = pod.nominated ? this.findNode(pod.nominated) : -1;
    this.priority[row] = pod.priority || 0;
    this.created[row] = pod.created ?? NaN;
    this.namespace.set(row, pod.namespace);
    this.podState.set(row, pod.state);
    this.owner.set(row, pod.owner);
    this.why.set(row, pod.why);
    for (const resource of Object.keys(pod.requests || {})) this.knowRequests(resource);
    for (const [resource, column] of this.requests) column[row] = own(pod.requests, resource) || 0;
    this.attach(row);
    if (this.isPending(row)) this.changed.pending = true;
    this.changed.pods.add(row);
  }

  dropPod(uid) {
    const row = this.pods.row.get(uid);
    if (row === undefined) return;
    if (this.isPending(row)) this.changed.pending = true;
    this.detach(row);
    this.pods.drop(uid);
    this.orphans.delete(uid);
    this.changed.pods.add(row);
  }

  /** Put a pod into its node's list and sums. */
  attach(row) {
    const node = this.podNode[row];
    if (node === -1) return;
    const next = this.firstPod[node];
    this.nextPod[row] = next;
    this.previousPod[row] = -1;
    if (next !== -1) this.previousPod[next] = row;
    this.firstPod[node] = row;
    this.count(row, node, 1);
  }

  detach(row) {
    const node = this.podNode[row];
    if (node === -1) return;
    const next = this.nextPod[row];
    const previous = this.previousPod[row];
    if (previous === -1) this.firstPod[node] = next;
    else this.nextPod[previous] = next;
    if (next !== -1) this.previousPod[next] = previous;
    this.count(row, node, -1);
  }

  count(row, node, sign) {
    this.podCount[node] += sign;
    for (const [resource, column] of this.requests) {
      if (resource !== "pods" && this.requested.has(resource)) this.requested.get(resource)[node] += sign * column[row];
    }
    if (this.requested.has("pods")) this.requested.get("pods")[node] += sign;
    this.changed.nodes.add(node);
  }

  knowResource(resource) {
    if (this.allocatable.has(resource) || this.resources.length >= MOST_RESOURCES) return;
    this.resources.push(resource);
    this.allocatable.set(resource, new Float64Array(this.nodeRoom));
    this.requested.set(resource, new Float64Array(this.nodeRoom));
    const column = this.requests.get(resource);
    if (!column) return;
    for (const pod of this.pods.row.values()) {
      if (this.podNode[pod] !== -1) this.requested.get(resource)[this.podNode[pod]] += column[pod];
    }
  }

  knowRequests(resource) {
    if (!this.requests.has(resource) && this.requests.size < MOST_RESOURCES) this.requests.set(resource, new Float64Array(this.podRoom));
  }

  growNodes(rows) {
    this.nodeRoom = rows;
    for (const name of ["ready", "unschedulable", "podCount"]) this[name] = grown(this[name], rows);
    this.firstPod = grown(this.firstPod, rows, -1);
    for (const columns of [this.allocatable, this.requested]) {
      for (const [resource, column] of columns) columns.set(resource, grown(column, rows));
    }
    for (const column of this.labels.values()) column.grow(rows);
  }

  growPods(rows) {
    this.podRoom = rows;
    for (const name of ["podNode", "nominated", "nextPod", "previousPod"]) this[name] = grown(this[name], rows, -1);
    for (const name of ["priority", "created"]) this[name] = grown(this[name], rows);
    for (const name of ["namespace", "podState", "owner", "why"]) this[name].grow(rows);
    for (const [resource, column] of this.requests) this.requests.set(resource, grown(column, rows));
  }
}
