// plot_card.js - the frame of every plot: its title and controls, its drawing
// ground, what it shows under the pointer or by arrow keys, its text form, and
// saving it.
//
// A plot is drawn in a frame of the browser after the layout is known, only
// while it is on the screen, and again when its data, its size or the theme
// changes.
import {element, replace, notice, pairList} from "./dom.js";
import {CanvasPen} from "./pen.js";
import {colours, whenThemeChanges} from "./theme.js";
import {save} from "./plot_save.js";
import {showTable} from "./plot_table.js";
import {Pointer, POINTER_HELP} from "./plot_pointer.js";
import {ZOOM_HELP} from "./plot_zoom.js";

// --- when to draw ---

const FRAME_MS = 12; // of drawing, before what is drawn is shown
const due = new Set();
let frame = 0;

function drawDue() {
  const began = performance.now();
  frame = 0;
  for (const card of due) {
    due.delete(card);
    card.draw();
    if (performance.now() - began > FRAME_MS) break;
  }
  if (due.size > 0) frame ||= requestAnimationFrame(drawDue);
}

function drawSoon(card) {
  if (due.has(card)) return;
  card.ask(); // the server works while others are drawn
  due.add(card);
  frame ||= requestAnimationFrame(drawDue);
}

// --- the card ---

// What prepare() returns while an answer is under way: the plot keeps its place.
export const ASKING = {missing: "Asking the server …", waits: true};

export class PlotCard {
  // plot: {
  //   title, name (of saved files), wide: whether it takes a whole row,
  //   front: whether axes are above the marks,
  //   height: pixels, or a function (width, data),
  //   leastWidth(data): pixels, below which it is moved sideways to be seen,
  //   controls: elements beside the title,
  //   prepare(): what is to be drawn, {missing: why it cannot be} or ASKING,
  //   paint(area, data): draws, returns marks [{x, y, trial, label, order}]:
  //     label distinguishes those of one trial, order is that of the arrow keys,
  //     x where it is left out,
  //   summary(data): the line under the plot, or nothing,
  //   table(data): {heads, rows}: the same as text,
  //   describe(mark): pairs [label, text],
  //   find(x, y, marks), ring(group, marks): other ways to meet and to show a
  //     mark than by its point,
  //   follows: whether brushed ranges change it,
  //   help: pairs [what one does, what it does] beyond those of every plot,
  //   questions: [Question], what it needs of the server,
  //   end(): what is to be done when the card goes }
  // area: {pen, svg (d3 selection that is kept), width, height, theme, view,
  // zoom(view), canZoom(zoomer)}.
  constructor(store, selection, plot) {
    this.store = store;
    this.selection = selection;
    this.plot = plot;
    this.marks = [];
    this.data = null;
    this.view = null;    // what zooming left: {x: [low, high], y: [...]}, null
                         // in them for all of an axis
    this.zoomer = null;  // where the plot can be zoomed
    this.asText = false;
    this.dirty = false;
    this.visible = false;
    this.build();
    this.pointer = new Pointer(this);
    this.ends = [whenThemeChanges(() => this.changed()),
      selection.watch(what => this.picked(what))];
    this.watchSize();
  }

  build() {
    const {title} = this.plot;
    this.canvas = element("canvas", {ariaHidden: "true"});
    this.svg = d3.create("svg");
    this.svg.append("g").attr("class", "axes").attr("aria-hidden", "true");
    this.svg.append("g").attr("class", "brushes");
    this.svg.append("g").attr("class", "rings").attr("aria-hidden", "true");
    this.tip = element("div.tip", {hidden: true});
    this.ground = element("div.ground", {tabIndex: 0, role: "group", ariaLabel: title, ariaRoleDescription: "plot"},
      this.svg.node(), this.canvas, this.tip);
    // Before it is drawn, too: a plot that grows moves all below it.
    if (typeof this.plot.height === "number") this.ground.style.height = `${this.plot.height}px`;
    this.empty = element("p.missing", {hidden: true});
    this.text = element("div.scroll.as-text", {hidden: true});
    this.note = element("p.quiet.note");
    this.spoken = element("p.unseen", {role: "status"});
    this.reset = element("button", {hidden: true, onclick: () => this.zoom(null)}, "Whole range");
    this.toText = element("button", {ariaPressed: "false", onclick: () => this.turn()}, "As table");
    const saver = kind => element("button", {onclick: () => this.save(kind)}, `As ${kind}`);
    this.saving = element("details.menu", {}, element("summary.button", {}, "Save"),
      element("div.card", {}, saver("SVG"), saver("PNG")));
    this.zoomHelp = element("div", {}, pairList(ZOOM_HELP));
    this.help = element("details.menu.help", {},
      element("summary.button", {ariaLabel: `How to use the plot ${title}`}, "?"),
      element("div.card", {}, pairList([...this.plot.help ?? [], ...POINTER_HELP]), this.zoomHelp));
    this.element = element("section.card.plot", {ariaLabel: title},
      element("div.row.between", {},
        element("h2", {title}, title),
        element("div.row.tools", {}, this.plot.controls, this.reset, this.toText, this.saving, this.help)),
      this.plot.leastWidth ? element("div.sideways", {}, this.ground) : this.ground,
      this.empty, this.text, this.note, this.spoken);
    for (const looks of ["wide", "front"]) this.element.classList.toggle(looks, Boolean(this.plot[looks]));
  }

