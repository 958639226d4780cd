// theme.js - the colours of plots: those of style.css for lines, text and
// states, viridis for values.

const NAMES = ["ground", "card", "line", "text", "quiet", "accent", "good", "bad", "warn", "idle", "run"];
const STEPS = 32; // shades of values; few, so that equal ones are drawn at once
const dark = matchMedia("(prefers-color-scheme: dark)");
let theme = null;

// Also where no plot is in sight.
dark.addEventListener("change", () => {
  theme = null;
});

// {ground, card, ...} as they are now.
export function colours() {
  if (theme === null) {
    const style = getComputedStyle(document.documentElement);
    theme = Object.fromEntries(NAMES.map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
  }
  return theme;
}

// Calls `changed()` when the reader turns from light to dark or back. Returns
// the function that ends it.
export function whenThemeChanges(changed) {
  dark.addEventListener("change", changed);
  return () => dark.removeEventListener("change", changed);
}

// The colour of a share between 0, which is poor, and 1, which is good: the
// better, the more it stands out from the ground.
export function shade(share) {
  const step = Math.round(Math.min(1, Math.max(0, share)) * (STEPS - 1)) / (STEPS - 1);
  return d3.interpolateViridis(dark.matches ? 0.12 + 0.88 * step : 0.92 * (1 - step));
}

// A function from values to shares between 0, which is `poor`, and 1, which is
// `good`, with the values at its foot, middle and head.
export function sharesOf(poor, good, isLog = false) {
  const share = (isLog ? d3.scaleLog : d3.scaleLinear)().domain([poor, good]).clamp(true);
  return Object.assign(share, {levels: [0, 0.5, 1].map(part => share.invert(part))});
}

// How good values of a metric are, from 0 to 1, so that a few very poor ones
// leave the rest their colours. `direction`: +1 where larger is better.
export function goodness(values, direction, isLog) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => direction * (a - b));
  return sharesOf(sorted[Math.round(0.05 * (sorted.length - 1))], sorted[sorted.length - 1], isLog);
}

export const movesFreely = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;
