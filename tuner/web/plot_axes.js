// plot_axes.js - the two axes of a plot: their scales, ticks, grid and labels.
//
// An axis is {label, low, high, log, time, integer, steps, categories}: numbers
// from low to high (steps: the only ones there), times in ms, or categories.
import * as format from "./format.js";

const FONT = "11.5px system-ui, sans-serif"; // as plot.css has it
const MARGIN = {top: 26, right: 18, bottom: 42, left: 62};
const LABEL_SIDES = 28;     // left of the numbers of an axis and right of them
const NARROW_LEFT = 6;      // of a legend that needs the room
const CATEGORY_LEFT = 124;
const CATEGORY_SIDES = 30;  // of that, for the label of the axis and the tick
const BAR = 92;             // room for a bar of colours
const TICK_PIXELS = {x: 80, y: 45};
const PADDING = {"x-axis": 11, "y-axis": 8}; // pixels to the ticks; more below, where the first name may reach below a number
const STEP_PIXELS = 24;     // between the only values of a parameter
const LINE_PIXELS = 16;     // between the names of categories below each other,
const NAME_PIXELS = 64;     // beside each other: what one needs at most,
const NAME_GAP = 8;         // and what lies between two
const WIDE_RANGE = 3;       // decades from which a log axis has ticks at powers only
const SLACK = 0.04;         // of the range, beyond the outermost values

const ruler = document.createElement("canvas").getContext("2d");

// The text as a label, without its middle where it is wider than `pixels`: names
// often begin alike. `weight`: "600" for bold.
export function fit(name, pixels, weight = "400") {
  const text = format.visible(name);
  ruler.font = `${weight} ${FONT}`;
  if (ruler.measureText(text).width <= pixels) return text;
  const letters = [...text];
  const keep = n => [...letters.slice(0, Math.ceil(n / 2)), "…",
    ...letters.slice(letters.length - Math.floor(n / 2))].join("");
  const n = d3.bisector(n => ruler.measureText(keep(n)).width).right(d3.range(1, letters.length), pixels);
  return keep(Math.max(1, n));
}

export function widthOf(text) {
  ruler.font = `400 ${FONT}`;
  return ruler.measureText(text).width;
}

// The names as labels; where cutting would leave several alike, without what all
// of them begin with.
function fitAll(names, pixels) {
  const labels = names.map(name => fit(name, pixels));
  if (new Set(labels).size === names.length) return labels;
  const letters = names.map(name => [...name]), [first] = letters;
  const differ = first.findIndex((letter, i) => letters.some(name => name[i] !== letter));
  return differ < 1 ? labels : letters.map(name => fit(`…${name.slice(differ).join("")}`, pixels));
}

// The ends of an axis that has room for the numbers; null without any.
export function span(values, log = false) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return null;
  if (log) {
    const wider = low === high ? 2 : (high / low) ** SLACK;
    return {low: low / wider, high: high * wider};
  }
  const slack = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * SLACK;
  return {low: low - slack, high: high + slack};
}

const FEWEST = 8;        // values, from which some can be outliers
const TYPICAL = 0.2;     // of the values are worse than what is typical of them
const OUTLYING = 3;      // times the distance from there to the best

// The values but those so poor that beside them all others would look alike;
// all of them where there are none. `sign`: +1 where larger is better.
export function withoutOutliers(values, sign, log = false) {
  const place = log ? Math.log : Number;
  const sorted = values.filter(value => Number.isFinite(value) && (!log || value > 0)).sort((a, b) => sign * (a - b));
  if (sorted.length < FEWEST) return values;
  const typical = place(sorted[Math.ceil(TYPICAL * sorted.length)]);
  const best = place(sorted[sorted.length - 1]), limit = typical - OUTLYING * (best - typical);
  return best === typical ? values : values.filter(value => sign * (place(value) - limit) >= 0);
}

// What an axis of a parameter or metric has to show of these trials, and the trials
// that lie beyond it.
export function typicalOf(dimension, trials, isLog) {
  const values = trials.map(trial => dimension.place(trial));
  return dimension.kind === "metric" ? withoutOutliers(values, dimension.sign, isLog) : values;
}

export function farOf(dimension, trials, isLog) {
  const typical = new Set(typicalOf(dimension, trials, isLog));
  return trials.filter(trial => dimension.place(trial) !== null && !typical.has(dimension.place(trial)));
}

// A parameter or metric as an axis; `values`: what has to be on it.
export function axisOf(dimension, values = [], log = dimension.log) {
  if (dimension.isCategory) return {label: dimension.name, categories: dimension.values};
  const declared = dimension.range !== null && !(log && dimension.range[0] <= 0);
  const ends = span(declared ? dimension.range : values, log) ?? {low: 0, high: 1};
  return {label: dimension.name, ...ends, log, integer: dimension.integer, steps: dimension.steps};
}

