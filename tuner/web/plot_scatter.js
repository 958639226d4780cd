// plot_scatter.js - any two parameters or metrics against each other, coloured by
// a metric.
import {PlotCard} from "./plot_card.js";
import {allDimensions, dimensionsOf} from "./dimension.js";
import {axisOf, drawAxes, drawBar, drawLegend, farOf, within} from "./plot_axes.js";
import {jitter, SPREAD} from "./plot_slice.js";
import {choice, logSwitch, metricMenu} from "./plot_controls.js";
import {zoomable} from "./plot_zoom.js";
import {describeTrial, drawBest, drawMarks, kindOf, KINDS} from "./marks.js";
import {goodness, shade} from "./theme.js";
import * as format from "./format.js";

const BESIDE = 0.7548777; // another way to spread the trials than jitter() has

// The place of a trial on an axis; those of one category beside each other.
const placeOn = (dimension, scale, spread) => trial => scale(dimension.of(trial)) +
  (dimension.isCategory ? scale.step() * SPREAD * spread(trial) : 0);

export function scatterPlot(store, selection) {
  const xChoice = choice(selection, "scatter.x", "x", () => card.zoom(null));
  const yChoice = choice(selection, "scatter.y", "y", () => card.zoom(null));
  const metricChoice = metricMenu(selection);
  const logX = logSwitch("Log x", selection), logY = logSwitch("Log y", selection);
  const logColours = logSwitch("Log colours", selection);

  function prepare() {
    const {parameters, metrics, others} = dimensionsOf(store);
    const x = xChoice.pick(allDimensions(store)), y = yChoice.pick([...metrics, ...others, ...parameters]);
    const metric = metricChoice.pick([...metrics, ...others]);
    if (x.key === y.key) return {missing: "Choose two different ones."};
    const trials = store.trials.filter(trial => x.place(trial) !== null && y.place(trial) !== null);
    if (trials.length === 0) return {missing: `No trial has ${x.name} and ${y.name} yet.`};
    const values = trials.map(trial => metric.place(trial)).filter(value => value !== null);
    logX.offer(x, trials.map(trial => x.of(trial)));
    logY.offer(y, trials.map(trial => y.of(trial)));
    logColours.offer(metric, values);
    const far = new Set([...farOf(x, trials, logX.on), ...farOf(y, trials, logY.on)]);
    return {x, y, metric, trials, values, near: trials.filter(trial => !far.has(trial))};
  }

  function paint(area, {x, y, metric, near, values}) {
    const {pen, theme} = area;
    const frame = drawAxes(area, axisOf(x, near.map(trial => x.of(trial)), logX.on),
      axisOf(y, near.map(trial => y.of(trial)), logY.on), {bar: true});
    const share = values.length > 0 ? goodness(values, metric.sign, logColours.on) : null;
    const toX = placeOn(x, frame.x, jitter), toY = placeOn(y, frame.y, trial => (trial.id * BESIDE % 1) * 2 - 1);
    const marks = near.map(trial => ({trial, x: toX(trial), y: toY(trial)}));
    pen.inside(frame.inner, () => {
      drawMarks(pen, marks, theme, ({trial}) => {
        if (!selection.accepts(trial)) return {colour: theme.idle, alpha: 0.12};
        const value = metric.place(trial);
        return value === null ? {} : {colour: shade(share(value))};
      });
      drawBest(area, marks.find(({trial}) => trial === store.ranking[0]));
    });
    if (share) drawBar(area, frame.inner, shade, share.levels.map(format.number));
    const kinds = new Set(near.map(kindOf));
    drawLegend(area, Object.keys(KINDS).filter(kind => kinds.has(kind)).map(kind => ({...KINDS[kind], colour: theme.text})));
    if (!x.isCategory && !y.isCategory) zoomable(area, frame);
    return marks.filter(within(frame.inner));
  }

  const pairsOf = ({trial}) => {
    const {x, y, metric} = card.data;
    return [...new Set([x, y, metric])].filter(({at}) => at < 0)
      .map(dimension => [dimension.name, format.number(dimension.of(trial))]).filter(([, text]) => text !== "");
  };
  const card = new PlotCard(store, selection, {
    title: "Scatter", name: "scatter", height: 380, follows: true, wide: true, prepare, paint,
    controls: [xChoice, yChoice, metricChoice, logX, logY, logColours].map(control => control.element),
    summary: ({metric, trials, values, near}) => `${format.plural(trials.length, "trial")}, coloured by ${metric.name}` +
      (values.length < trials.length ? `, which ${values.length} of them have.` : ".") +
      (near.length < trials.length ? ` ${format.plural(trials.length - near.length, "trial")} far off, beyond the axes.` : ""),
    table: ({x, y, metric, trials}) => {
      const columns = [x, y, ...[x.key, y.key].includes(metric.key) ? [] : [metric]];
      return {heads: ["Trial", ...columns.map(({name}) => name)],
        rows: trials.filter(trial => selection.accepts(trial))
          .map(trial => [trial.id, ...columns.map(dimension => dimension.of(trial) ?? "")])};
    },
    describe: mark => [...describeTrial(store, mark.trial), ...pairsOf(mark)],
  });
  return card;
}
