// plot_curves.js - how a metric went, step by step, in the best trials and in
// running trials; the server thins long curves.
import {studyPath} from "./api.js";
import {ASKING, PlotCard} from "./plot_card.js";
import {dimensionsOf, otherMetrics} from "./dimension.js";
import {drawAxes, drawBar, drawLegend, span, within} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {choice, logSwitch, metricMenu} from "./plot_controls.js";
import {Question, stateOfResults} from "./question.js";
import {describeTrial, shapes} from "./marks.js";
import {drawLost, lostMarks, lostText, traceUnbroken} from "./plot_lost.js";
import {HAIR, lineText} from "./pen.js";
import {StudyStore} from "./store.js";
import {goodness, shade} from "./theme.js";
import * as format from "./format.js";

// How many trials, and how many points of each, so that a picture of all is no
// more to fetch than one of a few.
const SIZES = [{key: "10", name: "best 10", points: 100}, {key: "50", name: "best 50", points: 100},
  {key: "1000", name: "all", points: 30}];

const MANY = 200; // curves, from which they are thin

// Curves of results are coloured by their last value.
const KINDS = {ended: {dash: []}, running: {label: "not ended (dashed)", colour: "run", dash: [5, 3]},
  failed: {label: "no result", colour: "bad", dash: []}};

// Changes with every step of a trial that runs, too.
function stateOfCurves(store) {
  const steps = store.trials.reduce((sum, trial) => sum + (trial.endMs ? 0 : trial.step), 0);
  return `${stateOfResults(store)} ${steps}`;
}

// All of a curve, whichever of its points was met.
function ringCurves(group, marks, colour) {
  group.selectAll("path").data([...new Set(marks.map(mark => mark.curve))]).join("path").attr("class", "ring")
    .attr("stroke", colour).attr("d", curve => lineText(curve.points.map(({x, y}) => [x, y])));
}

export function curvesPlot(store, selection) {
  const metricChoice = metricMenu(selection);
  const sizeChoice = choice(selection, "curves.show", "Show", () => card.changed());
  const log = logSwitch("Log y", selection);
  let reported = []; // names of metrics, as the newest answer has them
  const pick = () => {
    const {metrics} = dimensionsOf(store);
    const offered = [...metrics, ...otherMetrics(reported, metrics)];
    return {metric: metricChoice.pick(offered), size: sizeChoice.pick(SIZES), offered};
  };
  const question = new Question(store, () => {
    const {metric, size} = pick();
    return metric ? `${studyPath(store.key)}/curves?top=${size.key}&points=${size.points}` +
      `&metric=${encodeURIComponent(metric.name)}` : null;
  }, () => card.changed(), {state: stateOfCurves});

  function prepare() {
    const {answer, problem} = question.look();
    if (answer !== null) reported = answer.metrics;
    const {offered} = pick();
    if (problem) return {missing: problem.message};
    if (answer === null) return offered.length > 0 ? ASKING : {missing: "The study has no metric."};
    const metric = offered.find(({name}) => name === answer.metric);
    const curves = answer.curves.map(curve => ({notFinite: [], ...curve, trial: store.trial(curve.trial)}))
      .filter(({trial, steps, notFinite}) => trial && steps.length + notFinite.length > 1);
    if (curves.length === 0) return {missing: "No trial has reported this metric more than once."};
    log.offer(metric, curves.flatMap(({values}) => values));
    return {metric, curves, left: answer.left};
  }

  function paint(area, {metric, curves}) {
    const {pen, theme} = area;
    const steps = d3.extent(curves.flatMap(curve => [...curve.steps, ...curve.notFinite.map(({step}) => step)]));
    const frame = drawAxes(area, {label: "step", integer: true, low: steps[0], high: steps[1]},
      {label: metric.name, log: log.on, ...span(curves.flatMap(({values}) => values), log.on) ?? {low: 0, high: 1}}, {bar: true});
    const {inner} = frame, placed = curves.map(curve => place(curve, frame));
    const ended = placed.filter(({kind, points}) => kind === "ended" && points.length > 0);
    const share = goodness(ended.map(last), metric.sign, log.on), width = curves.length > MANY ? HAIR : 1.4;
    const colourOf = curve => curve.kind === "ended" ? shade(share(last(curve))) : theme[KINDS[curve.kind].colour];
    // The best come first and are drawn last.
    pen.inside(inner, () => placed.slice().reverse().filter(({points}) => points.length > 0).forEach(curve => {
      const accepted = selection.accepts(curve.trial);
      pen.path(to => traceUnbroken(to, curve.points, curve.notFinite), {width, dash: KINDS[curve.kind].dash,
        stroke: accepted ? colourOf(curve) : theme.idle, alpha: accepted ? 0.85 : 0.12});
    }));
    const lost = placed.flatMap(curve => curve.lost);
    drawLost(area, inner, lost);
    if (ended.length > 0) drawBar(area, inner, shade, share.levels.map(format.number));
    const there = new Set(placed.map(({kind}) => kind));
    drawLegend(area, [...["running", "failed"].filter(kind => there.has(kind))
      .map(kind => ({...KINDS[kind], colour: theme[KINDS[kind].colour]})),
    ...lost.length > 0 ? [{label: "not finite", colour: theme.bad, shape: shapes.cross, hollow: true}] : []]);
    zoomable(area, frame);
    return placed.flatMap(({points, lost}) => [...points, ...lost]).filter(within(inner));
  }

  const card = new PlotCard(store, selection, {
    title: "Metric curves", name: "curves", height: 320, follows: true,
    controls: [metricChoice.element, sizeChoice.element, log.element], prepare, paint, ring: ringCurves,
    summary: ({curves, left}) => `${format.plural(curves.length, "trial")}, coloured by the newest value.` +
      (left > 0 ? ` ${left} more would take the server too long.` : ""),
    table: ({metric: {name}, curves}) => ({
      heads: ["Trial", "First step", "Last step", `First ${name}`, `Last ${name}`, "Not finite"],
      rows: curves.map(({trial, steps, values, notFinite}) =>
        [trial.id, steps[0], steps[steps.length - 1], values[0], values[values.length - 1], lostText(notFinite)])}),
    describe: ({trial, label, value}) =>
      [["Step", String(label)], ["Value there", format.number(value)], ...describeTrial(store, trial)],
    questions: [question],
  });
  return card;
}

// The curve with marks for its points and its lost steps.
function place(curve, frame) {
  const {trial, steps, values, notFinite} = curve;
  const kind = StudyStore.hasResult(trial) ? "ended" : trial.endMs ? "failed" : "running";
  const placed = {...curve, kind};
  const mark = one => ({trial, curve: placed, label: one.step, ...one});
  placed.points = steps.map((step, i) => mark({step, value: values[i], x: frame.x(step), y: frame.y(values[i])}));
  placed.lost = lostMarks(notFinite, frame).map(mark);
  return placed;
}

const last = ({values}) => values[values.length - 1];
