// plot_parallel.js - every trial as a line through all its parameters and
// metrics. Dragging on an axis picks a range, which all other plots and the
// table show.
import {PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {axisOf, drawBar, drawTicks, farOf, fit, scaleOf, typicalOf, widthOf} from "./plot_axes.js";
import {logMenu, metricMenu} from "./plot_controls.js";
import {Ranges, RANGES_HELP} from "./plot_ranges.js";
import {describeTrial, inChunks} from "./marks.js";
import {HAIR, lineText, traceLine} from "./pen.js";
import {goodness, shade} from "./theme.js";
import * as format from "./format.js";

const MARGIN = {top: 46, right: 100, bottom: 36, left: 50};
const BAR_SIDES = 42;   // of the room at the right, beside the texts of the bar
const BAR_GAP = 8;      // of that, between the last axis and the bar
const REACH = 10;       // pixels between the pointer and a line
const LEAST_GAP = 84;   // pixels between two axes
const MOST_LEFT = 160;  // of the first one, for its labels
const TICK_ROOM = 10;   // between a label and its axis
const TICK_PIXELS = 40;
const MANY = 500;       // lines, from which they are thin
const LINES = 64;       // in one path; where paths cross it is darker,
const FEW = 4;          // with as few where the faint ones are to add up
const MOST = 4000;      // lines; more hide each other and take long
const BEST = 400;       // of them that are drawn for sure
const FAINTEST = 0.05;  // of the lines of many trials; where more cross it is
                        // darker, so that one sees where most are
const LEADING = 0.05;   // part of the trials, the best, that stand out of many

// --- the axes ---

// Left of the first axis there is room for its names.
function leftOf([{values}]) {
  const widest = d3.max(values ?? [], value => widthOf(format.visible(value))) ?? 0;
  return Math.min(MOST_LEFT, Math.max(MARGIN.left, widest + TICK_ROOM));
}

// Right of the last one for the bar of colours with its texts.
function rightOf(texts) {
  return Math.max(MARGIN.right, d3.max(texts, widthOf) + BAR_SIDES);
}

// [{dimension, x, scale, axis, lacks}] from left to right; trials without a
// value pass below the axis, with one that is far off through its end.
function layOut(area, dimensions, right, trials, isLog) {
  const [top, bottom] = [MARGIN.top, area.height - MARGIN.bottom];
  const left = leftOf(dimensions), width = area.width - left - right;
  return dimensions.map((dimension, i) => {
    const axis = axisOf(dimension, typicalOf(dimension, trials, isLog(dimension)), isLog(dimension));
    const scale = scaleOf(axis, [bottom, top]);
    return {dimension, axis, scale: scale.clamp?.(true) ?? scale, lacking: bottom + 18,
      lacks: trials.some(trial => dimension.place(trial) === null),
      x: left + (dimensions.length > 1 ? width * i / (dimensions.length - 1) : width / 2)};
  });
}

function linePoints(trial, axes) {
  return axes.map(({dimension, scale, x, lacking}) => {
    const value = dimension.place(trial);
    return [x, value === null ? lacking : scale(value)];
  });
}

function drawAxes(area, axes) {
  const gap = axes.length > 1 ? axes[1].x - axes[0].x : area.width;
  const groups = area.svg.select("g.axes").selectAll("g.parallel").data(axes, ({dimension}) => dimension.key)
    .join(enter => enter.append("g").attr("class", "parallel"))
    .attr("transform", ({x}) => `translate(${x},0)`);
  groups.each(function draw({dimension, axis, scale, lacks, lacking, x}, i) {
    const group = d3.select(this), [bottom, top] = scale.range();
    const ticks = group.selectAll("g.ticks").data([0]).join("g").attr("class", "ticks");
    drawTicks(ticks, d3.axisLeft, axis, scale, {pixels: TICK_PIXELS, room: (i === 0 ? x : gap / 2) - TICK_ROOM,
      shape: made => made.tickSizeInner(4).tickPadding(4)});
    group.selectAll("line.stem").data([0]).join("line").attr("class", "stem").attr("y1", top).attr("y2", bottom);
    const label = group.selectAll("text.label").data([0]).join("text").attr("class", "label")
      .attr("y", top - 12).attr("text-anchor", "middle").text(fit(dimension.name, Math.min(gap, 2 * x, 2 * (area.width - x)) - 8, "600"));
    label.append("title").text(format.visible(dimension.name));
    group.selectAll("text.none").data(lacks ? [0] : []).join("text").attr("class", "none")
      .attr("text-anchor", "middle").attr("y", lacking + 14).text("none");
  });
}

// --- the lines ---

// Of the items, the best first, as many as are drawn: an even part of those that
// are not among the best.
function thin(items) {
  const step = (items.length - BEST) / (MOST - BEST);
  return items.length <= MOST ? items
    : [...items.slice(0, BEST), ...d3.range(MOST - BEST).map(i => items[BEST + Math.floor(i * step)])];
}

// One path for all lines of a shade, the good ones last.
function drawLines(area, marks, selection) {
  const trace = lines => to => lines.forEach(({points}) => traceLine(to, points));
  const [picked, left] = [true, false].map(is => thin(marks.filter(({trial}) => selection.accepts(trial) === is)));
  inChunks(left, LINES, some => area.pen.path(trace(some), {stroke: area.theme.idle, alpha: 0.12, width: HAIR}));
  const leading = picked.length > MANY ? Math.ceil(LEADING * picked.length) : picked.length;
  const faint = {alpha: Math.max(FAINTEST, 0.35 * MANY / picked.length), width: HAIR};
  const byShade = lines => [...d3.group(lines, ({colour}) => colour)].reverse();
  for (const [stroke, lines] of byShade(picked.slice(leading)))
    inChunks(lines, FEW, some => area.pen.path(trace(some), {stroke, ...faint}));
  for (const [stroke, lines] of byShade(picked.slice(0, leading)))
    inChunks(lines, LINES, some => area.pen.path(trace(some), {stroke, alpha: 0.8, width: picked.length > MANY ? HAIR : 1.2}));
  drawBest(area, marks[0], selection);
}

// The best of all, unless it is not picked.
function drawBest(area, best, selection) {
  if (!selection.accepts(best.trial)) return;
  area.pen.path(to => traceLine(to, best.points), {stroke: area.theme.card, width: 5, alpha: 0.8});
  area.pen.path(to => traceLine(to, best.points), {stroke: area.theme.best, width: 2.5});
}

// The line whose height at x is nearest to y.
function findLine(x, y, marks) {
  let found = null, least = REACH;
  for (const mark of marks) {
    const {points} = mark;
    const i = points.findIndex(([right]) => right >= x);
    if (i < 0) continue;
    const [b, a] = [points[i], points[Math.max(0, i - 1)]];
    const part = b[0] === a[0] ? 1 : (x - a[0]) / (b[0] - a[0]);
    const distance = Math.abs(a[1] + part * (b[1] - a[1]) - y);
    if (distance >= least) continue;
    least = distance;
    found = {...mark, x, y};
  }
  return found;
}

function ringLines(group, marks, colour) {
  group.selectAll("path").data(marks).join("path").attr("class", "ring").attr("stroke", colour)
    .attr("d", ({points}) => lineText(points));
}

export function parallelPlot(store, selection) {
  const metricChoice = metricMenu(selection), logs = logMenu(selection);
  const ranges = new Ranges(selection);

  function prepare() {
    const {parameters, metrics} = dimensionsOf(store);
    const metric = metricChoice.pick(metrics);
    const trials = metric ? store.results.filter(trial => metric.place(trial) !== null) : [];
    if (trials.length === 0) return {missing: "No trial has a result yet."};
    const dimensions = [...parameters, ...metrics];
    logs.offer(dimensions, dimension => trials.map(trial => dimension.place(trial)).filter(value => value !== null));
    const far = new Set(metrics.flatMap(one => farOf(one, trials, logs.isOn(one))));
    return {dimensions, metric, trials, far: far.size};
  }

  function paint(area, {dimensions, metric, trials}) {
    const share = goodness(trials.map(trial => metric.of(trial)), metric.sign, logs.isOn(metric));
    const texts = share.levels.map(format.number), right = rightOf(texts);
    const axes = layOut(area, dimensions, right, trials, logs.isOn);
    const marks = trials.map(trial => {
      const good = share(metric.of(trial)), points = linePoints(trial, axes);
      return {trial, points, colour: shade(good), x: points[0][0], y: points[0][1], order: -good};
    }).sort((a, b) => a.order - b.order);
    drawLines(area, marks, selection);
    drawAxes(area, axes);
    ranges.draw(area.svg.select("g.brushes"), axes);
    drawBar(area, {left: 0, width: area.width - right + BAR_GAP, top: MARGIN.top,
      height: area.height - MARGIN.top - MARGIN.bottom}, shade, texts);
    return marks;
  }

  const card = new PlotCard(store, selection, {
    title: "Parallel coordinates", name: "parallel", height: 380, follows: true, wide: true, front: true,
    help: RANGES_HELP,
    leastWidth: ({dimensions}) => leftOf(dimensions) + MARGIN.right + LEAST_GAP * (dimensions.length - 1),
    controls: [metricChoice.element, logs.element], prepare, paint, find: findLine, ring: ringLines,
    summary: ({trials, far}) => {
      const picked = trials.filter(trial => selection.accepts(trial)).length;
      return "Drag on an axis to pick a range." +
        (far > 0 ? ` ${format.plural(far, "trial")} far off, drawn at the end of an axis.` : "") +
        (picked > MOST ? ` ${MOST} of ${picked} trials are drawn, the best among them.` : "");
    },
    table: ({dimensions, trials}) => ({heads: ["Trial", ...dimensions.map(dimension => dimension.name)],
      rows: trials.filter(trial => selection.accepts(trial))
        .map(trial => [trial.id, ...dimensions.map(dimension => dimension.of(trial) ?? "")])}),
    describe: ({trial}) => describeTrial(store, trial),
  });
  return card;
}
