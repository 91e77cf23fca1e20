// Names of nodes and pods that open them in the panel.

import { h } from "../page/dom.js";

export function nodeLink(name, on) {
  return h("button.link", { type: "button", onclick: () => on.node(name) }, name);
}

/** namespace/name in two: files may have names with a slash. */
export function partsOf(key) {
  const at = key.indexOf("/");
  return [key.slice(0, Math.max(0, at)), key.slice(at + 1)];
}

/** `key` is namespace/name. */
export function podLink(key, on) {
  const [namespace, name] = partsOf(key);
  return h("button.link", { type: "button", onclick: () => on.pod(namespace, name) }, key);
}
