// plot_slice.js - one parameter against a metric: the trials, and what the
// model expects along it, the others standing as in the best trial.
import {studyPath} from "./api.js";
import {PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {axisOf, drawAxes, drawLegend, span, within, withoutOutliers} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {logSwitch, metricMenu} from "./plot_controls.js";
import {Question} from "./question.js";
import {describeTrial, drawBest, drawMarks, KINDS, shapes} from "./marks.js";
import {StudyStore} from "./store.js";
import {traceLine} from "./pen.js";
import {plural} from "./format.js";

const LEAST_RESULTS = 3; // as tuner/search/models.c has it
export const SPREAD = 0.35; // of the room of a category, so that its trials can be distinguished
const DENSE = 170;   // trials; more of them are drawn fainter
const EDGE = 5;      // pixels from it to failed trials and outliers
const BOX = 14;      // pixels, half of what the model has of a value alone

// Its own place for each trial, from -1 to 1, the same every time.
export const jitter = trial => ((trial.id * 0.618034) % 1) * 2 - 1;

// Why the server has no model of the study, null when it has one.
export function lackOfModel(store) {
  const n = store.results.length;
  return n < LEAST_RESULTS ? `A model needs ${LEAST_RESULTS} results, there ${n === 1 ? "is" : "are"} ${n}.` : null;
}

// Of the model cut along the axes of `query`, through the trial that it names or the
// best trial that has both: the best of all has none for what its other parameters
// leave out.
export function slicePath(store, query) {
  const names = [query.x, query.y].filter(name => name !== undefined);
  const has = trial => names.every(name => (store.parameter(trial, name) ?? null) !== null);
  const {ranking} = store;
  const through = query.trial !== undefined || ranking.length === 0 || has(ranking[0]) ? undefined : ranking.find(has);
  const asked = new URLSearchParams(through ? {...query, trial: through.id} : query);
  return `${studyPath(store.key)}/slice?${asked}`;
}

// What `scale` of a question says of an axis that is drawn on another scale than
// the parameter's own, so that the model's points are even on it.
export function scaleAsked(scale, parameter, isLog) {
  return isLog && !parameter.log && parameter.range?.[0] > 0 ? {[scale]: "log"} : {};
}

// [{value, low, median, high}] where the parameter has a place; `answer` may be null.
export function expectedOf(answer) {
  return (answer?.axes[0].values ?? []).map((value, i) =>
    ({value, low: answer.low[i], median: answer.median[i], high: answer.high[i]}))
    .filter(({median}) => median !== null);
}

// Without what a logarithmic axis has no place for: that goes below its end.
function raised(expected, least) {
  const up = value => Math.max(value, least);
  return expected.map(({value, low, median, high}) => ({value, low: up(low), median: up(median), high: up(high)}));
}

// A band along the axis; a box where a value stands for itself.
export function drawBand(area, {x, y}, expected) {
  const {pen, theme} = area;
  if (x.step || expected.length === 1) {
    const half = Math.min(BOX, x.step ? x.step() * SPREAD : BOX);
    pen.path(to => expected.forEach(({value, low, high}) =>
      to.rect(x(value) - half, y(high), 2 * half, y(low) - y(high))),
      {fill: theme.accent, alpha: 0.22});
    pen.path(to => expected.forEach(({value, median}) => to.rect(x(value) - half, y(median) - 1, 2 * half, 2)),
      {fill: theme.accent});
    return;
  }
  const along = which => expected.map(cell => [x(cell.value), y(cell[which])]);
  pen.path(to => traceLine(to, [...along("high"), ...along("low").reverse()]), {fill: theme.accent, alpha: 0.22});
  pen.path(to => traceLine(to, along("median")), {stroke: theme.accent, width: 2});
}

// A maker of the plot of the parameter with that key.
export const slicePlot = key => (store, selection) => {
  const metricChoice = metricMenu(selection);
  const logX = logSwitch("Log x", selection), logY = logSwitch("Log y", selection);
  const find = () => {
    const {parameters, metrics} = dimensionsOf(store);
    return {parameter: parameters.find(parameter => parameter.key === key), metric: metricChoice.pick(metrics)};
  };
  const question = new Question(store, () => {
    const {parameter, metric} = find();
    if (!metric || lackOfModel(store) !== null) return null;
    return slicePath(store, {x: parameter.name, metric: metric.name, ...scaleAsked("xScale", parameter, logX.on)});
  }, () => card.changed());

  function prepare() {
    const {parameter, metric} = find();
    const trials = metric ? store.results.filter(trial =>
      metric.place(trial) !== null && parameter.place(trial) !== null) : [];
    if (trials.length === 0) return {missing: "No result has this parameter yet."};
    logX.offer(parameter, trials.map(trial => parameter.of(trial)));
    const {answer, problem} = question.look();
    logY.offer(metric, trials.map(trial => metric.of(trial)));
    const failed = store.trials.filter(trial => StudyStore.hasFailed(trial) && parameter.place(trial) !== null);
    const values = trials.map(trial => metric.of(trial)), typical = withoutOutliers(values, metric.sign, logY.on);
    return {parameter, metric, trials, failed, typical, outside: values.length - typical.length,
      expected: expectedOf(answer), through: answer?.trial, problem};
  }

  function paint(area, {parameter, metric, trials, failed, typical, expected}) {
    const values = [...typical, ...expected.flatMap(({low, high}) => logY.on ? [high] : [low, high])];
    const yAxis = {label: metric.name, log: logY.on, ...span(values, logY.on)};
    const frame = drawAxes(area, axisOf(parameter, trials.map(trial => parameter.of(trial)), logX.on), yAxis);
    const {x, y, inner} = frame;
    const room = parameter.isCategory ? x.step() * SPREAD : 0;
    const place = value => area.view === null ? Math.min(bottom, Math.max(inner.top + EDGE, y(value))) : y(value);
    const at = trial => x(parameter.of(trial)) + room * jitter(trial), bottom = inner.top + inner.height - EDGE;
    const marks = [...trials.map(trial => ({trial, x: at(trial), y: place(metric.of(trial))})),
      ...failed.map(trial => ({trial, x: at(trial), y: bottom}))];
    area.pen.inside(inner, () => {
      drawMarks(area.pen, marks, area.theme,
        ({trial}) => selection.accepts(trial) ? {alpha: Math.min(0.65, (DENSE / marks.length) ** 0.5)} : {colour: area.theme.idle, alpha: 0.12});
      drawBand(area, frame, logY.on ? raised(expected, yAxis.low) : expected);
      drawBest(area, marks.find(({trial}) => trial === store.ranking[0]));
    });
    drawLegend(area, [{label: "result", colour: area.theme.good, shape: shapes.circle},
      ...failed.length > 0 ? [{...KINDS.failed, colour: area.theme.bad}] : [],
      ...expected.length > 0 ? [{label: "the model's median and 16-84 %", colour: area.theme.accent}] : []]);
    if (!parameter.isCategory) zoomable(area, frame);
    return marks.filter(within(inner));
  }

  const card = new PlotCard(store, selection, {
    title: key.replace(/^parameter:/, ""), name: `slice-${key.replace(/^parameter:/, "")}`, height: 260, follows: true,
    controls: [logX.element, logY.element], prepare, paint, questions: [question],
    summary: ({through, problem, outside}) => [through ? `The model is cut through trial ${through}.`
      : lackOfModel(store) ?? (problem ? `There is no model: ${problem.message}.` : ""),
    outside > 0 ? `${plural(outside, "trial")} far off, drawn at the edge.` : ""].filter(Boolean).join(" "),
    table: ({parameter, metric, expected, trials}) => expected.length > 0
      ? {heads: [parameter.name, "16 %", "Median", "84 %"],
        rows: expected.map(({value, low, median, high}) => [value, low, median, high])}
      : {heads: ["Trial", parameter.name, metric.name],
        rows: trials.map(trial => [trial.id, parameter.of(trial), metric.of(trial)])},
    describe: ({trial}) => describeTrial(store, trial),
  });
  return card;
};