export function scaleOf(axis, pixels) {
  if (axis.categories) return d3.scalePoint(axis.categories, pixels).padding(0.5);
  const make = axis.time ? d3.scaleTime : axis.log ? d3.scaleLog : d3.scaleLinear;
  return make().domain([axis.low, axis.high]).range(pixels);
}

// The values that leave each other room for their labels.
function spread(values, scale, pixels) {
  let before = -Infinity;
  return values.filter(value => {
    if (Math.abs(scale(value) - before) < pixels) return false;
    before = scale(value);
    return true;
  });
}

// Of the categories the first, the last and as many between them as leave each
// other that many pixels. Returns {names, gap: pixels from one to the next}.
function thinOut(categories, scale, pixels) {
  const last = categories.length - 1, step = Math.ceil(pixels / scale.step());
  const parts = Math.max(1, Math.floor(last / step));
  const places = d3.range(Math.min(last, parts) + 1).map(i => Math.round(i * last / parts));
  return {names: places.map(i => categories[i]), gap: Math.max(1, Math.floor(last / parts)) * scale.step()};
}

// Names below each other have `room` pixels each; those beside each other, where
// it is undefined, what lies between them, and the last one `beyond` after the
// end of the axis.
function categoryTicks({categories}, scale, room, beyond) {
  const widest = d3.max(categories, name => widthOf(format.visible(name)));
  const {names, gap} = thinOut(categories, scale,
    room === undefined ? Math.min(NAME_PIXELS, widest) + NAME_GAP : LINE_PIXELS);
  const labels = fitAll(names, room ?? Math.min(gap - NAME_GAP, scale.step() + 2 * beyond));
  return {values: names, text: (_, i) => labels[i]};
}

function ticksOf(axis, scale, room) {
  if (axis.steps) return spread(axis.steps, scale, STEP_PIXELS);
  const n = Math.max(2, Math.floor(room));
  if (axis.log) {
    const decades = Math.log10(axis.high / axis.low);
    if (decades < WIDE_RANGE) return d3.ticks(axis.low, axis.high, n).filter(value => value > 0);
    const powers = d3.range(Math.ceil(Math.log10(axis.low)), Math.floor(Math.log10(axis.high)) + 1);
    const step = Math.ceil(powers.length / n);
    return powers.filter((_, i) => i % step === 0).map(power => Number(`1e${power}`));
  }
  const ticks = scale.ticks(n);
  return axis.integer ? ticks.filter(Number.isInteger) : ticks;
}

const SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS;

// A moment of an axis in full down to what makes its ticks differ, but for its
// date, which is where a day begins.
function timeText([first, second]) {
  const step = second - first;
  const clock = d3.timeFormat(step >= MINUTE_MS ? "%H:%M" : step < SECOND_MS ? "%H:%M:%S.%L" : "%H:%M:%S");
  const day = d3.timeFormat("%Y-%m-%d");
  return time => Number(d3.timeDay(time)) === Number(time) ? day(time) : clock(time);
}

function numberTicks(axis, scale, pixels) {
  const [from, to] = scale.range();
  const values = ticksOf(axis, scale, Math.abs(to - from) / pixels);
  return {values, text: axis.time ? timeText(values) : format.number};
}

// Draws an axis with ticks that fit into its length, with `pixels` for each, and
// names of categories that fit into `room`, or between each other and `beyond`.
// `shape(axis)` sets the rest of the d3 axis.
export function drawTicks(group, make, axis, scale, {pixels, room, beyond, shape}) {
  const {values, text} = axis.categories ? categoryTicks(axis, scale, room, beyond) : numberTicks(axis, scale, pixels);
  group.call(shape(make(scale).tickValues(values).tickFormat(text).tickSizeOuter(0)));
  if (axis.categories) group.selectAll(".tick text").append("title").text(name => format.visible(name));
}

function drawAxis(layer, name, axis, scale, {make, offset, grid, ...sizes}) {
  const group = layer.selectAll(`g.${name}`).data([0]).join("g").attr("class", name).attr("transform", offset);
  drawTicks(group, make, axis, scale, {...sizes, shape: made => made.tickSizeInner(grid).tickPadding(PADDING[name])});
}

function drawLabel(layer, name, text, room, attributes) {
  const label = layer.selectAll(`text.${name}`).data([text]).join("text").attr("class", `label ${name}`)
    .text(fit(text, room));
  for (const [key, value] of Object.entries(attributes)) label.attr(key, value);
  label.append("title").text(format.visible(text));
}

const zoomed = (axis, part) => part ? {...axis, low: part[0], high: part[1]} : axis;

