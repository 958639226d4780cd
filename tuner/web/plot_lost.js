// plot_lost.js - steps of a curve whose values are not finite: the line breaks
// there, and a cross at the foot of the plot marks them.
import {shapes} from "./marks.js";
import {within} from "./plot_axes.js";

const HEIGHT = 6, RADIUS = 4; // pixels, above the axis of steps
const DOT = 1.5;              // half the length of a dot

// Marks for the lost steps [{step, value}] of a curve.
export function lostMarks(lost, {x, inner}) {
  return lost.map(({step, value}) => ({step, value, x: x(step), y: inner.top + inner.height - HEIGHT}));
}

// Whole ones also at the edge of the box, where lines end.
export function drawLost({pen, theme}, inner, marks) {
  const seen = marks.filter(within(inner));
  pen.path(to => seen.forEach(({x, y}) => shapes.cross(to, x, y, RADIUS)), {stroke: theme.bad, width: 1.5});
}

// Traces a line through points [{step, x, y}], but not over a lost step; a point
// between two of them is a dot.
export function traceUnbroken(to, points, lost) {
  const after = d3.bisector(({step}) => step).right;
  const gaps = points.map(({step}) => after(lost, step));
  points.forEach(({x, y}, i) => {
    const goesOn = i > 0 && gaps[i] === gaps[i - 1], isLast = gaps[i] !== gaps[i + 1];
    if (goesOn) to.lineTo(x, y);
    else to.moveTo(isLast ? x - DOT : x, y);
    if (!goesOn && isLast) to.lineTo(x + DOT, y);
  });
}

// "NaN at 5, 7", for tables.
export function lostText(lost) {
  return [...d3.group(lost, ({value}) => value)].map(([value, of]) => `${value} at ${of.map(({step}) => step).join(", ")}`)
    .join("; ");
}
