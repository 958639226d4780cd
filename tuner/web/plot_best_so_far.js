// plot_best_so_far.js - how the best result of several studies came, by the number
// of results: which search needs fewer trials.
import {PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {drawAxes, drawLegend, span, within, withoutOutliers} from "./plot_axes.js";
import {choice, logSwitch} from "./plot_controls.js";
import {zoomable} from "./plot_zoom.js";
import {shapes} from "./marks.js";
import {namesOf} from "./study_title.js";
import * as format from "./format.js";

const COLOURS = ["accent", "best", "good", "bad", "warn", "idle"]; // as many as are compared at most
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [12, 4], [4, 2]];
const DOT = 3; // pixels of radius

export const MOST_STUDIES = COLOURS.length;

// The goals that all of the studies have, with the same direction.
export function commonGoals(stores) {
  const [first, ...rest] = stores.map(store => dimensionsOf(store).metrics.filter(({goal, bound}) => goal !== null && bound === null));
  return (first ?? []).filter(goal => rest.every(goals => goals.some(other => other.key === goal.key && other.goal === goal.goal)));
}

// [{n, trial, value}] where a result was better than all before it; n counts results.
export function recordsOf(store, goal) {
  const metric = dimensionsOf(store).metrics.find(({key}) => key === goal.key), found = [];
  let n = 0;
  for (const trial of store.results) {
    const value = metric.place(trial);
    if (value === null || !store.isSafe(trial)) continue;
    n++;
    const before = found[found.length - 1];
    if (!before || goal.sign * (value - before.value) > 0) found.push({n, trial, value});
  }
  return {records: found, results: n};
}

function traceSteps(to, {records, results}, x, y) {
  records.forEach(({n, value}, i) => {
    if (i === 0) return to.moveTo(x(n), y(value));
    to.lineTo(x(n), y(records[i - 1].value));
    to.lineTo(x(n), y(value));
  });
  to.lineTo(x(results), y(records[records.length - 1].value));
}

export const bestSoFarPlot = stores => (store, selection) => {
  const goalChoice = choice(selection, "compare.metric", "Metric", () => card.zoom(null));
  const log = logSwitch("Log y", selection);

  function prepare() {
    const goal = goalChoice.pick(commonGoals(stores));
    if (!goal) return {missing: "The studies have no goal in common."};
    const lines = stores.map((one, i) => ({store: one, i, ...recordsOf(one, goal)})).filter(({results}) => results > 0);
    if (lines.length === 0) return {missing: "No trial has a result yet."};
    const values = lines.flatMap(({records}) => records.map(({value}) => value));
    log.offer(goal, values);
    return {goal, lines, range: span(withoutOutliers(values, goal.sign, log.on), log.on)};
  }

  function paint(area, {goal, lines, range}) {
    const most = d3.max(lines, ({results}) => results);
    const frame = drawAxes(area, {label: "results", low: 0, high: most * 1.02 + 0.5, integer: true},
      {label: goal.name, log: log.on, ...range});
    const {x, y, inner} = frame, colourOf = ({i}) => area.theme[COLOURS[i]];
    const marks = lines.flatMap(line => line.records.map(({n, trial, value}) => ({line, n, id: trial.id, value, label: `${line.store.key} ${n}`,
      x: x(n), y: y(value)})));
    area.pen.inside(inner, () => {
      for (const line of lines)
        area.pen.path(to => traceSteps(to, line, x, y), {stroke: colourOf(line), width: 2, dash: DASHES[line.i]});
      for (const mark of marks)
        area.pen.path(to => shapes.circle(to, mark.x, mark.y, DOT), {fill: colourOf(mark.line)});
    });
    drawLegend(area, lines.map(line => ({label: line.store.title, colour: colourOf(line), dash: DASHES[line.i]})));
    zoomable(area, frame);
    return marks.filter(within(inner));
  }

  const card = new PlotCard(store, selection, {
    title: "Best so far", name: "best-so-far", height: 380, wide: true, controls: [goalChoice.element, log.element], prepare, paint,
    table: ({goal, lines}) => ({heads: ["Study", "Result", "Trial", goal.name],
      rows: lines.flatMap(({store: one, records}) => records.map(({n, trial, value}) => [namesOf(one.job).join(" "), n, trial.id, value]))}),
    describe: ({line, n, id, value}) => [["Study", line.store.title], ["Trial", `${id}, result ${n}`],
      [card.data.goal.name, format.number(value)]],
  });
  return card;
};
