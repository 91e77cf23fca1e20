// Names of nodes and pods that open them in the panel.

import { h } from "../page/dom.js";

export function nodeLink(name, on) {
  return h("button.link", { type: "button", onclick: () => on.node(name) }, name);
}

/** `key` is namespace/name. */
export function podLink(key, on) {
  const [namespace, name] = key.split("/");
  return h("button.link", { type: "button", onclick: () => on.pod(namespace, name) }, key);
}
