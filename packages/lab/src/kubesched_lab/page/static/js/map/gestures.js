// Mouse, touch and keyboard on the map.

import { neighbour } from "./layout.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const CLICK = 5; // pixels that a click may move

/** Let the map be moved, pointed at and walked over; `say` reads a node out. */
export function gestures(map, say) {
  const pointers = new Map();
  let moved = 0;
  const over = map.over;

  const place = (event) => {
    const { left, top } = over.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const leave = () => {
    map.point({ node: -1, pod: -1 });
    map.on.hover(null);
  };

  over.addEventListener("pointerdown", (event) => {
    over.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) moved = 0;
  });

  over.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      const hit = map.at(x, y);
      map.point(hit);
      map.on.hover(hit.node === -1 ? null : hit, x, y);
      return;
    }
    const [dx, dy] = [x - before[0], y - before[1]];
    moved += Math.abs(dx) + Math.abs(dy);
    if (pointers.size === 2) {
      const [id] = [...pointers.keys()].filter((each) => each !== event.pointerId);
      const other = pointers.get(id);
      const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
      const is = Math.hypot(x - other[0], y - other[1]);
      if (was > 1) map.zoom(is / was, (x + other[0]) / 2, (y + other[1]) / 2);
    } else if (moved > CLICK) {
      map.pan(dx, dy);
      map.on.hover(null);
    }
    pointers.set(event.pointerId, [x, y]);
  });

  over.addEventListener("pointerup", (event) => {
    const alone = pointers.size === 1;
    pointers.delete(event.pointerId);
    if (!alone || moved > CLICK) return;
    const hit = map.at(...place(event));
    if (hit.node === -1) return;
    map.focused = hit.node;
    map.on.select(hit);
  });
  over.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
  over.addEventListener("pointerleave", leave);
  over.addEventListener("wheel", (event) => {
    event.preventDefault();
    map.zoom(Math.exp(-Math.max(-80, Math.min(80, event.deltaY)) * (event.ctrlKey ? 0.02 : 0.004)), ...place(event));
    leave();
  }, { passive: false });
  over.addEventListener("dblclick", (event) => map.zoom(2, ...place(event)));

  over.addEventListener("focus", () => {
    if (map.focused === -1 && map.placed) map.focused = map.placed.order[0] ?? -1;
    if (map.focused !== -1) say(map.focused);
    map.ask();
  });
  over.addEventListener("blur", () => map.ask());
  over.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ARROWS && map.focused !== -1) {
      map.focus(neighbour(map.placed, map.focused, ...ARROWS[event.key]));
      say(map.focused);
    } else if ((event.key === "Enter" || event.key === " ") && map.focused !== -1) map.on.select({ node: map.focused, pod: -1 });
    else if (event.key === "+" || event.key === "=") zoomAtFocus(map, 1.5);
    else if (event.key === "-") zoomAtFocus(map, 1 / 1.5);
    else if (event.key === "0" || event.key === "Home") map.fit();
    else return;
    event.preventDefault();
  });
}

function zoomAtFocus(map, factor) {
  if (map.focused === -1) return map.zoom(factor);
  const { x, y, w, h } = map.box(map.focused);
  map.zoom(factor, x + w / 2, y + h / 2);
}
