// table.js - a table of any length: only the rows in sight are in the page.
//
// It is a grid for keyboard and readers of screens: arrows go through the rows,
// Enter opens one, the space bar marks it, f makes it a favourite or no longer.
import {element, replace} from "./dom.js";
import * as format from "./format.js";

const ROW = 33;      // pixels, as style.css has it
const AHEAD = 4;     // rows beyond the edges
const SAMPLE = 300;  // rows that decide how wide a column is
const PADDING = 22, NARROW = 50, ROOMY = 140, WIDE = 300; // pixels; beyond ROOMY a column gives way to others
const GOLDEN = 0.618;
const MARK = 40, STAR = 30; // pixels of the column of marks, and of a star there
const BRIEF = {below: 560, row: 58}; // pixels: of the table, where a row has two lines, and of such a row
const KEYS = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity};
const order = new Intl.Collator(undefined, {numeric: true});
let grids = 0;

// Numbers before texts, what is absent at the end whichever way it goes.
function compare(a, b, down) {
  const missing = value => value === null || value === undefined || value === "" || Number.isNaN(value);
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  const numbers = typeof a === "number" && typeof b === "number";
  const way = numbers ? a - b : typeof a === typeof b ? order.compare(a, b) : typeof a === "number" ? -1 : 1;
  return down ? -way : way;
}

const plain = value => format.number(value);

// The pixels from which columns give way where all fit into `room` then.
function widest(widths, room) {
  let most = WIDE;
  const sum = () => widths.reduce((all, width) => all + Math.min(width, most), 0);
  while (most > ROOMY && sum() > room) most -= 10;
  return sum() > room ? WIDE : most;
}

// Makes `nodes` the children of `parent`; nodes that stay are not touched.
function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...parent.childNodes]) if (!wanted.has(node)) node.remove();
  let at = parent.firstChild;
  for (const node of nodes) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
}

function hiddenColumns(name) {
  try {
    return new Set(JSON.parse(localStorage.getItem(`hypertune.columns.${name}`)) ?? []);
  } catch {
    return new Set(); // nothing is stored, or nothing may be
  }
}

function rememberHidden(name, hidden) {
  try {
    localStorage.setItem(`hypertune.columns.${name}`, JSON.stringify([...hidden]));
  } catch {
    // the choice holds for this page alone
  }
}

export class Table {
  // options: {
  //   name: of the remembered choice of columns; label: accessible name,
  //   key(row): its identity; href(row): where it leads, null: nowhere,
  //   columns: [{key, label, value(row): what it is sorted by and saved as, saved?:
  //     the label in a file, letters?: its width, down?: sorted downwards first,
  //     show(row)?: text or element, text by default, number?: right-aligned,
  //     hidden?: unless it is chosen, brief?: whether it is there in a narrow window,
  //     below the first column}],
  //   sort: {key, down}; sorted?(sort): what is to be done when the reader has changed it,
  //   marks?: {has(key), toggle(key)}, hover?(key or null),
  //   stars?: {has(row), toggle?(row): left out where the reader may not},
  //   look?(row): class of the row, empty: what is shown without rows }
  constructor(options) {
    Object.assign(this, {key: row => row.id, href: () => null, marks: null, stars: null, hover: () => {}, look: () => "", sorted: () => {},
      empty: "Nothing to show.", ...options});
    this.id = `table${++grids}`;
    this.rows = [];    // in the order that they are shown in
    this.made = new Map(); // rows in the page, by key
    this.active = null; // key of the row that the arrows have reached
    this.frame = 0;
    this.held = false; // a button of the pointer is down on a row
    this.isBrief = false;
    this.release = () => this.released();
    this.build();
    this.setColumns(this.columns);
  }

