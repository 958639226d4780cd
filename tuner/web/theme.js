// theme.js - light or dark, and the colours of plots: those of style.css for
// lines, text and states, viridis for values.
import {element} from "./dom.js";

const NAMES = ["ground", "card", "line", "text", "quiet", "accent", "best", "good", "bad", "warn", "idle", "run"];
const STEPS = 32; // shades of values; few, so that equal ones are drawn at once
const KEY = "hypertune.theme"; // what the reader has chosen: light or dark
const system = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set();
let theme = null;

// --- light or dark ---

const isDark = () => document.documentElement.dataset.theme === "dark";

function chosenTheme() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // nothing may be stored
  }
}

function settle() {
  document.documentElement.dataset.theme = chosenTheme() ?? (system.matches ? "dark" : "light");
  theme = null;
  for (const changed of [...watchers]) changed();
}

// A choice that is the system's own follows the system from then on.
function choose(wanted) {
  try {
    if (wanted === (system.matches ? "dark" : "light")) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, wanted);
  } catch {
    return; // the page stays as the system has it
  }
  settle();
}

system.addEventListener("change", settle);
window.addEventListener("storage", ({key}) => key === KEY && settle());
settle();

// The button that turns the page from light to dark and back.
export function themeSwitch() {
  const button = element("button.plain.turn", {onclick: () => choose(isDark() ? "light" : "dark")});
  const show = () => {
    button.ariaLabel = button.title = isDark() ? "Light colours" : "Dark colours";
    button.textContent = isDark() ? "☀" : "☾";
  };
  watchers.add(show); // there is one button, which is there as long as the page is
  show();
  return button;
}

// --- colours ---

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
  watchers.add(changed);
  return () => watchers.delete(changed);
}

// The colour of a share between 0, which is poor, and 1, which is good: the
// better, the more it stands out from the ground.
export function shade(share) {
  const step = Math.round(Math.min(1, Math.max(0, share)) * (STEPS - 1)) / (STEPS - 1);
  return d3.interpolateViridis(isDark() ? 0.12 + 0.88 * step : 0.92 * (1 - step));
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
