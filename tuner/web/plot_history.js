// plot_history.js - results in the order of trials, and the best so far.
import {PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {drawAxes, drawLegend, span, within, withoutOutliers} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {logSwitch, metricMenu, toggle} from "./plot_controls.js";
import {describeTrial, drawBest, drawMarks, kindOf, KINDS, shapes} from "./marks.js";
import {StudyStore} from "./store.js";
import {plural} from "./format.js";

const FRUITLESS = new Set(["failed", "infeasible"]);

// The trials that were better than all before them.
function records(trials, metric) {
  const steps = [];
  let best = -Infinity;
  for (const trial of trials) {
    const value = metric.place(trial);
    if (metric.sign * value <= best) continue;
    best = metric.sign * value;
    steps.push({trial, value});
  }
  return steps;
}

function traceSteps(to, steps, x, y, end) {
  steps.forEach(({trial, value}, i) => {
    if (i === 0) to.moveTo(x(trial.id), y(value));
    else {
      to.lineTo(x(trial.id), y(steps[i - 1].value));
      to.lineTo(x(trial.id), y(value));
    }
  });
  if (steps.length > 0) to.lineTo(end, y(steps[steps.length - 1].value));
}

export function historyPlot(store, selection) {
  const metricChoice = metricMenu(selection);
  const log = logSwitch("Log y", selection);
  const outliers = toggle("Outliers", () => card.zoom(null));
  outliers.element.hidden = true;

  function prepare() {
    const {metrics} = dimensionsOf(store);
    const metric = metricChoice.pick(metrics);
    const shown = store.trials.filter(trial => metric && metric.place(trial) !== null);
    const without = store.trials.filter(trial => FRUITLESS.has(kindOf(trial)) && metric?.place(trial) === null);
    if (shown.length === 0) return {missing: missing(without.length)};
    log.offer(metric, shown.map(trial => metric.place(trial)));
    const unsafe = new Set(shown.filter(trial => StudyStore.hasResult(trial) && !store.isSafe(trial)));
    const counting = shown.filter(trial => StudyStore.hasResult(trial) && !unsafe.has(trial));
    const values = shown.map(trial => metric.place(trial)), typical = withoutOutliers(values, metric.sign, log.on);
    outliers.element.hidden = typical.length === values.length;
    return {metric, shown, without, unsafe, steps: metric.bound === null ? records(counting, metric) : [],
      range: span(outliers.on ? values : typical, log.on), outside: outliers.on ? 0 : values.length - typical.length};
  }

  function missing(failed) {
    if (store.trials.length === 0) return "No trial has begun yet.";
    return failed > 0 && failed === store.trials.length
      ? "No trial has a result so far; the reasons are shown above."
      : "No trial has reported a value yet.";
  }

  function paint(area, {metric, shown, without, unsafe, steps, range}) {
    const newest = store.trials[store.trials.length - 1].id;
    const frame = drawAxes(area, {label: "trial", low: 0, high: newest + Math.max(1, newest * 0.02), integer: true},
      {label: metric.name, log: log.on, ...range});
    const {x, y, inner} = frame;
    const bottom = inner.top + inner.height - 5;
    // Outliers are at the edge.
    const place = value => area.view === null ? Math.min(bottom, Math.max(inner.top + 5, y(value))) : y(value);
    const marks = [...shown.map(trial => ({trial, x: x(trial.id), y: place(metric.place(trial))})),
      ...without.map(trial => ({trial, x: x(trial.id), y: bottom}))];
    area.pen.inside(inner, () => {
      drawMarks(area.pen, marks, area.theme, ({trial}) => {
        if (!selection.accepts(trial)) return {colour: area.theme.idle, alpha: 0.15};
        return unsafe.has(trial) ? {colour: area.theme.bad, alpha: 0.4} : {};
      });
      area.pen.path(to => traceSteps(to, steps, x, y, inner.left + inner.width), {stroke: area.theme.best, width: 2});
      const best = steps[steps.length - 1]?.trial;
      drawBest(area, marks.find(({trial}) => trial === best));
    });
    const kinds = new Set(marks.map(mark => kindOf(mark.trial)));
    drawLegend(area, [...Object.keys(KINDS).filter(kind => kinds.has(kind))
      .map(kind => ({...KINDS[kind], colour: area.theme[KINDS[kind].colour]})),
    ...unsafe.size > 0 ? [{label: "out of bounds", colour: area.theme.bad, shape: shapes.circle}] : [],
    ...steps.length > 0 ? [{label: "best so far", colour: area.theme.best}] : []]);
    zoomable(area, frame);
    return marks.filter(within(inner));
  }

  const card = new PlotCard(store, selection, {
    title: "Optimisation history", name: "history", height: 320, follows: true,
    controls: [metricChoice.element, log.element, outliers.element], prepare, paint,
    summary: ({steps, metric, outside}) => [steps.length > 0 &&
      `Best ${metric.name} ${metric.text(steps[steps.length - 1].value)}, trial ${steps[steps.length - 1].trial.id}.`,
    outside > 0 && `${plural(outside, "trial")} far off, drawn at the edge.`].filter(Boolean).join(" "),
    table: ({metric, shown, steps}) => {
      const best = new Set(steps.map(step => step.trial));
      return {heads: ["Trial", "State", metric.name, "Best so far"],
        rows: shown.map(trial =>
          [trial.id, KINDS[kindOf(trial)].label, metric.place(trial), best.has(trial) ? "yes" : ""])};
    },
    describe: ({trial}) => describeTrial(store, trial),
  });
  return card;
}
