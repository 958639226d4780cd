// plot_stop_curve.js - what a rule saw of a trial when it stopped it, and the
// end that it predicted.
import {PlotCard} from "./plot_card.js";
import {drawAxes, drawLegend, span} from "./plot_axes.js";
import {shapes} from "./marks.js";
import * as format from "./format.js";

// The prediction of the metric that the rule looked at; undefined without one.
const predictionOf = stop => [stop.predicted ?? []].flat().find(({metric}) => metric === stop.metric);

export const stopCurvePlot = stop => (store, selection) => {
  const points = stop.curve.map(([at, value]) => ({at, value}));
  const end = stop.end === undefined ? undefined : predictionOf(stop);

  function paint(area) {
    const {pen, theme} = area;
    const seen = [...points.map(({value}) => value), stop.threshold, ...end ? [end.value - end.deviation, end.value + end.deviation] : []];
    const frame = drawAxes(area, {label: stop.by === "time" ? "seconds" : "step", integer: stop.by !== "time",
      ...span([...points.map(({at}) => at), ...end ? [Number(stop.end)] : []])},
    {label: stop.metric ?? "value", ...span(seen)});
    const {x, y, inner} = frame;
    if (Number.isFinite(stop.threshold))
      pen.path(to => {
        to.moveTo(inner.left, y(stop.threshold));
        to.lineTo(inner.left + inner.width, y(stop.threshold));
      }, {stroke: theme.warn, width: 1.5, dash: [6, 3]});
    pen.path(to => points.forEach(({at, value}, i) => i === 0 ? to.moveTo(x(at), y(value)) : to.lineTo(x(at), y(value))),
      {stroke: theme.accent, width: 2});
    pen.path(to => points.forEach(({at, value}) => shapes.circle(to, x(at), y(value), 2.5)), {fill: theme.accent});
    const marks = points.map(({at, value}) => ({at, value, x: x(at), y: y(value), label: at}));
    if (!end) return marks;
    const left = x(Number(stop.end));
    pen.path(to => {
      to.moveTo(left, y(end.value - end.deviation));
      to.lineTo(left, y(end.value + end.deviation));
      shapes.diamond(to, left, y(end.value), 4);
    }, {stroke: theme.idle, width: 2});
    drawLegend(area, [{label: "seen", colour: theme.accent}, {label: "had to reach", colour: theme.warn},
      {label: "predicted end", colour: theme.idle, shape: shapes.diamond, hollow: true}]);
    return [...marks, {at: Number(stop.end), value: end.value, deviation: end.deviation, x: left, y: y(end.value), label: "end"}];
  }

  return new PlotCard(store, selection, {
    title: "What the rule saw", name: "stop", height: 260, wide: true, prepare: () => ({}), paint,
    table: () => ({heads: [stop.by === "time" ? "Seconds" : "Step", stop.metric ?? "Value", "±"],
      rows: [...points.map(({at, value}) => [at, value, ""]), ...end ? [[Number(stop.end), end.value, end.deviation]] : []]}),
    describe: ({at, value, deviation}) => [["At", String(at)],
      [deviation === undefined ? "Value" : "Predicted", `${format.number(value)}${deviation === undefined ? "" : ` ± ${format.number(deviation)}`}`]],
  });
};