// Of the room at the left what the names or numbers of the axis need.
function leftOf(axis, scale) {
  if (axis.categories) return CATEGORY_LEFT;
  const {values, text} = numberTicks(axis, scale, TICK_PIXELS.y);
  return Math.max(MARGIN.left, LABEL_SIDES + (d3.max(values, value => widthOf(text(value))) ?? 0));
}

// Draws both axes of an area, or the part of them that is seen. Returns {x, y: d3
// scales, inner: their box, axes: both as they were given}.
export function drawAxes(area, xAxis, yAxis, {bar = false} = {}) {
  const seen = {x: zoomed(xAxis, area.view?.x), y: zoomed(yAxis, area.view?.y)};
  const {top} = MARGIN, bottom = area.height - MARGIN.bottom, beyond = bar ? BAR : MARGIN.right;
  const y = scaleOf(seen.y, [bottom, top]), left = leftOf(seen.y, y), right = area.width - beyond;
  const inner = {left, top, width: right - left, height: bottom - top};
  const x = scaleOf(seen.x, [left, right]);
  const layer = area.svg.select("g.axes");
  drawAxis(layer, "x-axis", seen.x, x, {make: d3.axisBottom, offset: `translate(0,${bottom})`,
    grid: -inner.height, pixels: TICK_PIXELS.x, beyond});
  drawAxis(layer, "y-axis", seen.y, y, {make: d3.axisLeft, offset: `translate(${inner.left},0)`,
    grid: -inner.width, pixels: TICK_PIXELS.y, room: CATEGORY_LEFT - CATEGORY_SIDES});
  drawLabel(layer, "x-label", seen.x.label, inner.width,
    {x: inner.left + inner.width / 2, y: area.height - 6, "text-anchor": "middle"});
  drawLabel(layer, "y-label", seen.y.label, inner.height,
    {transform: `translate(14,${inner.top + inner.height / 2}) rotate(-90)`, "text-anchor": "middle"});
  return {x, y, inner, axes: {x: xAxis, y: yAxis}};
}

// Whether a mark is seen in the box.
export const within = ({left, top, width, height}) => ({x, y}) =>
  x >= left && x <= left + width && y >= top && y <= top + height;

// --- legends ---

const KEY = 15, GAP = 16; // pixels of the sign before a label, and after it

// The labels as they have room beside each other, and where the first begins.
function layOutLegend(labels, width) {
  const signs = labels.length * (KEY + GAP), room = width - signs;
  const whole = labels.map(label => format.visible(label)), needed = d3.sum(whole, widthOf);
  if (MARGIN.left + needed <= room) return {at: MARGIN.left, texts: whole};
  return {at: NARROW_LEFT, texts: needed + NARROW_LEFT <= room ? whole
    : labels.map(label => fit(label, (room - NARROW_LEFT) / labels.length))};
}

// entries: [{label, colour, opacity?, shape?, hollow?, dash?}], a line where there
// is no shape.
export function drawLegend(area, entries) {
  const layer = area.svg.select("g.axes").selectAll("g.legend").data([0]).join("g").attr("class", "legend");
  let {at, texts} = layOutLegend(entries.map(({label}) => label), area.width);
  layer.selectAll("*").remove();
  entries.forEach(({label, colour, opacity = 1, shape, hollow, dash = []}, i) => {
    const to = d3.path();
    if (shape) shape(to, at + 4, 10, 4);
    else if (dash.length === 0) to.rect(at - 3, 9, 14, 2);
    else for (const left of [-3, 5]) to.rect(at + left, 9, 6, 2);
    layer.append("path").attr("d", to.toString()).attr("fill", hollow ? "none" : colour)
      .attr("stroke", colour).attr("stroke-width", hollow ? 1.5 : 0).attr("opacity", opacity);
    const text = layer.append("text").attr("x", at + KEY).attr("y", 14).text(texts[i]);
    if (texts[i] !== format.visible(label)) text.append("title").text(format.visible(label));
    at += KEY + widthOf(texts[i]) + GAP;
  });
}

const BAR_STEPS = 24;

// A bar of colours at the right: `colour(share)` from 0 at its foot to 1 at its
// head, with texts that are spread evenly from there to there.
export function drawBar(area, inner, colour, texts) {
  const layer = area.svg.select("g.axes").selectAll("g.bar").data([0]).join("g").attr("class", "bar");
  const left = inner.left + inner.width + 16, step = inner.height / BAR_STEPS;
  layer.selectAll("rect").data(d3.range(BAR_STEPS)).join("rect").attr("x", left).attr("width", 10)
    .attr("y", i => inner.top + inner.height - (i + 1) * step).attr("height", step + 0.5)
    .attr("fill", i => colour(i / (BAR_STEPS - 1)));
  const room = inner.height - 8, apart = room / (texts.length - 1);
  layer.selectAll("text").data(texts).join("text").attr("x", left + 14)
    .attr("y", (_, i) => inner.top + inner.height - i * apart).text(text => text);
}
