// selection.js - what a reader of a study has picked: ranges brushed on axes,
// the trial under the pointer, trials marked for comparing. Every plot and the
// table of one page share it, so that each shows what was picked in another.

export class Selection {
  constructor() {
    this.ranges = new Map();  // key of a Dimension -> {dimension, low, high},
                              // infinite at an open end, or {dimension, values:
                              // Set} for categories
    this.hovered = null;      // id of a trial
    this.marked = new Set();  // ids, in the order of marking
    this.choices = new Map(); // what is chosen in menus and fields, by its name
                              // in an address (view_address.js)
    this.logs = new Map();    // key of a Dimension -> whether its axes are
                              // logarithmic, where the reader has said so
    this.watchers = new Set();
  }

  // Calls `changed(what)` with "ranges", "hovered", "marked", "scales" or the name
  // of a choice. Returns the function that ends it.
  watch(changed) {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  }

  tell(what) {
    for (const changed of [...this.watchers]) changed(what);
  }

  // `range`: {low, high} with both ends, or {values}; null takes it away.
  setRange(dimension, range) {
    if (range === null && !this.ranges.delete(dimension.key)) return;
    if (range !== null) this.ranges.set(dimension.key, {dimension, ...range});
    this.tell("ranges");
  }

  clearRanges() {
    if (this.ranges.size === 0) return;
    this.ranges.clear();
    this.tell("ranges");
  }

  hover(id) {
    if (this.hovered === id) return;
    this.hovered = id;
    this.tell("hovered");
  }

  // `text`: "" or null takes the choice away.
  choose(name, text) {
    if (text) this.choices.set(name, text);
    else this.choices.delete(name);
    this.tell(name);
  }

  setLog(dimension, isLog) {
    this.logs.set(dimension.key, isLog);
    this.tell("scales");
  }

  toggleMark(id) {
    if (!this.marked.delete(id)) this.marked.add(id);
    this.tell("marked");
  }

  clearMarks() {
    if (this.marked.size === 0) return;
    this.marked.clear();
    this.tell("marked");
  }

  // Whether the trial is in every range.
  accepts(trial) {
    for (const {dimension, low, high, values} of this.ranges.values()) {
      const value = dimension.of(trial);
      if (value === null || value === undefined) return false;
      if (values ? !values.has(value) : value < low || value > high) return false;
    }
    return true;
  }
}
