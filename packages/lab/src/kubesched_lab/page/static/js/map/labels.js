// Texts on the map's canvas: as much of them as fits, without their middle, in a colour that is read on any ground.

const MOST = 20_000; // texts that are remembered
const known = new Map();

/** A text that fits in a room, in the font of the canvas; its beginning and its end stay, since names of nodes differ there. */
export function fitted(g, text, room) {
  const key = `${g.font} ${Math.floor(room)} ${text}`;
  let found = known.get(key);
  if (found === undefined) {
    if (known.size > MOST) known.clear();
    known.set(key, (found = cut(g, text, room)));
  }
  return found;
}

function cut(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  let low = 0; // characters that fit
  let high = text.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (g.measureText(without(text, middle)).width <= room) low = middle;
    else high = middle;
  }
  return low < 3 ? "" : without(text, low);
}

/** The first and the last characters of a text, so many together. */
function without(text, kept) {
  const last = Math.floor(kept / 2);
  return `${text.slice(0, kept - last)}…${last ? text.slice(-last) : ""}`;
}

const inks = new Map();

/** Black or white, whichever has more contrast with a colour "rgb(r g b)" or "#rrggbb". */
export function inkOn(colour) {
  let ink = inks.get(colour);
  if (!ink) {
    const parts = colour.startsWith("#") ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) : colour.match(/\d+/g).map(Number);
    const [red, green, blue] = parts.map((part) => ((part / 255 + 0.055) / 1.055) ** 2.4);
    // where black and white have the same contrast
    inks.set(colour, (ink = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#0b1016" : "#ffffff"));
  }
  return ink;
}
