// What is looked for. In: words; all of them have to match: a part of a name, a namespace or an owner, or label=value.
// Out: which nodes and pods match.

/** Words of a query: {key, value} of label=value, {text} of others. */
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

export class Search {
  constructor(cluster, query) {
    this.cluster = cluster;
    this.words = wordsOf(query);
    this.active = this.words.length > 0;
    this.nodes = new Uint8Array(cluster.nodeRoom);
    this.pods = new Uint8Array(cluster.podRoom);
    this.texts = new Map();
    if (this.active) this.all();
  }

  all() {
    this.named = [];
    for (const node of this.cluster.nodeRows()) if (this.node(node)) this.named.push(node);
    this.found = [];
    for (const pod of this.cluster.podRows()) if (this.pod(pod)) this.found.push(pod);
  }

  /** Does the node itself match? It is lit as well if one of its pods does. */
  node(node) {
    const matches = this.words.every((word) => (word.text ? this.cluster.nodes.name[node].includes(word.text) : this.label(node, word)));
    this.nodes[node] = Number(matches);
    return matches;
  }

  label(node, { key, value }) {
    for (const [name, column] of this.cluster.labels) {
      const lower = name.toLowerCase();
      if ((lower === key || lower.endsWith(`/${key}`)) && column.get(node).toLowerCase() === value) return true;
    }
    return false;
  }

  pod(pod) {
    const cluster = this.cluster;
    const matches = this.words.every((word) => {
      if (word.text) {
        return cluster.podName[pod].includes(word.text) || this.coded(cluster.namespace, pod, word.text) || this.coded(cluster.owner, pod, word.text);
      }
      if (word.key === "namespace") return cluster.namespace.get(pod) === word.value;
      if (word.key === "owner") return cluster.owner.get(pod).toLowerCase() === word.value;
      if (word.key === "state") return cluster.podState.get(pod) === word.value;
      return word.key === "node" && cluster.podNode[pod] !== -1 && cluster.nodes.name[cluster.podNode[pod]] === word.value;
    });
    this.pods[pod] = Number(matches);
    const node = cluster.podNode[pod];
    if (matches && node !== -1) this.nodes[node] |= 2;
    return matches;
  }

  /** Whether a text of few different ones has the word; asked once of each different text. */
  coded(column, row, word) {
    const key = column.codes[row];
    let known = this.texts.get(column);
    if (!known) this.texts.set(column, (known = new Map()));
    const id = `${key} ${word}`;
    if (!known.has(id)) known.set(id, column.values[key].toLowerCase().includes(word));
    return known.get(id);
  }
}
