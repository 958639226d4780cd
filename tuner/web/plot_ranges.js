// plot_ranges.js - picking ranges on the axes of the parallel coordinates: by
// dragging, also with a finger, or by keys, for which each end of a range is a
// slider.
import * as format from "./format.js";

const WIDTH = 24;  // pixels of an axis that can be dragged on
const STOPS = 50;  // of a slider along numbers
const KEYS = {ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity};
const NEIGHBOURS = {ArrowLeft: -1, ArrowRight: 1};

export const RANGES_HELP = [
  ["Drag on an axis", "picks a range; a click there lets it go"],
  ["Tab, then ← and →", "to an end of a range"],
  ["↑ and ↓ there", "move it; Delete lets the range go"]];

// --- by dragging ---

// What a brush from pixel `top` to `bottom` picks; null between two categories. It is
// open at an end of the axis that it reaches: what is far off is drawn there.
function rangeOf({axis, scale}, [top, bottom]) {
  const [foot, head] = scale.range();
  if (!axis.categories)
    return {low: bottom >= foot ? -Infinity : scale.invert(bottom), high: top <= head ? Infinity : scale.invert(top)};
  const inside = axis.categories.filter(name => scale(name) >= top && scale(name) <= bottom);
  return inside.length > 0 ? {values: new Set(inside)} : null;
}

// Both ends of a range of numbers, on the axis.
const onAxis = ({axis}, {low, high}) => [low, high].map(end => Math.min(axis.high, Math.max(axis.low, end)));

// Where the range of the selection is on an axis.
function pixelsOf(one, range) {
  const {axis, scale} = one;
  if (!axis.categories) return onAxis(one, range).map(end => scale(end)).reverse();
  const places = [...range.values].map(name => scale(name));
  return [Math.min(...places) - WIDTH / 2, Math.max(...places) + WIDTH / 2];
}

// --- by keys ---

// The places that an end of a range can be moved to, from the foot of the axis;
// categories by their number.
function stopsOf({axis, scale}) {
  if (axis.categories) return d3.range(axis.categories.length);
  if (axis.steps) return axis.steps.slice().sort((a, b) => a - b);
  const [low, high] = [Math.ceil(axis.low), Math.floor(axis.high)], [foot, head] = scale.range();
  if (axis.integer && high - low <= STOPS) return d3.range(low, high + 1);
  return d3.range(STOPS + 1).map(i => scale.invert(foot + (head - foot) * i / STOPS));
}

// Both ends of the range as such places.
function endsOf({axis}, range, stops) {
  if (!range) return [stops[0], stops[stops.length - 1]];
  if (!axis.categories)
    return [range.low === -Infinity ? stops[0] : range.low, range.high === Infinity ? stops[stops.length - 1] : range.high];
  return d3.extent([...range.values].map(name => axis.categories.indexOf(name)));
}

// The place so many stops further.
function stopAfter(place, by, stops) {
  const at = by > 0 ? d3.bisectRight(stops, place) + by - 1 : d3.bisectLeft(stops, place) + by;
  return stops[Math.min(stops.length - 1, Math.max(0, at))];
}

// What the selection has between two places; null where that is all, open at the end
// of all places as by dragging.
function rangeBetween({axis}, [low, high], stops) {
  const isLeast = low <= stops[0], isMost = high >= stops[stops.length - 1];
  if (isLeast && isMost) return null;
  return axis.categories ? {values: new Set(axis.categories.slice(low, high + 1))}
    : {low: isLeast ? -Infinity : low, high: isMost ? Infinity : high};
}

// --- both ---

export class Ranges {
  constructor(selection) {
    this.selection = selection;
    this.dragged = null; // key of the dimension whose brush is held
    this.reached = null; // key of the slider that Tab leads to
  }

  // axes: [{dimension, axis, scale, x}] from left to right.
  draw(layer, axes) {
    this.drawBrushes(layer, axes);
    this.drawSliders(layer, axes);
  }

