// plot_stop_curve.js - what a rule saw of a trial when it stopped it, and the
// end that it predicted.
import {PlotCard} from "./plot_card.js";
import {drawAxes, drawLegend, span, within} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {shapes} from "./marks.js";
import {traceLine} from "./pen.js";
import * as format from "./format.js";

const BAR_DASH = [6, 3];

// The prediction of the metric that the rule looked at; undefined without one.
const predictionOf = stop => [stop.predicted ?? []].flat().find(({metric}) => metric === stop.metric);

export const stopCurvePlot = stop => (store, selection) => {
  const points = stop.curve.map(([at, value]) => ({at, value}));
  const end = stop.end === undefined ? undefined : predictionOf(stop);

  // From the predicted end one deviation down and up.
  function drawEnd(pen, theme, {x, y}) {
    const at = x(Number(stop.end));
    pen.path(to => {
      to.moveTo(at, y(end.value - end.deviation));
      to.lineTo(at, y(end.value + end.deviation));
      shapes.diamond(to, at, y(end.value), 4);
    }, {stroke: theme.idle, width: 2});
  }

  function paint(area) {
    const {pen, theme} = area, hasBar = Number.isFinite(stop.threshold);
    const values = [...points.map(({value}) => value), stop.threshold, ...end ? [end.value - end.deviation, end.value + end.deviation] : []];
    const frame = drawAxes(area, {label: stop.by === "time" ? "seconds" : "step", integer: stop.by !== "time",
      ...span([...points.map(({at}) => at), ...end ? [Number(stop.end)] : []])},
    {label: stop.metric ?? "value", ...span(values)});
    const {x, y, inner} = frame, bar = y(stop.threshold);
    const marks = points.map(({at, value}) => ({at, value, x: x(at), y: y(value), label: at}));
    if (end) marks.push({at: Number(stop.end), value: end.value, deviation: end.deviation,
      x: x(Number(stop.end)), y: y(end.value), label: "end"});
    const seen = marks.slice(0, points.length);
    pen.inside(inner, () => {
      if (hasBar) pen.path(to => traceLine(to, [[inner.left, bar], [inner.left + inner.width, bar]]),
        {stroke: theme.warn, width: 1.5, dash: BAR_DASH});
      pen.path(to => traceLine(to, seen.map(mark => [mark.x, mark.y])), {stroke: theme.accent, width: 2});
      pen.path(to => seen.forEach(mark => shapes.circle(to, mark.x, mark.y, 2.5)), {fill: theme.accent});
      if (end) drawEnd(pen, theme, frame);
    });
    drawLegend(area, [{label: "seen", colour: theme.accent},
      ...hasBar ? [{label: "had to reach", colour: theme.warn, dash: BAR_DASH}] : [],
      ...end ? [{label: "predicted end", colour: theme.idle, shape: shapes.diamond, hollow: true}] : []]);
    zoomable(area, frame);
    return marks.filter(within(inner));
  }

  return new PlotCard(store, selection, {
    title: "What the rule saw", name: "stop", height: 260, wide: true, prepare: () => ({}), paint,
    table: () => ({heads: [stop.by === "time" ? "Seconds" : "Step", stop.metric ?? "Value", "±"],
      rows: [...points.map(({at, value}) => [at, value, ""]), ...end ? [[Number(stop.end), end.value, end.deviation]] : []]}),
    describe: ({at, value, deviation}) => [["At", String(at)],
      [deviation === undefined ? "Value" : "Predicted", `${format.number(value)}${deviation === undefined ? "" : ` ± ${format.number(deviation)}`}`]],
  });
};
