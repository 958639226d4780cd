// format.js - numbers, times and states as people read them.

// Signs that are not seen themselves but turn, break or hide what is beside
// them: Unicode's marks of direction and of lines, and control characters other
// than tabs and line ends.
const UNSEEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

// A text as it may be among others: such signs are named, as ⟨U+202E⟩.
export function visible(text) {
  return text.replace(UNSEEN, sign => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

// A number in at most five significant digits; "" where there is none.
export function number(value) {
  if (value === null || value === undefined || value === "") return "";
  if (typeof value !== "number") return visible(String(value));
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return String(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7))
    return value.toExponential(3).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(5)));
}

// 808ms, 7m18s, 2h14m, 3d4h.
export function duration(ms) {
  if (ms === null || ms === undefined || !(ms >= 0)) return "";
  if (ms > 0 && ms < 1000) return `${Math.max(1, Math.round(ms))}ms`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${String(s % 60).padStart(2, "0")}s`;
  if (s < 86400) return `${Math.floor(s / 3600)}h${String(Math.floor(s % 3600 / 60)).padStart(2, "0")}m`;
  return `${Math.floor(s / 86400)}d${Math.floor(s % 86400 / 3600)}h`;
}

export function age(ms, now = Date.now()) {
  return ms > 0 ? `${duration(Math.max(0, now - ms))} ago` : "";
}

// In the reader's own time: "2026-11-28 17:17:58".
export function moment(ms) {
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60000);
  return ms > 0 ? local.toISOString().slice(0, 19).replace("T", " ") : "";
}

// For programs: "2026-11-28T17:17:58Z".
export function isoMoment(ms) {
  return ms > 0 ? new Date(ms).toISOString().replace(/\.\d+Z$/, "Z") : "";
}

// "SUCCEEDED" -> "succeeded".
export function state(name) {
  return name.replace(/^JOB_STATE_/, "").toLowerCase().replaceAll("_", " ");
}

export function plural(n, one, many = one + "s") {
  return `${n} ${n === 1 ? one : many}`;
}

export function bytes(n) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  for (; n >= 1000 && unit < units.length - 1; unit++) n /= 1000;
  return `${n >= 100 || unit === 0 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}
