// plot_edf.js - how the results are spread: which part of them is at most so
// large, of all trials and of those in the brushed ranges.
import {PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {drawAxes, drawLegend, span, within, withoutOutliers} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {logSwitch, metricMenu} from "./plot_controls.js";
import {describeTrial} from "./marks.js";
import {plural} from "./format.js";
import {thinLine, traceLine} from "./pen.js";

// [{trial, value, share}] by rising value.
function distribution(trials, metric) {
  return trials.map(trial => ({trial, value: metric.place(trial)}))
    .sort((a, b) => a.value - b.value)
    .map((step, i) => ({...step, share: (i + 1) / trials.length}));
}

function traceSteps(to, steps, {x, y, inner}) {
  if (steps.length === 0) return;
  const corners = steps.flatMap(({value, share}, i) =>
    [[x(value), y(i === 0 ? 0 : steps[i - 1].share)], [x(value), y(share)]]);
  traceLine(to, thinLine([[inner.left, y(0)], ...corners, [inner.left + inner.width, y(1)]]));
}

export function edfPlot(store, selection) {
  const metricChoice = metricMenu(selection);
  const log = logSwitch("Log x", selection);

  function prepare() {
    const metric = metricChoice.pick(dimensionsOf(store).metrics);
    const trials = metric ? store.results.filter(trial => metric.place(trial) !== null) : [];
    if (trials.length < 2) return {missing: `Needs 2 results, has ${trials.length}.`};
    log.offer(metric, trials.map(trial => metric.place(trial)));
    const picked = selection.ranges.size > 0 ? trials.filter(trial => selection.accepts(trial)) : null;
    const values = trials.map(trial => metric.place(trial)), typical = withoutOutliers(values, metric.sign, log.on);
    return {metric, range: span(typical, log.on), outside: values.length - typical.length,
      steps: distribution(trials, metric), picked: picked && distribution(picked, metric)};
  }

  function paint(area, {metric, range, steps, picked}) {
    const frame = drawAxes(area, {label: metric.name, log: log.on, ...range},
      {label: "share of results", low: 0, high: 1});
    const {theme, pen} = area, shown = picked ?? steps;
    pen.inside(frame.inner, () => {
      if (picked) pen.path(to => traceSteps(to, steps, frame), {stroke: theme.idle, width: 1.5, alpha: 0.6});
      pen.path(to => traceSteps(to, shown, frame), {stroke: theme.accent, width: 2});
    });
    drawLegend(area, picked ? [{label: "all", colour: theme.idle}, {label: "brushed", colour: theme.accent}] : []);
    zoomable(area, frame, "x");
    return shown.map(({trial, value, share}) => ({trial, share, x: frame.x(value), y: frame.y(share)}))
      .filter(within(frame.inner));
  }

  const card = new PlotCard(store, selection, {
    title: "Distribution of results", name: "distribution", height: 380, follows: true,
    controls: [metricChoice.element, log.element], prepare, paint,
    summary: ({outside}) => outside > 0 ? `${plural(outside, "trial")} far off, beyond the axis.` : "",
    table: ({metric, steps}) => ({heads: ["Trial", metric.name, "Share at most that"],
      rows: steps.map(({trial, value, share}) => [trial.id, value, share])}),
    describe: ({trial, share}) => [["Share at most that", share.toFixed(3)], ...describeTrial(store, trial)],
  });
  return card;
}
