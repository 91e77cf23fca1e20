// Elements from values. Data become text nodes and attributes, never markup.

/** h("button.wide", {onclick}, "text", child): `tag.class.class`, properties, then children; null children are left out. */
export function h(spec, props = {}, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

/** A bar whose length is a share between 0 and 1. */
export function bar(share, kind = "") {
  const fill = h("span.fill");
  fill.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
  return h(kind ? `span.bar.${kind}` : "span.bar", { "aria-hidden": "true" }, fill);
}

/** A part that opens on demand. */
export function details(summary, ...children) {
  return h("details", {}, h("summary", {}, summary), ...children);
}

/** A titled part of a panel; nothing if there is nothing in it. */
export function section(title, ...children) {
  const there = children.flat(Infinity).filter(Boolean);
  return there.length ? h("section", {}, h("h3", {}, title), ...there) : null;
}

export function byId(id) {
  return document.getElementById(id);
}

/** Whether a key is typed into a field, so that it is no command; a slider takes no letters and digits. */
export function isTyped(event) {
  return event.target.matches("input:not([type=range]), select, textarea, [contenteditable]");
}

export const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;
