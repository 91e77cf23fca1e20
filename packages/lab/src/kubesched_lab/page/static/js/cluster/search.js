// The search. In: words; all of them have to match: a part of a name, a namespace or an owner, or key=value.
// Out: which nodes and pods match.

/** Words of a query: {key, value} of key=value, {text} of others. */
export function wordsOf(query) {
  return query
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const at = word.indexOf("=");
      return at > 0 ? { key: word.slice(0, at), value: word.slice(at + 1) } : { text: word };
    });
}

// keys for fields of pods; all other keys are labels of nodes
const OF_PODS = {
  namespace: (cluster, pod) => cluster.namespace.get(pod),
  owner: (cluster, pod) => cluster.owner.get(pod).toLowerCase(),
  state: (cluster, pod) => cluster.podState.get(pod),
  node: (cluster, pod) => cluster.nodes.name[cluster.podNode[pod]],
};

export class Search {
  constructor(cluster, query) {
    this.cluster = cluster;
    this.words = wordsOf(query);
    this.active = this.words.length > 0;
    this.nodes = new Uint8Array(cluster.nodeRoom);
    this.pods = new Uint8Array(cluster.podRoom);
    this.named = [];
    this.found = [];
    this.texts = new Map();
    this.labelled = new Map();
    if (this.active) this.all();
  }

  all() {
    for (const word of this.words) if (!word.text) this.labelled.set(word, this.nodesWith(word));
    for (const node of this.cluster.nodeRows()) if (this.node(node)) this.named.push(node);
    for (const pod of this.cluster.podRows()) if (this.pod(pod)) this.found.push(pod);
  }

  /** Does the node itself match? It is lit as well if one of its pods does. */
  node(node) {
    const matches = this.words.every((word) => (word.text ? this.cluster.nodes.name[node].includes(word.text) : this.labelled.get(word)[node]));
    this.nodes[node] = Number(matches);
    return matches;
  }

  /** Columns of a label's key; its last part is enough. */
  columns(key) {
    const isIt = (name) => name === key || name.endsWith(`/${key}`);
    return [...this.cluster.labels].filter(([name]) => isIt(name.toLowerCase())).map(([, column]) => column);
  }

  /** Which nodes have a label, by row. */
  nodesWith({ key, value }) {
    const rows = new Uint8Array(this.cluster.nodeRoom);
    for (const column of this.columns(key)) {
      for (const node of this.cluster.nodeRows()) if (column.get(node).toLowerCase() === value) rows[node] = 1;
    }
    return rows;
  }

  /** Keys that are a label of no node. */
  unknownKeys() {
    return this.words.filter(({ text, key }) => !text && !Object.hasOwn(OF_PODS, key) && !this.columns(key).length).map(({ key }) => key);
  }

  /** Does the pod match? Labels are those of its node; at least one word has to be about the pod itself. */
  pod(pod) {
    const node = this.cluster.podNode[pod];
    let own = false;
    const matches = this.words.every((word) => {
      if (!this.own(pod, word)) return !word.text && node !== -1 && this.labelled.get(word)[node];
      own = true;
      return true;
    });
    this.pods[pod] = Number(matches && own);
    if (this.pods[pod] && node !== -1) this.nodes[node] |= 2;
    return this.pods[pod];
  }

  own(pod, { text, key, value }) {
    const { cluster } = this;
    if (text) return cluster.podName[pod].includes(text) || this.coded(cluster.namespace, pod, text) || this.coded(cluster.owner, pod, text);
    return Object.hasOwn(OF_PODS, key) && OF_PODS[key](cluster, pod) === value;
  }

  /** Whether a text of a column matches the word; each distinct text is checked once. */
  coded(column, row, word) {
    const key = column.codes[row];
    let known = this.texts.get(column);
    if (!known) this.texts.set(column, (known = new Map()));
    const id = `${key} ${word}`;
    if (!known.has(id)) known.set(id, column.values[key].toLowerCase().includes(word));
    return known.get(id);
  }
}