  // One brush an axis; the one that is being dragged is left alone.
  drawBrushes(layer, axes) {
    const groups = layer.selectAll("g.brush-y").data(axes, ({dimension}) => dimension.key)
      .join(enter => enter.append("g").attr("class", "brush-y"))
      .attr("transform", ({x}) => `translate(${x},0)`);
    groups.nodes().forEach((node, i) => this.drawBrush(d3.select(node), axes[i]));
  }

  drawBrush(group, one) {
    const {dimension, scale} = one, [bottom, top] = scale.range(), {selection} = this;
    if (this.dragged === dimension.key) return;
    const brush = d3.brushY().extent([[-WIDTH / 2, top - 4], [WIDTH / 2, bottom + 4]]).touchable(true);
    brush.on("start brush end", () => {
      const {type, selection: pixels, sourceEvent} = d3.event;
      if (!sourceEvent) return;
      this.dragged = type === "end" ? null : dimension.key;
      if (type !== "start") selection.setRange(dimension, pixels ? rangeOf(one, pixels) : null);
    });
    const range = selection.ranges.get(dimension.key);
    group.call(brush).call(brush.move, range ? pixelsOf(one, range) : null);
  }

  slidersOf(one) {
    const {dimension, axis, scale, x} = one, stops = stopsOf(one);
    const range = this.selection.ranges.get(dimension.key), ends = endsOf(one, range, stops);
    const wordOf = place => axis.categories ? axis.categories[place] : format.number(place);
    return ends.map((place, i) => ({one, stops, i, x, key: `${dimension.key} ${i}`,
      y: scale(axis.categories ? axis.categories[place] : place),
      name: `${dimension.name}, ${i === 0 ? "from" : "to"}`, place, text: range ? wordOf(place) : `${wordOf(place)}, any`}));
  }

  drawSliders(layer, axes) {
    const sliders = axes.flatMap(one => this.slidersOf(one));
    if (!sliders.some(({key}) => key === this.reached)) this.reached = sliders[0].key;
    const marks = layer.selectAll("path.slider").data(sliders, ({key}) => key)
      .join(enter => enter.append("path").attr("class", "slider").attr("role", "slider").attr("aria-orientation", "vertical"))
      .attr("transform", ({x, y}) => `translate(${x},${y})`)
      .attr("d", ({i}) => `M-14,0H14L0,${i === 0 ? 9 : -9}Z`)
      .attr("tabindex", ({key}) => key === this.reached ? 0 : -1)
      .attr("aria-label", ({name}) => name).attr("aria-valuetext", ({text}) => text)
      .attr("aria-valuemin", ({stops}) => stops[0]).attr("aria-valuemax", ({stops}) => stops[stops.length - 1])
      .attr("aria-valuenow", ({place}) => place);
    marks.on("keydown", (slider, at) => this.pressed(slider, at, marks))
      .on("focus", ({key}) => this.reach(key, marks));
  }

  reach(reached, marks) {
    this.reached = reached;
    marks.attr("tabindex", ({key}) => key === reached ? 0 : -1);
  }

  pressed(slider, at, marks) {
    const {key, ctrlKey, metaKey, altKey} = d3.event;
    if (ctrlKey || metaKey || altKey) return;
    if (NEIGHBOURS[key]) marks.nodes()[at + NEIGHBOURS[key]]?.focus();
    else if (KEYS[key]) this.move(slider, KEYS[key]);
    else if (key === "Delete" || key === "Backspace") this.selection.setRange(slider.one.dimension, null);
    else return;
    d3.event.preventDefault();
  }

  // No end passes the other one. What is drawn may be behind the selection.
  move({one, stops, i}, by) {
    const ends = endsOf(one, this.selection.ranges.get(one.dimension.key), stops);
    const other = ends[1 - i], place = stopAfter(ends[i], by, stops);
    const moved = i === 0 ? [Math.min(place, other), other] : [other, Math.max(place, other)];
    this.selection.setRange(one.dimension, rangeBetween(one, moved, stops));
  }
}
