// view_address.js - what a reader has picked of a study as the query of the page's
// address, so that a link opens the same view:
//
//   #/studies/7/trials?filter=lr<0.1&sort=-auc&marks=3,7&parameter:lr=0.001..0.01
//
// A query has all that is picked on its tab; an address without one leaves it as it
// is. What is named there and does not exist is left out.
import {allDimensions} from "./dimension.js";

const PAUSE_MS = 350; // browsers refuse more than 100 changes of an address in 30 s
const LEAVING = ["click", "keydown"];

// Numbers of trials of the study, by commas.
export function readTrials(text, store) {
  return [...new Set((text ?? "").split(",").map(Number))].filter(id => store.trial(id));
}

// --- the table of what is in an address ---

// A text of the selection's choices, on one tab or on all; `kind` begins it there,
// and not in the address.
const choice = (name, tab = null, kind = "") => ({
  tab,
  write: ({choices}) => choices.has(name) ? [[name, choices.get(name).slice(kind.length)]] : [],
  read({choices}, query) {
    choices.delete(name);
    if (query.get(name)) choices.set(name, kind + query.get(name));
  },
});

const marks = {
  tab: null,
  write: ({marked}) => marked.size > 0 ? [["marks", [...marked].join(",")]] : [],
  read(selection, query, store) {
    selection.marked = new Set(readTrials(query.get("marks"), store));
  },
};

// Of numbers "low..high", an end that is open left out; of categories each of them.
function readRange({isCategory, values}, texts) {
  if (isCategory) {
    const known = texts.filter(text => values.includes(text));
    return known.length > 0 ? {values: new Set(known)} : null;
  }
  const ends = (texts[0] ?? "").split("..").map(end => end.trim());
  const [low, high] = ends.map((end, i) => end === "" ? [-Infinity, Infinity][i] : Number(end));
  const isRange = ends.length === 2 && ends.some(Boolean) && ends.every(end => end === "" || Number.isFinite(Number(end)));
  return isRange && low <= high ? {low, high} : null;
}

const endText = end => Number.isFinite(end) ? String(end) : "";

const ranges = {
  tab: null,
  write: selection => [...selection.ranges].flatMap(([key, {low, high, values}]) =>
    values ? [...values].map(value => [key, value]) : [low, high].some(Number.isFinite) ? [[key, `${endText(low)}..${endText(high)}`]] : []),
  read(selection, query, store) {
    const dimensions = new Map(allDimensions(store).map(dimension => [dimension.key, dimension]));
    selection.ranges = new Map();
    for (const key of new Set([...query.keys()].filter(name => dimensions.has(name)))) {
      const dimension = dimensions.get(key), range = readRange(dimension, query.getAll(key));
      if (range !== null) selection.ranges.set(key, {dimension, ...range});
    }
  },
};

const LOG = "log.", ON = "on", OFF = "off";

const logs = {
  tab: null,
  write: selection => [...selection.logs].map(([key, isLog]) => [LOG + key, isLog ? ON : OFF]),
  read(selection, query) {
    selection.logs = new Map([...query].filter(([name, text]) => name.startsWith(LOG) && [ON, OFF].includes(text))
      .map(([name, text]) => [name.slice(LOG.length), text === ON]));
  },
};

const FIELDS = [
  choice("filter", "trials"), choice("state", "trials"), choice("starred", "trials"), choice("sort", "trials"), choice("compare", "trials"),
  marks, choice("metric", null, "metric:"), ranges, logs,
  choice("curves.show", "overview"), choice("pareto.x", "overview", "metric:"), choice("pareto.y", "overview", "metric:"),
  choice("contour.x", "parameters", "parameter:"), choice("contour.y", "parameters", "parameter:"),
  choice("contour.deviation", "parameters"), choice("scatter.x", "parameters"), choice("scatter.y", "parameters")];

const fieldsOf = name => FIELDS.filter(({tab}) => tab === null || tab === name);

// --- reading and writing ---

// As a query has it, but for signs that need no other form there.
const escaped = text => new URLSearchParams([["", text]]).toString().slice(1).replace(/%(2C|2F|3A)/g, decodeURIComponent);

// What is picked, for an address of that tab: "?name=text&...", "" where there is
// nothing.
export function viewQuery(selection, tab) {
  const pairs = fieldsOf(tab).flatMap(field => field.write(selection));
  return pairs.length > 0 ? `?${pairs.map(pair => pair.map(escaped).join("=")).join("&")}` : "";
}

// Picks what the query of an address of that tab says, before anything is shown.
export function readView(query, selection, store, tab) {
  if ([...query].length > 0) fieldsOf(tab).forEach(field => field.read(selection, query, store));
}

// Keeps the address of the page that is shown up to date, without a step in the
// browser's history. Returns the function that ends it.
export function followView(selection, tab) {
  let seen = location.hash, timer = 0, notBefore = 0;
  const [path] = seen.split("?");

  function write() {
    timer = 0;
    const wanted = path + viewQuery(selection, tab);
    if (location.hash !== seen || wanted === seen) return; // the reader is leaving, or nothing changed
    history.replaceState(history.state, "", wanted);
    seen = location.hash;
    notBefore = Date.now() + PAUSE_MS;
  }

  // Before a link is followed, so that the way back leads to what is shown.
  function flush() {
    if (timer === 0) return;
    clearTimeout(timer);
    write();
  }
  for (const kind of LEAVING) addEventListener(kind, flush, true);

  const unwatch = selection.watch(what => {
    if (what === "hovered" || timer !== 0) return;
    const wait = notBefore - Date.now();
    if (wait > 0) timer = setTimeout(write, wait);
    else write();
  });
  write();
  return () => {
    unwatch();
    clearTimeout(timer);
    for (const kind of LEAVING) removeEventListener(kind, flush, true);
  };
}