  build() {
    this.head = element("thead");
    this.body = element("tbody");
    this.widths = element("colgroup");
    this.grid = element("table", {role: "grid", ariaLabel: this.label, tabIndex: 0, id: this.id,
      onkeydown: event => this.pressed(event)}, this.widths, this.head, this.body);
    this.missing = element("p.missing", {hidden: true}, this.empty);
    this.scroller = element("div.scroll.long", {onscroll: () => this.drawSoon()}, this.grid, this.missing);
    this.chooser = element("details.menu", {}, element("summary.button", {}, "Columns"));
    this.element = this.scroller;
    this.body.addEventListener("pointerover", event => this.hover(this.keyOf(event)));
    this.body.addEventListener("pointerleave", () => this.hover(null));
    this.body.addEventListener("pointerdown", () => { this.held = true; });
    this.body.addEventListener("click", event => this.clicked(event));
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, this.release);
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.scroller);
  }

  end() {
    this.sizes.disconnect();
    for (const end of ["pointerup", "pointercancel"]) window.removeEventListener(end, this.release);
    cancelAnimationFrame(this.frame);
  }

  // --- columns ---

  setColumns(columns) {
    this.columns = columns;
    const stored = this.name ? hiddenColumns(this.name) : new Set();
    this.hidden = new Set(columns.filter(({key, hidden}) => stored.has(hidden ? `+${key}` : key) !== Boolean(hidden))
      .map(({key}) => key));
    this.showChooser();
    this.showHead();
  }

  get seen() { return this.columns.filter(({key}) => !this.hidden.has(key)); }
  get row() { return this.isBrief ? BRIEF.row : ROW; }

  // The first column leads to what a row is about, so it is always there.
  showChooser() {
    const open = this.chooser.open;
    replace(this.chooser, this.chooser.firstChild, element("div.card", {}, this.columns.slice(1).map(({key, label}) =>
      element("label.choice", {}, element("input", {type: "checkbox", checked: !this.hidden.has(key),
        onchange: event => this.choose(key, event.target.checked)}), " ", element("bdi", {}, label)))));
    this.chooser.open = open;
  }

  choose(key, shown) {
    if (shown) this.hidden.delete(key);
    else this.hidden.add(key);
    // What is stored differs from what a column is by itself.
    rememberHidden(this.name, this.columns.filter(column => this.hidden.has(column.key) !== Boolean(column.hidden))
      .map(column => column.hidden ? `+${column.key}` : column.key));
    this.showHead();
    this.draw();
  }

  showHead() {
    const {key, down} = this.sort ?? {};
    const button = column => element("button.plain", {onclick: () => this.sortBy(column)}, element("bdi", {}, column.label),
      column.key === key ? (down ? " ▾" : " ▴") : "");
    const head = column => element(column.number ? "th.number" : "th", {scope: "col", title: column.label,
      ariaSort: column.key === key ? (down ? "descending" : "ascending") : "none"}, button(column));
    const heads = this.isBrief ? [element("th", {scope: "col"}, this.briefly().map(button))] : this.seen.map(head);
    replace(this.head, element("tr", {ariaRowIndex: 1},
      this.marks && element("th", {scope: "col"}, element("span.unseen", {}, "Marked")), heads));
    this.grid.ariaColCount = heads.length + (this.marks ? 1 : 0);
    this.made.clear();
    this.measure();
  }

  // The columns of a narrow window.
  briefly() { return this.columns.filter(({brief}, i) => i === 0 || brief); }

  // The longest text of a column, of some rows.
  longest(column) {
    if (column.letters) return "0".repeat(column.letters);
    const step = Math.max(1, this.rows.length / SAMPLE);
    let longest = "";
    for (let i = 0; i * step < this.rows.length; i++) {
      // Not at equal distances, since what is rare may come at equal ones, too.
      const at = Math.floor((i + i * GOLDEN % 1) * step);
      const text = plain(column.value(this.rows[Math.min(at, this.rows.length - 1)]));
      if (text.length > longest.length) longest = text;
    }
    return longest;
  }

  // Widths do not change while one scrolls.
  measure() {
    if (this.isBrief) {
      replace(this.widths, this.marks && element("col", {style: {width: `${this.markWidth()}px`}}), element("col"));
      this.grid.style.minWidth = "0";
      return;
    }
    const ruler = document.createElement("canvas").getContext("2d"), {font} = getComputedStyle(document.body);
    const wide = (text, weight) => {
      ruler.font = `${weight} ${font}`;
      return ruler.measureText(text).width;
    };
    const widths = this.seen.map(column => PADDING + Math.ceil(Math.max(NARROW - PADDING, wide(`${column.label} ▾`, 600),
      wide(this.longest(column), 400))));
    if (this.marks) widths.unshift(this.markWidth());
    const most = widest(widths, this.scroller.clientWidth);
    replace(this.widths, widths.map(width => element("col", {style: {width: `${Math.min(most, width)}px`}})));
    this.grid.style.minWidth = `${widths.reduce((sum, width) => sum + Math.min(most, width), 0)}px`;
  }

  markWidth() { return MARK + (this.stars ? STAR : 0); }

  resized() {
    if (this.measured !== this.scroller.clientWidth) this.measure();
    this.measured = this.scroller.clientWidth;
    this.drawSoon();
  }

  // Rows of two lines or of one, as there is room; as they are while it is not known.
  fold() {
    const {clientWidth} = this.scroller, isBrief = clientWidth < BRIEF.below && this.columns.some(({brief}) => brief);
    if (clientWidth === 0 || isBrief === this.isBrief) return;
    this.isBrief = isBrief;
    this.scroller.classList.toggle("brief", isBrief);
    this.chooser.hidden = isBrief;
    this.showHead();
  }

  sortBy(column) {
    const down = this.sort?.key === column.key ? !this.sort.down : Boolean(column.down);
    this.sort = {key: column.key, down};
    this.showHead();
    this.head.querySelectorAll("button")[(this.isBrief ? this.briefly() : this.seen).indexOf(column)].focus();
    this.show(this.rows);
    this.sorted(this.sort);
  }

  // --- rows ---

  // Shows these, sorted; where it was scrolled to stays.
  show(rows) {
    const column = this.columns.find(({key}) => key === this.sort?.key);
    const before = this.rows.length;
    this.rows = rows;
    if (column) {
      const values = new Map(rows.map(row => [row, column.value(row)]));
      this.rows = rows.slice().sort((a, b) => compare(values.get(a), values.get(b), this.sort.down));
    }
    this.grid.ariaRowCount = this.rows.length + 1;
    this.made.clear();
    this.grid.hidden = this.rows.length === 0;
    this.missing.hidden = this.rows.length > 0;
    if (before !== this.rows.length) this.measure();
    this.draw();
  }

  drawSoon() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  // A click needs the element that it began on, so no row is drawn anew until
  // it is through.
  released() {
    if (!this.held) return;
    this.held = false;
    this.drawSoon();
  }

  draw() {
    if (this.held) return;
    this.fold();
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.row) - AHEAD);
    const n = Math.ceil((this.scroller.clientHeight || 600) / this.row) + 2 * AHEAD;
    const last = Math.min(this.rows.length, first + n);
    const gap = count => count > 0 ? [element("tr.gap", {ariaHidden: "true"},
      element("td", {style: {height: `${count * this.row}px`}}))] : [];
    const made = new Map();
    for (let at = first; at < last; at++) {
      const row = this.rows[at], key = this.key(row);
      made.set(key, this.made.get(key) ?? this.makeRow(row, key, at));
      this.dress(made.get(key), row, key);
    }
    this.made = made;
    arrange(this.body, [...gap(first), ...made.values(), ...gap(this.rows.length - last)]);
    this.tellActive();
  }

  // The first of its columns, and below it the others.
  briefCell(row, href) {
    const text = column => column.show ? column.show(row) : plain(column.value(row));
    const [first, ...others] = this.briefly();
    return element("td", {}, element("div", {}, element("a", {href, tabIndex: -1}, text(first))),
      element("div.row", {}, others.map(text).filter(shown => shown !== "").map(shown => element("span", {}, shown))));
  }

  // What marks and stars it.
  markCell(row, key) {
    const star = this.stars && (this.stars.toggle ? element("button.plain.star", {tabIndex: -1, ariaLabel: `Favourite ${key}`}) : element("span.star"));
    return element("td", {}, element("input", {type: "checkbox", tabIndex: -1, ariaLabel: `Mark ${key}`}), star);
  }

  makeRow(row, key, at) {
    const {seen} = this, href = this.href(row);
    const show = (column, i) => {
      const value = column.value(row), shown = column.show ? column.show(row) : plain(value);
      const whole = typeof shown === "string" && (shown.length > 12 || shown !== String(value ?? "")) ? value : null;
      return element(column.number ? "td.number" : "td", {title: whole},
        i === 0 && href ? element("a", {href, tabIndex: -1}, shown) : shown);
    };
    return element("tr", {id: `${this.id}-${key}`, ariaRowIndex: at + 2, data: {key}},
      this.marks && this.markCell(row, key), this.isBrief ? this.briefCell(row, href) : seen.map(show));
  }

  // What changes of a row that stays.
  dress(made, row, key) {
    made.className = [this.look(row), key === this.active && "active"].filter(Boolean).join(" ");
    if (!this.marks) return;
    const marked = this.marks.has(key);
    made.ariaSelected = String(marked);
    made.querySelector("input").checked = marked;
    const star = this.stars && made.querySelector(".star");
    if (!star) return;
    star.textContent = this.stars.has(row) ? "★" : this.stars.toggle ? "☆" : "";
    if (this.stars.toggle) star.ariaPressed = String(this.stars.has(row));
  }

  // --- pointer and keys ---

  keyOf(event) {
    const at = this.indexOf(event.target.closest("tr")?.dataset.key);
    return at < 0 ? null : this.key(this.rows[at]);
  }

  indexOf(key) { return this.rows.findIndex(row => String(this.key(row)) === String(key)); }

  clicked(event) {
    const key = this.keyOf(event);
    if (key === null) return;
    if (event.target.matches("input[type=checkbox]")) this.marks.toggle(key);
    if (event.target.matches("button.star")) this.stars.toggle(this.rows[this.indexOf(key)]);
    if (!event.target.closest("a, button")) this.goTo(key, false);
  }

  pressed(event) {
    if (event.target !== this.grid || event.ctrlKey || event.metaKey || event.altKey) return;
    if (KEYS[event.key] !== undefined) this.step(KEYS[event.key]);
    else if (event.key === "Enter" && this.active !== null) this.open();
    else if (event.key === "f" && this.stars?.toggle && this.active !== null) this.stars.toggle(this.rows[this.indexOf(this.active)]);
    else if ((event.key === " " || event.key === "m") && this.marks && this.active !== null) this.marks.toggle(this.active);
    else return;
    event.preventDefault();
  }

  open() {
    const href = this.href(this.rows[this.indexOf(this.active)] ?? null);
    if (href) location.hash = href;
  }

  step(by) {
    if (this.rows.length === 0) return;
    const from = this.active === null ? (by > 0 ? -1 : 0) : this.indexOf(this.active);
    this.goTo(this.key(this.rows[Math.max(0, Math.min(this.rows.length - 1, from + by))]));
  }

  // Makes the row active; false when it is not among those shown.
  goTo(key, scrolls = true) {
    const at = this.indexOf(key);
    if (at < 0) return false;
    this.active = this.key(this.rows[at]);
    const head = this.head.offsetHeight, {scrollTop, clientHeight} = this.scroller;
    if (scrolls && at * this.row < scrollTop) this.scroller.scrollTop = at * this.row;
    else if (scrolls && (at + 1) * this.row > scrollTop + clientHeight - head)
      this.scroller.scrollTop = (at + 1) * this.row - clientHeight + head;
    this.draw();
    return true;
  }

  tellActive() {
    const row = this.active === null ? null : this.body.querySelector("tr.active");
    if (row) this.grid.setAttribute("aria-activedescendant", row.id);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  // --- saving ---

  // The rows that are shown, with the columns that are seen.
  records() {
    const {seen} = this;
    return this.rows.map(row => Object.fromEntries(seen.map(column => [column.saved ?? column.label, column.value(row) ?? null])));
  }

  csv() {
    const lines = [this.seen.map(({saved, label}) => saved ?? label), ...this.rows.map(row => this.seen.map(({value}) => value(row)))];
    return lines.map(csvLine).join("");
  }
}

const isNumber = text => text.trim() === text && text !== "" && Number.isFinite(Number(text));

function csvField(value) {
  const text = value === null || value === undefined ? "" : String(value);
  // What a spreadsheet would take for a formula is made a text.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !isNumber(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// A line of CSV from its values.
export const csvLine = values => `${values.map(csvField).join(",")}\n`;

// Gives the reader a file.
export function download(name, type, text) {
  const link = element("a", {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
