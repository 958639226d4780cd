// page_study_ranges.js - the ranges that are picked, in words, so that no tab
// shows a part of the trials without saying so.
import {element, renew} from "./dom.js";
import * as format from "./format.js";

function rangeWords(low, high) {
  if (low === -Infinity) return high === Infinity ? "any value" : `at most ${format.number(high)}`;
  return high === Infinity ? `at least ${format.number(low)}` : `${format.number(low)} to ${format.number(high)}`;
}

function chip(selection, {dimension, low, high, values}) {
  const text = values ? [...values].join(", ") : rangeWords(low, high);
  return element("span.chip", {}, element("bdi", {}, dimension.name), " ", element("bdi", {}, text),
    element("button.plain", {ariaLabel: `Any ${dimension.name}`,
      onclick: () => selection.setRange(dimension, null)}, "×"));
}

// Fills `root`. Returns the function that ends it.
export function rangesBar(root, store, selection) {
  function draw() {
    const ranges = [...selection.ranges.values()];
    if (ranges.length === 0) return renew(root);
    const n = store.trials.filter(trial => selection.accepts(trial)).length;
    renew(root, element("p.row.ranges", {role: "status"},
      element("span", {}, `${format.plural(n, "trial")} of ${store.trials.length} picked:`),
      ranges.map(range => chip(selection, range)),
      element("button", {onclick: () => selection.clearRanges()}, "All trials")));
  }
  draw();
  const ends = [selection.watch(what => what === "ranges" && draw()), store.watch(draw)];
  return () => ends.forEach(end => end());
}
