// plot_why.js - a point in its space: what was expected of it beside what was known
// and what came, and where it lies along each parameter, over what the model
// expects there or among the trials before it.
import {ASKING, PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {axisOf, drawLegend, drawTicks, fit, scaleOf, span, widthOf} from "./plot_axes.js";
import {metricMenu} from "./plot_controls.js";
import {shapes} from "./marks.js";
import {StudyStore} from "./store.js";
import {drawBand, expectedOf, lackOfModel, slicePath} from "./plot_slice.js";
import {byImportance, importanceQuestion} from "./importance.js";
import {Question} from "./question.js";
import * as format from "./format.js";

const MOST = 12;          // parameters; those that matter most
const LEGEND = 26, HEAD = 20, TICKS = 24, RUG = 6, GAP = 22; // pixels
const EXPECTED = 34;      // of height: what was expected
const TALL = 84, LOW = 16; // of a parameter, with a model and without one
const LEAST_STRIP = 190, SIDE = 16, LABEL_SIDES = 16;
const PAUSE_MS = 30000;   // of a study that runs; there is a question for each parameter

// The best value that had come when the trial was made; undefined without one.
function bestBefore(store, metric, madeMs) {
  const values = store.results.filter(trial => trial.endMs > 0 && trial.endMs <= madeMs && store.isSafe(trial))
    .map(trial => metric.place(trial)).filter(value => value !== null);
  return metric.sign < 0 ? d3.min(values) : d3.max(values);
}

// The axis of a parameter, with the point where the space is another one by now.
function axisWith(parameter, value) {
  const axis = axisOf(parameter, [value]);
  if (axis.categories) return axis.categories.includes(value) ? axis : {...axis, categories: [...axis.categories, value]};
  return {...axis, low: Math.min(axis.low, value), high: Math.max(axis.high, value)};
}

const line = (x, top, bottom) => to => {
  to.moveTo(x, top);
  to.lineTo(x, bottom);
};

function drawHead(layer, key, text, {x, y, width}) {
  const head = layer.selectAll(`text.head-${key}`).data([0]).join("text").attr("class", `label head-${key}`)
    .attr("x", x).attr("y", y).text(fit(text, width));
  head.append("title").text(format.visible(text));
}

function drawScale(layer, key, axis, scale, {x = 0, y = 0, make = d3.axisBottom, pixels = 70, beyond = GAP / 2}) {
  const group = layer.selectAll(`g.scale-${key}`).data([0]).join("g").attr("class", `scale-${key}`)
    .attr("transform", `translate(${x},${y})`);
  drawTicks(group, make, axis, scale, {pixels, beyond, shape: made => made.tickSizeInner(4).tickPadding(4)});
}

// --- what was expected then ---

function drawExpected(area, {metric, expected, best, value}) {
  const {pen, theme} = area, layer = area.svg.select("g.axes"), left = SIDE, top = LEGEND + HEAD;
  const axis = {label: metric.name, ...span([expected.low, expected.median, expected.high, best, value].filter(one => one !== null))};
  const x = scaleOf(axis, [left, area.width - SIDE]), bottom = top + EXPECTED, middle = top + EXPECTED / 2;
  drawHead(layer, "then", `${metric.name}, as it was expected then`, {x: left, y: top - 6, width: area.width - 2 * SIDE});
  drawScale(layer, "then", axis, x, {y: bottom});
  pen.path(to => to.rect(x(expected.low), top + 4, x(expected.high) - x(expected.low), EXPECTED - 8), {fill: theme.accent, alpha: 0.22});
  pen.path(line(x(expected.median), top + 4, bottom - 4), {stroke: theme.accent, width: 2});
  if (best !== undefined) pen.path(line(x(best), top, bottom), {stroke: theme.best, width: 2, dash: [4, 3]});
  if (value !== null) pen.path(to => shapes.circle(to, x(value), middle, 5), {fill: theme.good, stroke: theme.card, width: 1.5});
  return [{label: "expected then", expected, x: x(expected.median), y: middle},
    ...best === undefined ? [] : [{label: "best then", value: best, x: x(best), y: middle}],
    ...value === null ? [] : [{label: metric.name, value, x: x(value), y: middle}]];
}

// --- along each parameter ---

// Where each strip has its place: {x, y, width}, from the upper edge `top`.
function placesOf(n, width, left, top, height) {
  const columns = Math.max(1, Math.min(n, Math.floor((width - left) / LEAST_STRIP))), each = (width - left - SIDE + GAP) / columns;
  return d3.range(n).map(i => ({x: left + (i % columns) * each, y: top + Math.floor(i / columns) * (height + HEAD + TICKS),
    width: each - GAP, isFirst: i % columns === 0}));
}

const stripHeight = data => data.hasModel ? TALL : LOW;

// The values of all strips on one axis, so that one sees which parameter matters.
function yAxisOf({metric, strips, value}) {
  return {label: metric.name, ...span([...strips.flatMap(({expected}) => expected.flatMap(({low, high}) => [low, high])), value]
    .filter(one => one !== null)) ?? {low: 0, high: 1}};
}

function drawStrip(area, data, strip, place, yAxis) {
  const {pen, theme} = area, layer = area.svg.select("g.axes"), height = stripHeight(data);
  const top = place.y + HEAD, bottom = top + height, key = strip.at;
  const axis = axisWith(strip.parameter, strip.value), x = scaleOf(axis, [place.x, place.x + place.width]);
  const y = scaleOf(yAxis, [bottom - RUG, top]), at = x(strip.value);
  drawHead(layer, key, strip.parameter.name, {x: place.x, y: place.y + HEAD - 6, width: place.width});
  drawScale(layer, key, axis, x, {y: bottom});
  if (place.isFirst && data.hasModel) drawScale(layer, `y${key}`, yAxis, y, {x: place.x - 4, make: d3.axisLeft, pixels: 30});
  const seen = [...new Set(strip.before.filter(value => !axis.categories || axis.categories.includes(value)).map(value => Math.round(x(value))))];
  const inner = {left: place.x - 1, top, width: place.width + 2, height: height + 1};
  pen.inside(inner, () => {
    if (strip.expected.length > 0) drawBand(area, {x, y}, strip.expected);
    pen.path(to => seen.forEach(pixel => line(pixel, bottom - RUG, bottom)(to)), {stroke: theme.quiet, alpha: 0.7});
    pen.path(line(at, top, bottom), {stroke: theme.good, width: 1.5});
  });
  const height0 = data.hasModel && data.value !== null ? y(data.value) : bottom - RUG - 4;
  pen.path(to => shapes.circle(to, at, height0, 4), {fill: theme.good, stroke: theme.card, width: 1.5});
  return {label: strip.parameter.name, value: strip.value, x: at, y: height0};
}

function drawStrips(area, data, top) {
  const yAxis = yAxisOf(data), layer = area.svg.select("g.axes"), {strips, metric, hasModel} = data;
  const numbers = hasModel ? scaleOf(yAxis, [TALL, 0]).ticks(3).map(format.number) : [];
  const left = hasModel ? LABEL_SIDES + (d3.max(numbers, widthOf) ?? 0) : SIDE;
  if (hasModel) drawHead(layer, "now", `${metric.name} along each parameter, as it is expected now`,
    {x: SIDE, y: top + HEAD - 6, width: area.width - 2 * SIDE});
  const places = placesOf(strips.length, area.width, left, hasModel ? top + HEAD : top, stripHeight(data));
  return strips.map((strip, i) => drawStrip(area, data, strip, places[i], yAxis));
}

// --- the plot ---

const topOfStrips = ({expected}) => LEGEND + (expected ? HEAD + EXPECTED + TICKS + 6 : 0);

function heightOf(width, data) {
  const top = topOfStrips(data) + (data.hasModel ? HEAD : 0), n = data.strips.length;
  const last = placesOf(n, width, 60, top, stripHeight(data))[n - 1];
  return (last ? last.y + HEAD + stripHeight(data) + TICKS : topOfStrips(data)) + 4;
}

function paint(area, data) {
  area.svg.select("g.axes").selectAll("*").remove();
  const {expected, best, value, strips, hasModel} = data, {theme} = area;
  drawLegend(area, [{label: "this trial", colour: theme.good, shape: shapes.circle},
    ...expected ? [{label: "best then", colour: theme.best}] : [],
    ...expected || hasModel ? [{label: "expected", colour: theme.accent}] : [],
    ...strips.some(({before}) => before.length > 0) ? [{label: "earlier trials", colour: theme.quiet}] : []]
    .filter(({label}) => label !== "best then" || best !== undefined));
  return [...expected ? drawExpected(area, {...data, value}) : [], ...drawStrips(area, data, topOfStrips(data))];
}

function tableOf({metric, expected, best, value, strips}) {
  const then = expected ? [[`${metric.name} expected then`, "", expected.low, expected.median, expected.high],
    [`best ${metric.name} by then`, best ?? "", "", "", ""]] : [];
  return {heads: ["What", "Value", "16 %", "Median", "84 %"], rows: [...then, [`${metric.name} of this trial`, value ?? "", "", "", ""],
    ...strips.flatMap(({parameter, value: own, expected: cells}) => [[`${parameter.name} of this trial`, own, "", "", ""],
      ...cells.map(({value: at, low, median, high}) => [`with ${parameter.name}`, at, low, median, high])])]};
}

function describe({label, value, expected}) {
  return expected ? [[label, `${format.number(expected.median)} (${format.number(expected.low)} to ${format.number(expected.high)})`]]
    : [[label, format.number(value)]];
}

// A maker of the plot of a trial, which is given as its resource.
export const whyPlot = ({id, hypertune: {why, createTimeMs}}) => (store, selection) => {
  const metricChoice = metricMenu(selection), hasModel = () => why.predicted?.length > 0 && lackOfModel(store) === null;
  const pick = () => metricChoice.pick(dimensionsOf(store).metrics);
  const slices = new Map(); // parameter -> Question
  const importances = importanceQuestion(store, () => dimensionsOf(store).parameters.length > MOST ? pick() : null,
    () => card.changed(), {pauseMs: PAUSE_MS});
  const questions = [importances];

  function sliceOf({name}) {
    if (!slices.has(name)) {
      slices.set(name, new Question(store, () => hasModel() ? slicePath(store, {x: name, metric: pick().name, trial: Number(id)}) : null,
        () => card.changed(), {pauseMs: PAUSE_MS}));
      questions.push(slices.get(name));
    }
    return slices.get(name).look();
  }

  function prepare() {
    const row = store.trial(id), metric = pick();
    if (!row) return {missing: "The trial has been deleted."};
    const before = store.results.filter(trial => trial.endMs > 0 && trial.endMs <= createTimeMs);
    const all = dimensionsOf(store).parameters.filter(parameter => parameter.place(row) !== null);
    const shown = byImportance(all, importances.look().answer).slice(0, MOST);
    const asked = shown.map(sliceOf);
    if (hasModel() && asked.some(({answer, problem}) => answer === null && problem === null)) return ASKING;
    const strips = shown.map((parameter, at) => ({parameter, at, value: parameter.of(row), expected: expectedOf(asked[at].answer),
      before: before.map(trial => parameter.place(trial)).filter(value => value !== null)}));
    return {metric, strips, hasModel: hasModel(), all: all.length, best: bestBefore(store, metric, createTimeMs),
      expected: why.predicted?.find(one => one.metric === metric.name), value: StudyStore.hasResult(row) ? metric.place(row) : null};
  }

  const card = new PlotCard(store, selection, {
    title: "The point in its space", name: `trial-${id}-point`, controls: [metricChoice.element], questions,
    height: heightOf, prepare, paint, describe, table: tableOf,
    summary: ({strips, all, hasModel: modelled}) => [
      modelled ? "Expected: the median, and 16 to 84 %. Along a parameter the others are as in this trial, and the model is that of now, with all results since."
        : "No model chose this point.",
      all > strips.length ? `The ${strips.length} parameters of ${all} that matter most.` : ""].filter(Boolean).join(" "),
  });
  return card;
};
