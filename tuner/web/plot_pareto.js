// plot_pareto.js - two metrics against each other, and the trials that no other
// one beats in both.
import {PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {drawAxes, drawLegend, span, within} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {choice, logSwitch} from "./plot_controls.js";
import {describeTrial, drawMarks, shapes} from "./marks.js";
import * as format from "./format.js";

// The trials that none beats in x and y, by rising x.
function frontOf(trials, x, y) {
  const sorted = trials.slice().sort((a, b) =>
    x.sign * (x.of(b) - x.of(a)) || y.sign * (y.of(b) - y.of(a)));
  const front = [];
  let best = -Infinity;
  for (const trial of sorted) {
    const value = y.sign * y.of(trial);
    if (value > best) front.push(trial);
    best = Math.max(best, value);
  }
  return front.sort((a, b) => x.of(a) - x.of(b));
}

// Steps along what is reached for sure: between two trials of the front nothing
// better than the worse of both in y.
function traceFront(to, points, corner) {
  points.forEach((point, i) => {
    if (i === 0) return to.moveTo(point.x, point.y);
    const [x, y] = corner(points[i - 1], point);
    to.lineTo(x, y);
    to.lineTo(point.x, point.y);
  });
}

function traceBounds(to, {x, y, inner}, xMetric, yMetric) {
  if (xMetric.bound !== null) {
    to.moveTo(x(xMetric.bound), inner.top);
    to.lineTo(x(xMetric.bound), inner.top + inner.height);
  }
  if (yMetric.bound !== null) {
    to.moveTo(inner.left, y(yMetric.bound));
    to.lineTo(inner.left + inner.width, y(yMetric.bound));
  }
}

const withBound = (metric, trials) => [...trials.map(trial => metric.of(trial)),
  ...metric.bound === null ? [] : [metric.bound]];

function labelOf({name, bound, sign}) {
  return `${name} (${bound !== null ? "to be kept" : sign < 0 ? "min" : "max"})`;
}

export function paretoPlot(store, selection) {
  const xChoice = choice(selection, "pareto.x", "x", () => card.zoom(null), 1);
  const yChoice = choice(selection, "pareto.y", "y", () => card.zoom(null), 0);
  const logX = logSwitch("Log x", selection), logY = logSwitch("Log y", selection);

  function prepare() {
    const {metrics} = dimensionsOf(store);
    const x = xChoice.pick(metrics), y = yChoice.pick(metrics);
    const trials = store.results.filter(trial => x.place(trial) !== null && y.place(trial) !== null);
    if (trials.length === 0) return {missing: "No result has both metrics yet."};
    logX.offer(x, withBound(x, trials));
    logY.offer(y, withBound(y, trials));
    const safe = trials.filter(trial => store.isSafe(trial));
    const isFront = x !== y && x.bound === null && y.bound === null;
    return {x, y, trials, safe: new Set(safe), front: isFront ? frontOf(safe, x, y) : [],
      optimal: new Set((store.status.optimal ?? []).map(Number))};
  }

  function paint(area, {x: xMetric, y: yMetric, trials, safe, front, optimal}) {
    const {pen, theme} = area;
    const frame = drawAxes(area,
      {label: labelOf(xMetric), log: logX.on, ...span(withBound(xMetric, trials), logX.on)},
      {label: labelOf(yMetric), log: logY.on, ...span(withBound(yMetric, trials), logY.on)});
    const place = trial => ({trial, x: frame.x(xMetric.of(trial)), y: frame.y(yMetric.of(trial))});
    const marks = trials.map(place), best = marks.filter(({trial}) => optimal.has(trial.id));
    const corner = (a, b) => xMetric.sign > 0 ? [a.x, b.y] : [b.x, a.y];
    const look = ({trial}) => !selection.accepts(trial) ? {colour: theme.idle, alpha: 0.12}
      : safe.has(trial) ? {colour: theme.idle, alpha: 0.6} : {colour: theme.bad, alpha: 0.35};
    pen.inside(frame.inner, () => {
      drawMarks(pen, marks, theme, look);
      pen.path(to => traceFront(to, front.map(place), corner), {stroke: theme.accent, width: 1.5});
      pen.path(to => traceBounds(to, frame, xMetric, yMetric), {stroke: theme.bad, dash: [5, 4]});
      pen.path(to => best.forEach(mark => shapes.diamond(to, mark.x, mark.y, 5)), {fill: theme.accent});
    });
    drawLegend(area, [{label: "result", colour: theme.idle, shape: shapes.circle},
      ...best.length > 0 ? [{label: "none beats it", colour: theme.accent, shape: shapes.diamond}] : [],
      ...front.length > 1 ? [{label: "front of these two", colour: theme.accent}] : [],
      ...safe.size < trials.length ? [{label: "out of bounds", colour: theme.bad, shape: shapes.circle}] : []]);
    zoomable(area, frame);
    return marks.filter(within(frame.inner));
  }

  const card = new PlotCard(store, selection, {
    title: "Pareto front", name: "pareto", height: 320, follows: true,
    controls: [xChoice.element, yChoice.element, logX.element, logY.element], prepare, paint,
    summary: ({trials, safe, optimal}) =>
      `No other trial beats ${optimal.size} of ${format.plural(trials.length, "result")} in all goals` +
      (safe.size < trials.length ? `; ${trials.length - safe.size} are out of bounds.` : "."),
    table: ({x, y, trials, safe, optimal}) => ({heads: ["Trial", y.name, x.name, "Beaten by none", "Within bounds"],
      rows: trials.map(trial => [trial.id, y.of(trial), x.of(trial),
        optimal.has(trial.id) ? "yes" : "", safe.has(trial) ? "yes" : "no"])
        .sort((a, b) => (b[3] === "yes") - (a[3] === "yes"))}),
    describe: ({trial}) => describeTrial(store, trial),
  });
  return card;
}
