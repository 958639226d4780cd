// marks.js - how a trial looks in a plot: the shape and the colour of its state.
import {StudyStore} from "./store.js";
import * as format from "./format.js";

// Traces a shape of "radius" r around a point.
export const shapes = {
  circle(to, x, y, r) {
    to.moveTo(x + r, y);
    to.arc(x, y, r, 0, 2 * Math.PI);
  },
  square(to, x, y, r) {
    to.rect(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76);
  },
  triangle(to, x, y, r) {
    to.moveTo(x - r, y + r * 0.8);
    to.lineTo(x + r, y + r * 0.8);
    to.lineTo(x, y - r * 1.1);
    to.closePath();
  },
  diamond(to, x, y, r) {
    to.moveTo(x - r * 1.2, y);
    to.lineTo(x, y - r * 1.2);
    to.lineTo(x + r * 1.2, y);
    to.lineTo(x, y + r * 1.2);
    to.closePath();
  },
  plus(to, x, y, r) {
    to.moveTo(x - r * 1.1, y);
    to.lineTo(x + r * 1.1, y);
    to.moveTo(x, y - r * 1.1);
    to.lineTo(x, y + r * 1.1);
  },
  cross(to, x, y, r) {
    to.moveTo(x - r * 0.8, y - r * 0.8);
    to.lineTo(x + r * 0.8, y + r * 0.8);
    to.moveTo(x - r * 0.8, y + r * 0.8);
    to.lineTo(x + r * 0.8, y - r * 0.8);
  },
};

// Every trial is of one of these; `hollow` ones are drawn as outlines.
export const KINDS = {
  succeeded: {label: "succeeded", shape: shapes.circle, colour: "good"},
  stopped: {label: "stopped early", shape: shapes.square, colour: "warn"},
  confirming: {label: "confirms another", shape: shapes.diamond, colour: "accent", hollow: true},
  running: {label: "not ended", shape: shapes.triangle, colour: "run", hollow: true},
  failed: {label: "failed", shape: shapes.cross, colour: "bad", hollow: true},
  infeasible: {label: "infeasible", shape: shapes.plus, colour: "bad", hollow: true},
  cancelled: {label: "cancelled", shape: shapes.cross, colour: "idle", hollow: true},
};

export function kindOf(trial) {
  if (trial.confirms !== 0) return "confirming";
  if (StudyStore.hasResult(trial)) return trial.state === "STOPPED" ? "stopped" : "succeeded";
  if (trial.state === "INFEASIBLE") return "infeasible";
  if (trial.state === "FAILED" || trial.state === "SUCCEEDED") return "failed";
  return trial.state === "CANCELLED" || trial.state === "STOPPED" ? "cancelled" : "running";
}

// Calls `take` with `size` items after the other.
export function inChunks(items, size, take) {
  for (let from = 0; from < items.length; from += size) take(items.slice(from, from + size));
}

// In pixels, so that many can still be distinguished.
export const radiusFor = n => Math.max(1.2, Math.min(3.5, 3.5 * (400 / n) ** 0.3));

const TINY = 1.5; // pixels of radius; below it a square looks the same and is drawn many times faster

// The shape of marks that are points.
export const dotFor = radius => radius < TINY ? shapes.square : shapes.circle;

const PATH_MARKS = 500; // in one path; where several overlap it is darker

// Draws marks, [{x, y, trial}], equal looking ones together. `look(mark)`
// may give {colour, alpha}; what it leaves out is as the trial's state is.
export function drawMarks(pen, marks, theme, look = () => ({})) {
  const radius = radiusFor(marks.length);
  const groups = new Map();
  for (const mark of marks) {
    const kind = kindOf(mark.trial), {colour = theme[KINDS[kind].colour], alpha = 0.85} = look(mark);
    const key = `${kind} ${colour} ${alpha}`;
    if (!groups.has(key)) groups.set(key, {kind: KINDS[kind], colour, alpha, marks: []});
    groups.get(key).marks.push(mark);
  }
  // Faint ones first, so that they hide none.
  for (const group of [...groups.values()].sort((a, b) => a.alpha - b.alpha)) {
    const paint = group.kind.hollow ? {stroke: group.colour, width: 1.5} : {fill: group.colour};
    const shape = group.kind.shape === shapes.circle ? dotFor(radius) : group.kind.shape;
    inChunks(group.marks, PATH_MARKS, some =>
      pen.path(to => some.forEach(({x, y}) => shape(to, x, y, radius)), {...paint, alpha: group.alpha}));
  }
}

const BEST_RADIUS = 6; // pixels

// The best trial, in a colour that no other has. `mark`: undefined where it is not
// in the plot.
export function drawBest({pen, theme}, mark) {
  if (mark) pen.path(to => shapes.circle(to, mark.x, mark.y, BEST_RADIUS), {fill: theme.best, stroke: theme.card, width: 2});
}

// A tooltip for a trial: pairs of a label and a text.
export function describeTrial(store, trial) {
  const pairs = (names, values) => names.map((name, i) => [name, format.number(values[i])])
    .filter(([, text]) => text !== "");
  return [
    ["Trial", `${trial.id}, ${format.state(trial.state)}`],
    ...pairs(store.metrics, trial.metrics),
    ...pairs(store.parameters, trial.parameters),
    ...trial.reason ? [["Reason", trial.reason]] : []];
}
