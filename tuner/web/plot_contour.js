// plot_contour.js - a pair of parameters: what the model expects over both, or
// how unsure it is, with the trials and the points that come next.
import {studyPath} from "./api.js";
import {ASKING, PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {axisOf, drawAxes, drawBar, drawLegend, within} from "./plot_axes.js";
import {lackOfModel, scaleAsked, slicePath} from "./plot_slice.js";
import {choice, logSwitch, metricMenu, toggle} from "./plot_controls.js";
import {zoomable} from "./plot_zoom.js";
import {byImportance, importanceQuestion} from "./importance.js";
import {Question} from "./question.js";
import {describeTrial, dotFor, drawBest, drawMarks, KINDS, radiusFor, shapes} from "./marks.js";
import {shade, sharesOf} from "./theme.js";
import {StudyStore} from "./store.js";
import * as format from "./format.js";

const POINTS = 36, LEVELS = 12, NEXT = 5, CROWD = 1000;
const PREVIEW_PAUSE_MS = 30000; // it is searched for as if it were run

// --- the model's cells ---

// One number of each cell, rows of y from its first value: {cells, known, columns,
// rows}; null where a parameter has no place, `known` are the others.
function readCells(answer, deviates) {
  const [x, y] = answer.axes.map(axis => axis.values);
  const cells = y.flatMap((_, j) => x.map((_, i) => {
    if (answer.median[i][j] === null) return null;
    return deviates ? (answer.high[i][j] - answer.low[i][j]) / 2 : answer.median[i][j];
  }));
  return {cells, known: cells.filter(cell => cell !== null), columns: x.length, rows: y.length};
}

// How good each is; a model's median may be below all that a logarithm has a
// place for, and is then as good as the best result.
function sharesOfCells(known, {isLog, minimize, results}) {
  const [least, most] = d3.extent(known);
  const low = isLog ? Math.max(least, d3.min(results)) : least, high = Math.max(low, most);
  return minimize ? sharesOf(high, low, isLog) : sharesOf(low, high, isLog);
}

// Where a place between values lies, in pixels.
function between(values, scale) {
  return at => {
    const last = values.length - 1, i = Math.min(last, Math.max(0, at));
    const low = Math.floor(i), high = Math.min(last, low + 1);
    return scale(values[low]) + (i - low) * (scale(values[high]) - scale(values[low]));
  };
}

// The ends of a cell, halfway to its neighbours; the outermost ones end with the
// values, or with the axis where values stand for themselves.
function edges(values, scale) {
  const middles = values.slice(1).map((value, i) => (scale(values[i]) + scale(value)) / 2);
  const [first, last] = scale.bandwidth || values.length < 2 ? scale.range() : [values[0], values[values.length - 1]].map(scale);
  return [first, ...middles, last];
}

function drawContours(area, frame, {cells, columns, rows}, [xs, ys], share) {
  const toX = between(xs, frame.x), toY = between(ys, frame.y);
  const place = d3.geoTransform({point(i, j) { this.stream.point(toX(i - 0.5), toY(j - 0.5)); }});
  const contours = d3.contours().size([columns, rows]).smooth(true).thresholds(d3.range(LEVELS).map(i => i / LEVELS));
  for (const contour of contours(cells.map(share)))
    area.pen.path(to => d3.geoPath(place, to)(contour), {fill: shade(contour.value + 0.5 / LEVELS)});
}

// Where values stand for themselves, or have no place, every cell is drawn, with
// a pixel below the next ones, so that no ground is seen between them.
function drawCells(area, frame, {cells, columns}, [xs, ys], share) {
  const x = edges(xs, frame.x), y = edges(ys, frame.y);
  cells.forEach((cell, at) => {
    const i = at % columns, j = Math.floor(at / columns);
    if (cell === null) return;
    area.pen.path(to => to.rect(x[i], y[j + 1], x[i + 1] - x[i] + 1, y[j] - y[j + 1] + 1), {fill: shade(share(cell))});
  });
}

// --- the plot ---

function valueAt({params}, {name, isCategory}) {
  return isCategory ? String(params[name]) : params[name];
}

function describeNext({next}) {
  const predicted = (next.why?.predicted ?? []).map(({metric, low, median, high}) =>
    [metric, `${format.number(median)} (${format.number(low)} to ${format.number(high)})`]);
  return [["Next point", format.state(next.why?.kind ?? "drawn")], ...predicted,
    ...Object.entries(next.params).map(([name, value]) => [name, format.number(value)])];
}

export function contourPlot(store, selection) {
  const xChoice = choice(selection, "contour.x", "x", () => card.changed());
  const yChoice = choice(selection, "contour.y", "y", () => card.changed());
  const metricChoice = metricMenu(selection), orders = new Map(); // metric -> parameters by importance
  const importances = importanceQuestion(store, () => metricChoice.pick(dimensionsOf(store).metrics), () => card.changed());
  const deviation = toggle("Deviation", () => {
    selection.choose("contour.deviation", deviation.on ? "on" : null);
    card.changed();
  }, selection.choices.get("contour.deviation") === "on");
  const logX = logSwitch("Log x", selection), logY = logSwitch("Log y", selection);
  const logColours = logSwitch("Log colours", selection);

  // The first answer is kept, so that no axis changes while one looks at it.
  function orderBy(metric) {
    const {answer} = importances.look();
    if (answer?.importances.length > 0 && !orders.has(metric.key)) orders.set(metric.key, answer);
    return orders.get(metric.key) ?? answer;
  }

  // Both parameters, the two that matter most where the reader has chosen none;
  // `waits`: which they are is not known yet.
  function pick() {
    const {parameters, metrics} = dimensionsOf(store), metric = metricChoice.pick(metrics);
    const order = metric ? orderBy(metric) : null, [first, second] = byImportance(parameters, order);
    const chosen = {x: xChoice.isChosen, y: yChoice.isChosen};
    const other = (own, taken) => taken?.key === own?.key ? second : own;
    const y = chosen.y ? yChoice.pick(parameters) : null, x = xChoice.pick(parameters, other(first, y));
    return {x, y: y ?? yChoice.pick(parameters, x === first ? second : first), metric,
      waits: order === null && importances.problem === null && !(chosen.x && chosen.y)};
  }

  const model = new Question(store, () => {
    const {x, y, metric, waits} = pick();
    if (waits || !x || !y || x === y || !metric || lackOfModel(store) !== null) return null;
    return slicePath(store, {points: POINTS, x: x.name, y: y.name, metric: metric.name,
      ...scaleAsked("xScale", x, logX.on), ...scaleAsked("yScale", y, logY.on)});
  }, () => card.changed());
  const preview = new Question(store, () => store.status.endTimeMs ? null : model.path() && `${studyPath(store.key)}/preview?count=${NEXT}`,
    () => card.changed(), {pauseMs: PREVIEW_PAUSE_MS});

  function prepare() {
    const {x, y, metric, waits} = pick();
    if (!y || x === y) return {missing: y ? "Choose two different parameters." : "Needs two parameters."};
    if (lackOfModel(store) !== null) return {missing: lackOfModel(store)};
    if (waits) return ASKING;
    const hasBoth = trial => x.place(trial) !== null && y.place(trial) !== null;
    const trials = store.results.filter(hasBoth), died = store.trials.filter(trial => StudyStore.hasFailed(trial) && hasBoth(trial));
    logX.offer(x, trials.map(trial => x.of(trial)));
    logY.offer(y, trials.map(trial => y.of(trial)));
    const {answer, problem} = model.look();
    if (problem) return {missing: `There is no model to draw: ${problem.message}.`};
    if (answer === null) return ASKING;
    const [xs, ys] = answer.axes.map(axis => axis.values);
    if (xs.length < 2 && ys.length < 2) return {missing: "Both parameters have one value only."};
    const field = readCells(answer, deviation.on);
    const results = deviation.on ? field.known : store.results.map(trial => metric.place(trial)).filter(Number.isFinite);
    logColours.offer(metric, results);
    return {x, y, metric, answer, sides: [{values: xs, isLog: logX.on, trials}, {values: ys, isLog: logY.on, trials}],
      field, results, trials, died, next: preview.look().answer?.suggestions ?? []};
  }

  function paint(area, {x, y, metric, sides, field, results, trials, died, next}) {
    const {pen, theme} = area;
    const frame = drawAxes(area, modelAxis(x, sides[0]), modelAxis(y, sides[1]), {bar: true});
    const values = [frame.axes.x, frame.axes.y].map((axis, i) => sides[i].values.map(value => placed(value, axis)));
    const minimize = metric.sign < 0 && !deviation.on;
    const share = sharesOfCells(field.known, {isLog: logColours.on, minimize, results});
    const even = !x.isCategory && !y.isCategory && values.every(axis => axis.length > 2) && !field.cells.includes(null);
    const isSeen = within(frame.inner);
    const place = trial => ({trial, x: frame.x(x.of(trial)), y: frame.y(y.of(trial))});
    const marks = trials.map(place).filter(isSeen), failed = died.map(place).filter(isSeen);
    const coming = next.filter(({params}) => params[x.name] !== undefined && params[y.name] !== undefined)
      .map((point, i) => ({next: point, label: `next ${i}`,
        x: frame.x(placed(valueAt(point, x), frame.axes.x)), y: frame.y(placed(valueAt(point, y), frame.axes.y))})).filter(isSeen);
    pen.inside(frame.inner, () => (even ? drawContours : drawCells)(area, frame, field, values, share));
    // Points are at the ends of the axes often, and are seen whole.
    const picked = marks.filter(({trial}) => selection.accepts(trial));
    const radius = radiusFor(picked.length) * 0.8, many = picked.length > CROWD;
    pen.path(to => picked.forEach(mark => dotFor(radius)(to, mark.x, mark.y, radius)),
      {fill: theme.text, alpha: many ? 0.5 : 1, stroke: many ? undefined : theme.card});
    drawBest(area, picked.find(({trial}) => trial === store.ranking[0]));
    drawMarks(pen, failed, theme);
    pen.path(to => coming.forEach(mark => shapes.diamond(to, mark.x, mark.y, 7)),
      {fill: theme.bad, stroke: theme.card, width: 1.5});
    drawBar(area, frame.inner, shade, share.levels.map(format.number));
    drawLegend(area, [{label: "result", colour: theme.text, shape: shapes.circle},
      ...failed.length > 0 ? [{...KINDS.failed, colour: theme.bad}] : [],
      ...coming.length > 0 ? [{label: "comes next", colour: theme.bad, shape: shapes.diamond}] : []]);
    if (!x.isCategory && !y.isCategory) zoomable(area, frame);
    return [...marks, ...failed, ...coming];
  }

  function summarise({metric, answer, next}) {
    const what = deviation.on ? `How unsure the model is of ${metric.name}` : `The model's median of ${metric.name}`;
    const drawn = next.length > 0 && next.every(({why}) => why?.kind === "DRAWN");
    return `${what}, the other parameters as in trial ${answer.trial}.` +
      (drawn ? ` The next points are drawn without it (${format.state(preview.answer.algorithm)}).` : "");
  }

  const card = new PlotCard(store, selection, {
    title: "Contour", name: "contour", height: 380, follows: true, prepare, paint,
    controls: [xChoice, yChoice, deviation, logX, logY, logColours].map(control => control.element),
    summary: summarise,
    table: ({x, y, answer: {low, median, high}, sides: [xs, ys]}) => ({
      heads: [x.name, y.name, "16 %", "Median", "84 %"],
      rows: xs.values.flatMap((a, i) => ys.values.map((b, j) => [a, b, low[i][j] ?? "", median[i][j] ?? "", high[i][j] ?? ""]))}),
    describe: mark => mark.next ? describeNext(mark) : describeTrial(store, mark.trial),
    questions: [importances, model, preview],
  });
  return card;
}

// From one end of the model's values to the other, without slack; from the least
// trial's where a logarithmic axis has no place for the first of them.
function modelAxis(dimension, {values, isLog, trials}) {
  if (dimension.isCategory || values.length < 2) return axisOf(dimension, values, isLog);
  const low = isLog && values[0] <= 0 ? d3.min(trials, trial => dimension.of(trial)) : values[0];
  return {...axisOf(dimension, values, isLog), low, high: values[values.length - 1]};
}

// The value as it has a place there.
const placed = (value, axis) => axis.log ? Math.max(value, axis.low) : value;
