// plot_trial_curves.js - every measurement of a metric in a few trials, perhaps
// beside the median of the study.
import {studyPath} from "./api.js";
import {ASKING, PlotCard} from "./plot_card.js";
import {dimensionsOf, otherMetrics} from "./dimension.js";
import {drawAxes, drawLegend, span, within} from "./plot_axes.js";
import {drawLost, lostMarks, traceUnbroken} from "./plot_lost.js";
import {zoomable} from "./plot_zoom.js";
import {logSwitch, metricMenu} from "./plot_controls.js";
import {Question} from "./question.js";
import {shapes} from "./marks.js";
import * as format from "./format.js";

const PAUSE_MS = 2000;
const POINTS = 100;  // of each curve that the median is made of
const LEAST = 3;     // curves of a median
const MEDIAN_DASH = [6, 4];
const MOST = 1000;
const COLOURS = ["accent", "warn", "good", "bad", "idle"];
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [12, 4]];

// One curve for each attempt of each trial and each replica that reports it; its
// values that are not finite, which come as texts, are in `lost`.
function readCurves(answers, metric) {
  const found = new Map();
  for (const {measurements} of answers)
    for (const {trial, attempt, replica, step, metrics: {[metric]: value}} of measurements) {
      if (value === undefined) continue;
      const key = `${trial} ${attempt} ${replica}`;
      if (!found.has(key)) found.set(key, {trial: Number(trial), attempt, replica, points: [], lost: []});
      found.get(key)[Number.isFinite(value) ? "points" : "lost"].push({step: Number(step), value});
    }
  const byStep = points => points.sort((a, b) => a.step - b.step);
  return [...found.values()].map(curve => ({...curve, points: byStep(curve.points), lost: byStep(curve.lost)}));
}

// All metrics, those named in these answers first.
function offeredOf(answers, metrics) {
  const reported = new Set(answers.flatMap(answer => answer?.measurements ?? []).flatMap(one => Object.keys(one.metrics)));
  return [...metrics, ...otherMetrics([...reported], metrics)]
    .sort((a, b) => reported.has(b.name) - reported.has(a.name));
}

// The median of all curves at each step that enough of them have.
function medianOf(curves) {
  const steps = new Map();
  for (const {steps: own, values} of curves)
    own.forEach((step, i) => steps.has(step) ? steps.get(step).push(values[i]) : steps.set(step, [values[i]]));
  return [...steps].filter(([, values]) => values.length >= Math.max(LEAST, curves.length / 4))
    .map(([step, values]) => ({step, value: d3.median(values)})).sort((a, b) => a.step - b.step);
}

// Asks for the measurements of all of `ids` while their trials continue.
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
  const pick = () => metricChoice.pick(offeredOf(curvesAsked.questions.map(({answer}) => answer), dimensionsOf(store).metrics));
  const curvesAsked = askCurves(store, ids, () => card.changed());
  const medianAsked = new Question(store, () => median && store.metrics.includes(pick()?.name)
    ? `${studyPath(store.key)}/curves?top=${MOST}&points=${POINTS}&metric=${encodeURIComponent(pick().name)}` : null,
  () => card.changed());

  function prepare() {
    const metric = pick();
    if (!metric) return {missing: "The job has no metric."};
    const {problem, answers, ready} = curvesAsked.look();
    if (problem) return {missing: problem.message};
    if (!ready) return ASKING;
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
    const steps = [...curves.flatMap(({points, lost}) => [...points, ...lost]), ...middle].map(({step}) => step);
    const frame = drawAxes(area, {label: "step", integer: true, ...span(steps)},
      {label: metric.name, log: log.on, ...span(values, log.on) ?? {low: 0, high: 1}});
    const {x, y, inner} = frame;
    const place = points => points.map(({step, value}) => ({step, value, x: x(step), y: y(value)}));
    const placed = curves.map(curve => ({...curve, points: place(curve.points), lost: lostMarks(curve.lost, frame)}));
    pen.inside(inner, () => {
      pen.path(to => traceUnbroken(to, place(middle), []), {stroke: theme.quiet, width: 2, dash: MEDIAN_DASH});
      for (const curve of placed) {
        const {colour, dash, alpha} = lookOf(theme, curve);
        pen.path(to => traceUnbroken(to, curve.points, curve.lost), {stroke: colour, width: 2, dash, alpha});
        pen.path(to => curve.points.forEach(({x, y}) => shapes.circle(to, x, y, 2.2)), {fill: colour, alpha});
      }
    });
    drawLost(area, inner, placed.flatMap(({lost}) => lost));
    drawLegend(area, [...curves.slice(0, 8).map(curve => ({label: nameOf(curve, several), ...lookOf(theme, curve), opacity: 1})),
      ...placed.some(({lost}) => lost.length > 0) ? [{label: "not finite", colour: theme.bad, shape: shapes.cross, hollow: true}] : [],
      ...middle.length > 0 ? [{label: "median of the study", colour: theme.quiet, dash: MEDIAN_DASH}] : []]);
    zoomable(area, frame);
    return placed.flatMap(curve => [...curve.points, ...curve.lost].map(mark =>
      ({...mark, curve, trial: store.trial(curve.trial), label: `${nameOf(curve, true)} ${mark.step}`})))
      .filter(within(inner));
  }

  const card = new PlotCard(store, selection, {
    title, name: "trial-curves", height: 320, wide: true, controls: [metricChoice.element, log.element], prepare, paint,
    summary: ({middle, others}) => middle.length === 0 ? "" :
      `The median is that of ${others < MOST - 1 ? "" : "the best "}${format.plural(others, "other trial")}.`,
    table: ({curves, metric}) => ({heads: ["Trial", "Attempt", "Replica", "Step", metric.name],
      rows: curves.flatMap(({trial, attempt, replica, points, lost}) => d3.merge([points, lost]).sort((a, b) => a.step - b.step)
        .map(({step, value}) => [trial, attempt, replica, step, value]))}),
    describe: ({curve, step, value}) => [["Trial", String(curve.trial)], ["Attempt", String(curve.attempt)],
      ["Replica", curve.replica], ["Step", String(step)], ["Value", format.number(value)]],
    questions: [...curvesAsked.questions, medianAsked],
  });
  return card;
};
