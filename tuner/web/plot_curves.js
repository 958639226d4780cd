// plot_curves.js - how a metric went, step by step, in the best trials and in
// those that run; the server thins long curves.
import {studyPath} from "./api.js";
import {PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {drawAxes, drawBar, drawLegend, span, within} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {choice, logSwitch, metricMenu} from "./plot_controls.js";
import {Question, stateOfResults} from "./question.js";
import {describeTrial} from "./marks.js";
import {HAIR, lineText, traceLine} from "./pen.js";
import {StudyStore} from "./store.js";
import {goodness, shade} from "./theme.js";
import * as format from "./format.js";

// How many trials, and how many points of each, so that a picture of all is no
// more to fetch than one of a few.
const SIZES = [{key: "10", name: "best 10", points: 100}, {key: "50", name: "best 50", points: 100},
  {key: "1000", name: "all", points: 30}];

const MANY = 200; // curves, from which they are thin

// Changes with every step of a trial that runs, too.
function stateOfCurves(store) {
  const steps = store.trials.reduce((sum, trial) => sum + (trial.endMs ? 0 : trial.step), 0);
  return `${stateOfResults(store)} ${steps}`;
}

// All of a curve, whichever of its points was met.
function ringCurves(group, marks, colour) {
  group.selectAll("path").data([...new Set(marks.map(mark => mark.curve))]).join("path").attr("class", "ring")
    .attr("stroke", colour).attr("d", curve => lineText(curve.places));
}

export function curvesPlot(store, selection) {
  const metricChoice = metricMenu(selection);
  const sizeChoice = choice("Show", () => card.changed());
  const log = logSwitch("Log y", selection);
  const pick = () => ({metric: metricChoice.pick(dimensionsOf(store).metrics), size: sizeChoice.pick(SIZES)});
  const question = new Question(store, () => {
    const {metric, size} = pick();
    return metric ? `${studyPath(store.key)}/curves?top=${size.key}&points=${size.points}` +
      `&metric=${encodeURIComponent(metric.name)}` : null;
  }, () => card.changed(), {state: stateOfCurves});

  function prepare() {
    const {metric} = pick();
    const {answer, problem} = question.look();
    if (problem) return {missing: problem.message};
    if (answer === null) return {missing: metric ? "Asking the server …" : "The study has no metric."};
    const curves = answer.curves.map(curve => ({...curve, trial: store.trial(curve.trial)}))
      .filter(({trial, steps}) => trial && steps.length > 1);
    if (curves.length === 0) return {missing: "No trial has told this metric more than once."};
    log.offer(metric, curves.flatMap(({values}) => values));
    return {metric, curves, left: answer.left};
  }

  function paint(area, {metric, curves}) {
    const {pen, theme} = area;
    const frame = drawAxes(area,
      {label: "step", integer: true, ...ends(curves.map(({steps}) => steps))},
      {label: metric.name, log: log.on, ...span(curves.flatMap(({values}) => values), log.on)}, {bar: true});
    const {x, y, inner} = frame;
    const placed = curves.map(curve => ({...curve, ended: StudyStore.hasResult(curve.trial),
      places: curve.steps.map((step, i) => [x(step), y(curve.values[i])])}));
    const ended = placed.filter(curve => curve.ended), share = goodness(ended.map(last), metric.sign, log.on);
    const width = curves.length > MANY ? HAIR : 1.4;
    // The best come first and are drawn last.
    pen.inside(inner, () => placed.slice().reverse().forEach(curve => {
      const accepted = selection.accepts(curve.trial), colour = curve.ended ? shade(share(last(curve))) : theme.run;
      pen.path(to => traceLine(to, curve.places), {width, stroke: accepted ? colour : theme.idle,
        alpha: accepted ? 0.85 : 0.12, dash: curve.ended ? [] : [5, 3]});
    }));
    if (ended.length > 0) drawBar(area, inner, shade, share.told.map(format.number));
    drawLegend(area, ended.length < placed.length ? [{label: "not ended (dashed)", colour: theme.run}] : []);
    zoomable(area, frame);
    return placed.flatMap(pointsOf).filter(within(inner));
  }

  const card = new PlotCard(store, selection, {
    title: "Metric curves", name: "curves", height: 320, follows: true,
    controls: [metricChoice.element, sizeChoice.element, log.element], prepare, paint, ring: ringCurves,
    summary: ({curves, left}) => `${format.plural(curves.length, "trial")}, coloured by the newest value.` +
      (left > 0 ? ` ${left} more would take the server too long.` : ""),
    table: ({metric: {name}, curves}) => ({
      heads: ["Trial", "First step", "Last step", `First ${name}`, `Last ${name}`],
      rows: curves.map(({trial, steps, values}) =>
        [trial.id, steps[0], steps[steps.length - 1], values[0], values[values.length - 1]])}),
    describe: ({trial, label, value}) =>
      [["Step", String(label)], ["Value there", format.number(value)], ...describeTrial(store, trial)],
    questions: [question],
  });
  return card;
}

// A mark for each point of a curve.
function pointsOf(curve) {
  return curve.places.map(([x, y], i) =>
    ({trial: curve.trial, curve, label: curve.steps[i], value: curve.values[i], x, y}));
}

const last = ({values}) => values[values.length - 1];

const ends = steps => ({low: d3.min(steps, curve => curve[0]), high: d3.max(steps, curve => curve[curve.length - 1])});
