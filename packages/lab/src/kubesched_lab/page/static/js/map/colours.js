// Colours of nodes and pods. Scales run from faint to strong in brightness alone as well, so that they can be read without
// seeing hues; kinds have eight hues that stay apart for most colour-blind people.

const RAMPS = {
  dark: ["#1d2a3f", "#27507a", "#4a7f8c", "#93a97c", "#e0c35a", "#fff0b3"],
  light: ["#dbe5ee", "#a9c8de", "#6fa5c9", "#3d7bac", "#1f5288", "#0d2a52"],
};
const KINDS = {
  dark: ["#56b4e9", "#e69f00", "#2fb891", "#f0e442", "#cc79a7", "#e2703a", "#8ea2ff", "#b8c4d0"],
  light: ["#0072b2", "#c77f00", "#00805d", "#9c8f00", "#b0518a", "#c2500c", "#4a55c7", "#5d6a78"],
};
const NOTHING = { dark: "#232b36", light: "#eceff3" };

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** 256 colours between those of a ramp. */
export function ramp(theme) {
  const stops = RAMPS[theme].map(channels);
  return Array.from({ length: 256 }, (_, number) => {
    const at = (number / 255) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    const mixed = stops[low].map((value, channel) => Math.round(value + (stops[low + 1][channel] - value) * (at - low)));
    return `rgb(${mixed.join(" ")})`;
  });
}

export function kinds(theme) {
  return KINDS[theme];
}

export function nothing(theme) {
  return NOTHING[theme];
}

/** The same text has the same kind, in every session. */
export function kindOf(text) {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return (hash >>> 0) % 8;
}