  watchSize() {
    let width = 0; // the height is the plot's own doing
    const sizes = new ResizeObserver(([{contentRect}]) => {
      if (contentRect.width !== width) this.changed();
      ({width} = contentRect);
    });
    const sight = new IntersectionObserver(entries => {
      this.visible = entries[entries.length - 1].isIntersecting;
      if (this.visible && this.dirty) drawSoon(this);
    }, {rootMargin: "200px"});
    sizes.observe(this.element);
    sight.observe(this.element);
    this.ends.push(() => sizes.disconnect(), () => sight.disconnect());
  }

  end() {
    for (const end of this.ends) end();
    for (const question of this.plot.questions ?? []) question.end();
    this.plot.end?.();
    due.delete(this);
  }

  // The data, the controls or the looks changed: draw again, when it is seen.
  changed() {
    this.dirty = true;
    if (this.visible) drawSoon(this);
  }

  picked(what) {
    if (what === "metric" || what === "scales") this.zoom(null);
    else if (what !== "ranges") this.pointer.showRings();
    else if (this.plot.follows) this.changed();
  }

  zoom(view) {
    this.view = view;
    this.changed();
  }

  // Between the plot and its text form.
  turn() {
    this.asText = !this.asText;
    this.toText.ariaPressed = String(this.asText);
    this.toText.textContent = this.asText ? "As plot" : "As table";
    this.changed();
  }

  ask() {
    for (const question of this.plot.questions ?? []) question.look();
  }

  draw() {
    this.dirty = false;
    this.data = this.plot.prepare();
    const {missing, waits = false} = this.data, bare = Boolean(missing) && !waits;
    this.empty.hidden = !missing;
    this.empty.textContent = missing ?? "";
    this.element.classList.toggle("bare", bare);
    this.element.classList.toggle("waits", waits);
    this.ground.hidden = bare || this.asText;
    this.text.hidden = Boolean(missing) || !this.asText;
    this.reset.hidden = this.view === null || this.asText;
    this.toText.hidden = Boolean(missing);
    this.saving.hidden = this.help.hidden = Boolean(missing) || this.asText;
    this.note.textContent = missing ? "" : this.plot.summary?.(this.data) ?? "";
    if (missing) this.marks = [];
    else if (this.asText) showTable(this.text, this.plot.table(this.data));
    else this.paint();
  }

  paint() {
    this.ground.style.minWidth = `${this.plot.leastWidth?.(this.data) ?? 0}px`;
    const size = this.size();
    this.ground.style.height = `${size.height}px`;
    this.canvas.style.width = `${size.width}px`;
    this.canvas.style.height = `${size.height}px`;
    this.svg.attr("width", size.width).attr("height", size.height);
    this.zoomer = null;
    this.marks = this.paintWith(new CanvasPen(this.canvas, size));
    this.zoomHelp.hidden = this.zoomer === null;
    this.ground.ariaLabel = `${this.plot.title}. ${this.note.textContent} Arrow keys go through the points.`;
    this.pointer.marksChanged();
  }

  size() {
    const width = Math.max(240, this.ground.clientWidth);
    const {height} = this.plot;
    return {width, height: typeof height === "function" ? height(width, this.data) : height};
  }

  // Returns the marks.
  paintWith(pen) {
    const card = this;
    return this.plot.paint({pen, svg: this.svg, ...this.size(), theme: colours(),
      get view() { return card.view; }, // it may change before the next painting
      zoom: view => this.zoom(view),
      canZoom: zoomer => { this.zoomer = zoomer; }}, this.data) ?? [];
  }

  async save(kind) {
    this.saving.open = false;
    try {
      await save(this, kind);
    } catch (problem) {
      notice(`The plot cannot be saved: ${problem.message}`, "error");
    }
  }
}

// Fills `root` with the plots that `makers` make, (store, selection) => a
// PlotCard, and keeps them up to date. Returns the function that ends it.
export function showPlots(root, store, selection, makers) {
  const cards = makers.map(make => make(store, selection));
  let seen = store.revision;
  root.classList.add("plots");
  replace(root, cards.map(card => card.element));
  const unwatch = store.watch(() => {
    if (store.revision === seen) return;
    seen = store.revision;
    for (const card of cards) card.changed();
  });
  for (const card of cards) card.changed();
  return () => {
    unwatch();
    for (const card of cards) card.end();
  };
}
