// plot_zoom.js - showing a part of a plot's axes: chosen by dragging, nearer and
// farther by the wheel, two fingers or keys.
//
// A page must scroll when the wheel or a finger passes over a plot: the wheel
// zooms with Ctrl or Meta only, as on maps, and one finger does nothing.
import {scaleOf} from "./plot_axes.js";

const DRAG = 6;     // pixels; less is a click
const LEAST = 1e-9; // of an axis; numbers have few more digits

export const ZOOM_HELP = [
  ["Drag", "shows a part"],
  ["Ctrl or ⌘ and the wheel, two fingers, + and −", "nearer and farther"],
  ["Shift while dragging, Shift and arrow keys", "moves the part"],
  ["Double click, 0", "the whole range"]];

// An axis between two pixels, a part of it seen; null: all of it.
class Direction {
  constructor(axis, [from, to]) {
    Object.assign(this, {from, to, share: scaleOf(axis, [0, 1])});
  }

  // What lies between two pixels while `part` is seen, within the axis.
  between(part, [from, to]) {
    const [first, last] = part?.map(this.share) ?? [0, 1];
    const [low, high] = [from, to].map(pixel => first + (pixel - this.from) / (this.to - this.from) * (last - first));
    const width = high - low;
    if (width >= 1) return null;
    if (width < LEAST) return part;
    const start = Math.min(1 - width, Math.max(0, low));
    return [this.share.invert(start), this.share.invert(start + width)];
  }
}

export class Zoomer {
  // `directions`: "xy" or "x". The part that is seen is area.view, and
  // area.zoom(view) shows another one.
  constructor(area, {inner, axes}, directions) {
    const right = inner.left + inner.width, bottom = inner.top + inner.height;
    Object.assign(this, {area, directions, inner});
    this.box = [[inner.left, inner.top], [right, bottom]];
    this.x = new Direction(axes.x, [inner.left, right]);
    this.y = directions === "x" ? null : new Direction(axes.y, [bottom, inner.top]);
  }

  // Between two corners in pixels.
  show([[left, top], [right, bottom]]) {
    const {view} = this.area;
    const x = this.x.between(view?.x, [left, right]) ?? null, y = this.y?.between(view?.y, [bottom, top]) ?? null;
    this.area.zoom(x === null && y === null ? null : {x, y});
  }

  // What is at pixel p goes to k * p + shift.
  move(k, shift) {
    this.show(this.box.map(corner => corner.map((pixel, i) => (pixel - shift[i]) / k)));
  }

  // k times as near, around a point: the middle, unless said.
  nearer(k, {x, y} = {x: this.inner.left + this.inner.width / 2, y: this.inner.top + this.inner.height / 2}) {
    this.move(k, [x * (1 - k), y * (1 - k)]);
  }

  // --- by the pointer ---

  listen(layer) {
    this.listenToBrush(layer);
    this.listenToZoom(layer);
    layer.style("touch-action", "pan-x pan-y").on("dblclick", () => this.area.zoom(null));
  }

  listenToBrush(layer) {
    const brush = (this.y ? d3.brush() : d3.brushX()).extent(this.box).touchable(false)
      .filter(() => !d3.event.button && !d3.event.ctrlKey && !d3.event.metaKey && !d3.event.shiftKey);
    brush.on("end", () => {
      const chosen = d3.event.selection;
      if (!chosen || !d3.event.sourceEvent) return;
      layer.call(brush.move, null);
      const [a, b] = this.y ? chosen : [[chosen[0], this.box[0][1]], [chosen[1], this.box[1][1]]];
      if (b[0] - a[0] > DRAG) this.show([a, b]);
    });
    layer.call(brush);
  }

  listenToZoom(layer) {
    let last = null;
    const zoom = d3.zoom().extent(this.box).touchable(true).filter(() => {
      const {type, touches, button, ctrlKey, metaKey, shiftKey} = d3.event;
      if (type === "wheel") return ctrlKey || metaKey;
      return touches ? touches.length > 1 : shiftKey && !button;
    });
    zoom.on("start", () => {
      last = d3.zoomTransform(layer.node());
    });
    zoom.on("zoom", () => {
      const {k, x, y} = d3.event.transform, by = k / last.k;
      this.move(by, [x - last.x * by, y - last.y * by]);
      last = d3.event.transform;
    });
    layer.call(zoom).on("dblclick.zoom", null);
  }
}

// Lets a part of the axes of what drawAxes() returned be shown.
export function zoomable(area, frame, directions = "xy") {
  const zoomer = new Zoomer(area, frame, directions);
  zoomer.listen(area.svg.select("g.brushes"));
  area.canZoom(zoomer);
}
