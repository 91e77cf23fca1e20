// Amounts in the words of Kubernetes: cpu in thousandths, memory in bytes, ages in seconds.

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
const BYTES = /^(memory|ephemeral-storage|hugepages-.*)$/;

function rounded(value, digits) {
  return String(Number(value.toFixed(digits)));
}

/** 2500 of cpu: "2.5"; 536870912 of memory: "512Mi"; 2 of nvidia.com/gpu: "2". */
export function amount(resource, value) {
  if (resource === "cpu") return Math.abs(value) < 1000 && value % 1000 ? `${rounded(value, 0)}m` : rounded(value / 1000, 2);
  if (!BYTES.test(resource)) return rounded(value, 1);
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < BINARY.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${rounded(value, 1)}${BINARY[unit]}`;
}

/** 0.456: "46 %". */
export function percent(share) {
  return Number.isFinite(share) ? `${Math.round(share * 100)} %` : "–";
}

/** 3725 seconds: "1h"; the largest unit that is not zero. */
export function age(seconds) {
  if (!Number.isFinite(seconds)) return "";
  const all = Math.max(0, Math.floor(seconds));
  if (all < 60) return `${all}s`;
  if (all < 3600) return `${Math.floor(all / 60)}m`;
  if (all < 86400) return `${Math.floor(all / 3600)}h`;
  return `${Math.floor(all / 86400)}d`;
}

/** The time of day of a date in seconds. */
export function timeOfDay(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString([], { hourCycle: "h23" });
}

/** The same, with the day unless that is today. */
export function dayAndTime(seconds) {
  const date = new Date(seconds * 1000);
  const day = date.toDateString() === new Date().toDateString() ? "" : `${date.toLocaleDateString()} `;
  return `${day}${timeOfDay(seconds)}`;
}

/** 1 pod, 2 pods, 50 000 pods. */
export function count(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** A text with a limit of characters: a longer one without its middle. */
export function cutMiddle(text, most) {
  if (text.length <= most) return text;
  const kept = Math.max(2, most - 1);
  return `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(-Math.floor(kept / 2))}`;
}

/** The last part of a label's key: topology.kubernetes.io/zone: "zone". */
export function shortKey(key) {
  return key.slice(key.lastIndexOf("/") + 1);
}
