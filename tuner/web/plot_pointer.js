// plot_pointer.js - what a plot shows about the mark under the pointer, or of the
// one that the arrow keys have reached, and how trials that are picked anywhere
// on the page are ringed here.
import {element, replace} from "./dom.js";
import {colours} from "./theme.js";

const REACH = 24; // pixels
const KEYS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10,
  Home: -Infinity, End: Infinity};
const NEARER = {"+": 1.5, "=": 1.5, "-": 1 / 1.5}; // "=" is the key of "+"
const MOVES = {ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
const MOVE = 60; // pixels

export const POINTER_HELP = [
  ["Pointer, arrow keys, Home, End", "describe a trial"],
  ["Click, Enter", "opens its page"],
  ["Shift and click, M", "marks it to be compared"]];

function ringMarks(group, marks, colour) {
  group.selectAll("circle").data(marks).join("circle").attr("class", "ring")
    .attr("cx", mark => mark.x).attr("cy", mark => mark.y).attr("r", 7).attr("stroke", colour);
}

// Of one painting and the next; a trial that changed is another object.
const isSame = (a, b) => a.trial?.id === b.trial?.id && a.label === b.label;

export class Pointer {
  constructor(card) {
    this.card = card;
    this.at = null;       // the mark that is described
    this.byTrial = null;  // made when they are first needed
    this.tree = null;
    this.order = null;
    const {ground} = card;
    this.touched = null;  // the mark that a finger met
    ground.addEventListener("pointermove", event => event.pointerType !== "touch" && this.moved(event));
    ground.addEventListener("pointerdown", event => this.down(event));
    ground.addEventListener("pointerleave", event => event.pointerType !== "touch" && this.leave());
    ground.addEventListener("blur", () => this.leave());
    ground.addEventListener("click", event => this.pressed(event));
    ground.addEventListener("keydown", event => this.key(event));
  }

  // The plot has been painted: the mark of the same trial is described.
  marksChanged() {
    this.byTrial = this.tree = this.order = null;
    if (this.at !== null) {
      const same = this.card.marks.find(mark => isSame(mark, this.at));
      if (same) this.tell(same, false);
      else this.leave();
    }
    this.showRings();
  }

  marksOf(id) {
    this.byTrial ??= this.index();
    return this.byTrial.get(id) ?? [];
  }

  index() {
    const found = new Map();
    for (const mark of this.card.marks) {
      const id = mark.trial?.id;
      if (found.has(id)) found.get(id).push(mark);
      else found.set(id, [mark]);
    }
    return found;
  }

  find(x, y) {
    const {marks, plot} = this.card;
    if (plot.find) return plot.find(x, y, marks);
    this.tree ??= d3.quadtree(marks, mark => mark.x, mark => mark.y);
    return this.tree.find(x, y, REACH) ?? null;
  }

  // --- by the pointer ---

  moved(event) {
    const box = this.card.ground.getBoundingClientRect();
    const mark = this.find(event.clientX - box.left, event.clientY - box.top);
    if (mark) this.tell(mark, false);
    else this.leave();
  }

  // A finger cannot hover: its first tap describes a mark, the next one is a click.
  down(event) {
    const before = this.at;
    this.touched = null;
    if (event.pointerType !== "touch" || event.target.closest(".brush-y")) return;
    this.moved(event);
    if (this.at !== null && (before === null || !isSame(this.at, before))) this.touched = this.at;
  }

  pressed(event) {
    const trial = this.at?.trial;
    if (!trial || this.touched !== null || event.target.closest(".brush-y")) return; // a click there takes a range away
    if (event.shiftKey) this.card.selection.toggleMark(trial.id);
    else this.open(trial);
  }

  open(trial) {
    location.hash = `#/studies/${this.card.store.id}/trials/${trial.id}`;
  }

  leave() {
    if (this.at === null) return;
    this.at = null;
    this.card.tip.hidden = true;
    this.card.selection.hover(null);
  }

  // --- by keys ---

  key(event) {
    if (event.target !== this.card.ground || event.ctrlKey || event.metaKey || event.altKey) return;
    const trial = this.at?.trial, {zoomer} = this.card;
    if (zoomer && event.shiftKey && MOVES[event.key]) zoomer.move(1, MOVES[event.key].map(part => part * MOVE));
    else if (zoomer && NEARER[event.key]) zoomer.nearer(NEARER[event.key], this.at ?? undefined);
    else if (zoomer && event.key === "0") this.card.zoom(null);
    else if (KEYS[event.key] !== undefined) this.step(KEYS[event.key]);
    else if (event.key === "Enter" && trial) this.open(trial);
    else if (event.key === "m" && trial) this.card.selection.toggleMark(trial.id);
    else if (event.key === "Escape") this.escape();
    else return;
    event.preventDefault();
  }

  escape() {
    if (this.at !== null) this.leave();
    else if (this.card.view !== null) this.card.zoom(null);
  }

  step(by) {
    const {marks} = this.card;
    if (marks.length === 0) return;
    this.order ??= marks.slice().sort((a, b) => (a.order ?? a.x) - (b.order ?? b.x) || a.y - b.y);
    const from = this.at === null ? (by > 0 ? -1 : 0) : this.order.findIndex(mark => isSame(mark, this.at));
    const last = this.order.length - 1;
    this.tell(this.order[Math.min(last, Math.max(0, from + by))], true);
  }

  // --- telling ---

  tell(mark, aloud) {
    const pairs = this.card.plot.describe(mark);
    const {tip} = this.card;
    this.at = mark;
    replace(tip, element("dl", {}, pairs.flatMap(([label, text]) =>
      [element("dt", {}, element("bdi", {}, label)), element("dd", {}, element("bdi", {}, text))])));
    tip.hidden = false;
    this.place(mark);
    if (aloud) this.card.spoken.textContent = pairs.map(([label, text]) => `${label} ${text}`).join(", ");
    this.card.selection.hover(mark.trial?.id ?? null);
    if (!mark.trial) this.showRings();
  }

  // Beside the mark, where there is room.
  place({x, y}) {
    const {tip, ground} = this.card;
    const right = x + 14 + tip.offsetWidth <= ground.clientWidth;
    tip.style.left = `${right ? x + 14 : Math.max(0, x - 14 - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(0, Math.min(y - 10, ground.clientHeight - tip.offsetHeight))}px`;
  }

  showRings() {
    const {selection, plot, svg} = this.card;
    const theme = colours();
    const marked = [...selection.marked].flatMap(id => this.marksOf(id));
    const hovered = selection.hovered !== null ? this.marksOf(selection.hovered) : this.at ? [this.at] : [];
    const ring = plot.ring ?? ringMarks;
    const groups = svg.select("g.rings").selectAll("g").data([[marked, theme.accent], [hovered, theme.text]]).join("g");
    groups.each(function draw([marks, colour]) {
      ring(d3.select(this), marks, colour);
    });
  }
}
