// plot_trial_curves.js - every measurement of a metric in a few trials, perhaps
// beside the median of the study.
import {studyPath} from "./api.js";
import {PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {drawAxes, drawLegend, span} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {logSwitch, metricMenu} from "./plot_controls.js";
import {Question} from "./question.js";
import {shapes} from "./marks.js";
import * as format from "./format.js";

const PAUSE_MS = 2000;
const POINTS = 100;  // of each curve that the median is made of
const LEAST = 3;     // curves of a median
const MOST = 1000;
const COLOURS = ["accent", "warn", "good", "bad", "idle"];
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [12, 4]];

// One curve for each attempt of each trial and each replica that reports it.
function readCurves(answers, metric) {
  const found = new Map();
  for (const {measurements} of answers)
    for (const {trial, attempt, replica, step, metrics} of measurements) {
      const value = Number(metrics[metric]);
      if (!(metric in metrics) || !Number.isFinite(value)) continue;
      const key = `${trial} ${attempt} ${replica}`;
      if (!found.has(key)) found.set(key, {trial: Number(trial), attempt, replica, points: []});
      found.get(key).points.push({step: Number(step), value});
    }
  return [...found.values()].map(curve => ({...curve, points: curve.points.sort((a, b) => a.step - b.step)}));
}

// The median of all curves at each step that enough of them have told.
export function medianOf(curves) {
  const steps = new Map();
  for (const {steps: told, values} of curves)
    told.forEach((step, i) => steps.has(step) ? steps.get(step).push(values[i]) : steps.set(step, [values[i]]));
  return [...steps].filter(([, values]) => values.length >= Math.max(LEAST, curves.length / 4))
    .map(([step, values]) => ({step, value: d3.median(values)})).sort((a, b) => a.step - b.step);
}

// Asks for the measurements of all of `ids` while their trials go on.
function askCurves(store, ids, answered) {
  const state = () => ids.map(id => `${store.trial(id)?.step} ${store.trial(id)?.state}`).join();
  const questions = ids.map(id => new Question(store, () => `${studyPath(store.key)}/measurements?trial=${id}`,
    answered, {pauseMs: PAUSE_MS, state}));
  return {
    look() {
      const asked = questions.map(question => question.look());
      const problem = asked.find(question => question.problem)?.problem;
      return {problem, answers: asked.map(question => question.answer), ready: asked.every(({answer}) => answer !== null)};
    },
    questions,
  };
}

function nameOf(curve, several) {
  const parts = [`trial ${curve.trial}`, curve.attempt > 1 && `attempt ${curve.attempt}`, several && curve.replica];
  return parts.filter(Boolean).join(", ");
}

// A plot of the trials with these ids, for showPlots(); `median`: whether the
// study's is drawn, too.
export const trialCurvesPlot = ({title, ids, median = false}) => (store, selection) => {
  const metricChoice = metricMenu(selection), log = logSwitch("Log y", selection);
  const pick = () => metricChoice.pick(dimensionsOf(store).metrics);
  const curvesAsked = askCurves(store, ids, () => card.changed());
  const medianAsked = new Question(store, () => median && pick()
    ? `${studyPath(store.key)}/curves?top=${MOST}&points=${POINTS}&metric=${encodeURIComponent(pick().name)}` : null,
  () => card.changed());

  function prepare() {
    const metric = pick();
    if (!metric) return {missing: "The job has no metric."};
    const {problem, answers, ready} = curvesAsked.look();
    if (problem) return {missing: problem.message};
    if (!ready) return {missing: "Asking the server …"};
    const curves = readCurves(answers, metric.name);
    if (curves.length === 0) return {missing: "Nothing was reported of this metric."};
    const others = (medianAsked.look().answer?.curves ?? []).filter(({trial}) => !ids.includes(trial));
    const middle = medianOf(others);
    const values = [...curves.flatMap(({points}) => points), ...middle].map(({value}) => value);
    log.offer(metric, values);
    return {metric, curves, middle, others: others.length, values, several: new Set(curves.map(({replica}) => replica)).size > 1};
  }

  function lookOf(theme, curve) {
    const at = ids.indexOf(curve.trial);
    return {colour: theme[COLOURS[at % COLOURS.length]], dash: DASHES[at % DASHES.length], alpha: isNewest(curve) ? 1 : 0.45};
  }

  const isNewest = curve => curve.attempt >= (store.trial(curve.trial)?.attempt ?? 0);

  function paint(area, {metric, curves, middle, values, several}) {
    const {pen, theme} = area;
    const steps = [...curves.flatMap(({points}) => points), ...middle].map(({step}) => step);
    const frame = drawAxes(area, {label: "step", integer: true, ...span(steps)}, {label: metric.name, log: log.on, ...span(values, log.on)});
    const {x, y, inner} = frame;
    const trace = points => to => points.forEach(({step, value}, i) =>
      i === 0 ? to.moveTo(x(step), y(value)) : to.lineTo(x(step), y(value)));
    pen.inside(inner, () => {
      pen.path(trace(middle), {stroke: theme.quiet, width: 3, alpha: 0.6});
      for (const curve of curves) {
        const {colour, dash, alpha} = lookOf(theme, curve);
        pen.path(trace(curve.points), {stroke: colour, width: 2, dash, alpha});
        pen.path(to => curve.points.forEach(({step, value}) => shapes.circle(to, x(step), y(value), 2.2)), {fill: colour, alpha});
      }
    });
    drawLegend(area, [...curves.slice(0, 8).map(curve => ({label: nameOf(curve, several), colour: lookOf(theme, curve).colour})),
      ...middle.length > 0 ? [{label: "median of the study", colour: theme.quiet}] : []]);
    zoomable(area, frame);
    return curves.flatMap(curve => curve.points.map(({step, value}) => ({curve, step, value, trial: store.trial(curve.trial),
      label: `${nameOf(curve, true)} ${step}`, x: x(step), y: y(value)})))
      .filter(mark => mark.x >= inner.left && mark.x <= inner.left + inner.width);
  }

  const card = new PlotCard(store, selection, {
    title, name: "trial-curves", height: 320, wide: true, controls: [metricChoice.element, log.element], prepare, paint,
    summary: ({middle, others}) => middle.length === 0 ? "" :
      `The median is that of ${others < MOST - 1 ? "" : "the best "}${format.plural(others, "other trial")}.`,
    table: ({curves, metric}) => ({heads: ["Trial", "Attempt", "Replica", "Step", metric.name],
      rows: curves.flatMap(curve => curve.points.map(({step, value}) => [curve.trial, curve.attempt, curve.replica, step, value]))}),
    describe: ({curve, step, value}) => [["Trial", String(curve.trial)], ["Attempt", String(curve.attempt)],
      ["Replica", curve.replica], ["Step", String(step)], ["Value", format.number(value)]],
    questions: [...curvesAsked.questions, medianAsked],
  });
  return card;
};
