// plot_lost.js - steps of a curve whose values are not finite: the line breaks
// there, and a cross at the foot of the plot tells them.
import {shapes} from "./marks.js";

const HEIGHT = 6, RADIUS = 4; // pixels, above the axis of steps

// Marks for the lost steps [{step, value}] of a curve.
export function lostMarks(lost, {x, inner}) {
  return lost.map(({step, value}) => ({step, value, x: x(step), y: inner.top + inner.height - HEIGHT}));
}

export function drawLost(pen, marks, colour) {
  pen.path(to => marks.forEach(({x, y}) => shapes.cross(to, x, y, RADIUS)), {stroke: colour, width: 1.5});
}

// Traces a line through points [{step, x, y}], but not over a lost step.
export function traceUnbroken(to, points, lost) {
  const after = d3.bisector(({step}) => step).right;
  points.forEach(({step, x, y}, i) => {
    const isBroken = i === 0 || after(lost, step) > after(lost, points[i - 1].step);
    if (isBroken) to.moveTo(x, y);
    else to.lineTo(x, y);
  });
}

// "NaN at 5, 7", for tables.
export function lostText(lost) {
  return [...d3.group(lost, ({value}) => value)].map(([value, of]) => `${value} at ${of.map(({step}) => step).join(", ")}`)
    .join("; ");
}
