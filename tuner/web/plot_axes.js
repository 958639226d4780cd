// plot_axes.js - the two axes of a plot: their scales, ticks, grid and labels.
//
// An axis is {label, low, high, log, time, integer, steps, categories}: numbers
// from low to high (steps: the only ones there), times in ms, or categories.
import * as format from "./format.js";

const FONT = "11.5px system-ui, sans-serif"; // as plot.css has it
const MARGIN = {top: 26, right: 18, bottom: 42, left: 62};
const CATEGORY_LEFT = 110;
const BAR = 92;             // room for a bar of colours
const TICK_PIXELS = {x: 80, y: 45};
const STEP_PIXELS = 24;     // between the only values of a parameter
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

// Of the values those that leave each other room for their labels.
function spread(values, scale, pixels) {
  let before = -Infinity;
  return values.filter(value => {
    if (Math.abs(scale(value) - before) < pixels) return false;
    before = scale(value);
    return true;
  });
}

function ticksOf(axis, scale, room) {
  if (axis.categories) return axis.categories;
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

// A d3 axis with ticks that fit into its length, and categories that fit into
// `room` pixels each.
export function tickedAxis(make, axis, scale, pixelsPerTick, room = pixelsPerTick) {
  const [from, to] = scale.range();
  const text = axis.categories ? value => fit(value, room) : axis.time ? scale.tickFormat() : format.number;
  return make(scale).tickValues(ticksOf(axis, scale, Math.abs(to - from) / pixelsPerTick))
    .tickFormat(text).tickSizeOuter(0);
}

function drawAxis(layer, name, axis, scale, {make, offset, grid, pixels}) {
  layer.selectAll(`g.${name}`).data([0]).join("g").attr("class", name).attr("transform", offset)
    .call(tickedAxis(make, axis, scale, pixels).tickSizeInner(grid).tickPadding(8));
}

function drawLabel(layer, name, text, room, attributes) {
  const label = layer.selectAll(`text.${name}`).data([text]).join("text").attr("class", `label ${name}`)
    .text(fit(text, room));
  for (const [key, value] of Object.entries(attributes)) label.attr(key, value);
  label.append("title").text(format.visible(text));
}

const zoomed = (axis, part) => part ? {...axis, low: part[0], high: part[1]} : axis;

// Draws both axes of an area, or the part of them that is seen. Returns {x, y: d3
// scales, inner: their box, axes: both as they were given}.
export function drawAxes(area, xAxis, yAxis, {bar = false} = {}) {
  const left = yAxis.categories ? CATEGORY_LEFT : MARGIN.left;
  const inner = {left, top: MARGIN.top, width: area.width - left - (bar ? BAR : MARGIN.right),
    height: area.height - MARGIN.top - MARGIN.bottom};
  const bottom = inner.top + inner.height, right = inner.left + inner.width;
  const seen = {x: zoomed(xAxis, area.view?.x), y: zoomed(yAxis, area.view?.y)};
  const x = scaleOf(seen.x, [inner.left, right]), y = scaleOf(seen.y, [bottom, inner.top]);
  const layer = area.svg.select("g.axes");
  const perCategory = xAxis.categories ? inner.width / xAxis.categories.length : TICK_PIXELS.x;
  drawAxis(layer, "x-axis", seen.x, x, {make: d3.axisBottom, offset: `translate(0,${bottom})`,
    grid: -inner.height, pixels: perCategory});
  drawAxis(layer, "y-axis", seen.y, y, {make: d3.axisLeft, offset: `translate(${inner.left},0)`,
    grid: -inner.width, pixels: yAxis.categories ? CATEGORY_LEFT - 20 : TICK_PIXELS.y});
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

// entries: [{label, colour, shape?, hollow?}], a line where there is no shape.
export function drawLegend(area, entries) {
  const layer = area.svg.select("g.axes").selectAll("g.legend").data([0]).join("g").attr("class", "legend");
  let at = MARGIN.left;
  layer.selectAll("*").remove();
  for (const {label, colour, shape, hollow} of entries) {
    const to = d3.path();
    if (shape) shape(to, at + 4, 10, 4);
    else to.rect(at - 3, 9, 14, 2);
    layer.append("path").attr("d", to.toString()).attr("fill", hollow ? "none" : colour)
      .attr("stroke", colour).attr("stroke-width", hollow ? 1.5 : 0);
    const text = layer.append("text").attr("x", at + 15).attr("y", 14).text(format.visible(label));
    at += 15 + (text.node().getComputedTextLength() || label.length * 6.5) + 16;
  }
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
