// pen.js - what plots draw their marks with: on a canvas, which is fast, or as
// an SVG, which can be saved.
//
// path(trace, look): trace(context) gets what moveTo, lineTo, arc, rect and
// closePath can be called on; look: {fill, stroke, width, alpha, dash}. A width
// of HAIR is the thinnest line there is, which a canvas draws many times faster
// than any other.
const SVG = "http://www.w3.org/2000/svg";

// Traces a line through [x, y] after [x, y].
export function traceLine(to, points) {
  points.forEach(([x, y], i) => i === 0 ? to.moveTo(x, y) : to.lineTo(x, y));
}

const LEAST_STEP = 0.5; // pixels

// The line without points that cannot be seen beside the one before.
export function thinLine(points) {
  let [atX, atY] = [NaN, NaN];
  return points.filter(([x, y], i) => {
    if (Math.abs(x - atX) < LEAST_STEP && Math.abs(y - atY) < LEAST_STEP && i < points.length - 1) return false;
    [atX, atY] = [x, y];
    return true;
  });
}

// The same as the "d" of an SVG path.
export function lineText(points) {
  const to = d3.path();
  traceLine(to, points);
  return to.toString();
}

export const HAIR = 0;
const HAIR_IN_SVG = 0.6;

export class CanvasPen {
  // `size`: {width, height} in CSS pixels.
  constructor(canvas, size) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(size.width * ratio);
    canvas.height = Math.round(size.height * ratio);
    this.context = canvas.getContext("2d");
    this.context.scale(ratio, ratio);
    this.hair = 1 / ratio;
  }

  path(trace, {fill, stroke, width = 1, alpha = 1, dash = []}) {
    const context = this.context;
    context.globalAlpha = alpha;
    context.beginPath();
    trace(context);
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (!stroke) return;
    context.strokeStyle = stroke;
    context.lineWidth = width === HAIR ? this.hair : width;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.stroke();
  }

  // What `draw()` draws is seen inside the box only.
  inside({left, top, width, height}, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(left, top, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

function make(parent, name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(key, value);
  return parent.appendChild(made);
}

let clips = 0;

export class SvgPen {
  // Draws into an element of an SVG.
  constructor(parent) {
    this.parent = parent;
  }

  path(trace, {fill, stroke, width = 1, alpha = 1, dash = []}) {
    const line = d3.path();
    trace(line);
    make(this.parent, "path", {d: line.toString(), fill: fill ?? "none", stroke,
      "stroke-width": stroke ? width || HAIR_IN_SVG : undefined, "stroke-linejoin": stroke ? "round" : undefined,
      "stroke-dasharray": dash.length > 0 ? dash.join(" ") : undefined,
      opacity: alpha < 1 ? alpha : undefined});
  }

  inside({left, top, width, height}, draw) {
    const id = `clip-${++clips}`, outer = this.parent;
    make(make(outer, "clipPath", {id}), "rect", {x: left, y: top, width, height});
    this.parent = make(outer, "g", {"clip-path": `url(#${id})`});
    draw();
    this.parent = outer;
  }
}
