// plot_usage.js - what a trial used of its machines while it ran: processors,
// memory and GPUs, a line for each attempt and replica.
import {element, replace} from "./dom.js";
import {ApiError, get, trialPath} from "./api.js";
import {PlotCard, showPlots} from "./plot_card.js";
import {drawAxes, drawLegend, within} from "./plot_axes.js";
import {Selection} from "./selection.js";
import {shapes} from "./marks.js";
import {traceLine} from "./pen.js";
import {zoomable} from "./plot_zoom.js";
import * as format from "./format.js";

const PAUSE_MS = 5000;
const COLOURS = ["accent", "warn", "good", "bad", "idle"];
const MOST_NAMED = 8; // in a legend
const ROOM = 1.06;    // above the highest value
const UNITS = [{label: "hours", ms: 3600e3}, {label: "minutes", ms: 60e3}, {label: "seconds", ms: 1000}];
const SIZES = [{unit: "GiB", of: 2 ** 30}, {unit: "MiB", of: 2 ** 20}];

// What each plot shows of the series; `device`: of GPUs or of all else.
const KINDS = [
  {title: "Processors", name: "cores", gpu: false, member: "used", scale: () => ({unit: "cores", of: 1})},
  {title: "Memory", name: "memory", gpu: false, member: "memory", scale: high => SIZES.find(({of}) => high >= of) ?? SIZES[1]},
  {title: "GPU use", name: "gpu-use", gpu: true, member: "used", scale: () => ({unit: "%", of: 0.01})},
  {title: "GPU memory", name: "gpu-memory", gpu: true, member: "memory", scale: high => SIZES.find(({of}) => high >= of) ?? SIZES[1]}];

// The lines of one kind; what was not measured is left out. `at`: ms since the
// first series began.
function linesOf(usage, {gpu, member}) {
  const zero = Math.min(...usage.map(({series}) => series.fromMs));
  return usage.filter(({device}) => (device !== "") === gpu)
    .map(({attempt, replica, device, series}) => ({attempt, replica, device,
      points: series.ms.map((ms, i) => ({at: series.fromMs - zero + ms, value: series[member][i]})).filter(({value}) => value !== null)}))
    .filter(({points}) => points.length > 0)
    .sort((a, b) => a.attempt - b.attempt);
}

function namesOf(lines) {
  const several = member => new Set(lines.map(line => line[member])).size > 1;
  const shown = {attempt: several("attempt"), replica: several("replica")};
  return ({attempt, replica, device}) => [shown.attempt && `attempt ${attempt}`, shown.replica && replica, device && `GPU ${device}`]
    .filter(Boolean).join(", ") || replica;
}

const usagePlot = (kind, usageNow) => (store, selection) => {
  function prepare() {
    const lines = linesOf(usageNow(), kind);
    if (lines.length === 0) return {missing: "Nothing was measured."};
    const all = lines.flatMap(({points}) => points), high = d3.max(all, ({value}) => value), last = d3.max(all, ({at}) => at);
    const {unit, of} = kind.scale(high), time = UNITS.find(({ms}) => last >= 2 * ms) ?? UNITS[2];
    return {lines, unit, time, nameOf: namesOf(lines), high: high / of, last: last / time.ms,
      place: point => ({...point, label: point.at / time.ms, amount: point.value / of})};
  }

  function paint(area, {lines, unit, time, nameOf, high, last, place}) {
    const {pen, theme} = area;
    const frame = drawAxes(area, {label: `${time.label} since it began`, low: 0, high: last || 1}, {label: unit, low: 0, high: high * ROOM || 1});
    const {x, y, inner} = frame, keys = [...new Set(lines.map(({replica, device}) => `${replica} ${device}`))];
    const colourOf = ({replica, device}) => theme[COLOURS[keys.indexOf(`${replica} ${device}`) % COLOURS.length]];
    const placed = lines.map(line => ({...line, points: line.points.map(place)
      .map(point => ({...point, line, x: x(point.label), y: y(point.amount), label: `${nameOf(line)} ${point.at}`}))}));
    pen.inside(inner, () => {
      for (const line of placed) {
        pen.path(to => traceLine(to, line.points.map(({x, y}) => [x, y])), {stroke: colourOf(line), width: 1.6});
        if (line.points.length === 1)
          pen.path(to => line.points.forEach(({x, y}) => shapes.circle(to, x, y, 2.5)), {fill: colourOf(line)});
      }
    });
    drawLegend(area, lines.length > 1 ? lines.slice(0, MOST_NAMED).map(line => ({label: nameOf(line), colour: colourOf(line)})) : []);
    zoomable(area, frame);
    return placed.flatMap(({points}) => points).filter(within(inner));
  }

  return new PlotCard(store, selection, {
    title: kind.title, name: kind.name, height: 220, prepare, paint,
    table: ({lines, unit, time, place}) => ({heads: ["Attempt", "Replica", ...kind.gpu ? ["GPU"] : [], time.label, unit],
      rows: lines.flatMap(({attempt, replica, device, points}) => points.map(place)
        .map(({label, amount}) => [attempt, replica, ...kind.gpu ? [device] : [], label, amount]))}),
    describe: ({line, at, value}) => [["Attempt", String(line.attempt)], ["Replica", line.replica], ...line.device ? [["GPU", line.device]] : [],
      ["After", format.duration(at)], [kind.title, textOf(kind, value)]],
  });
};

function textOf(kind, value) {
  const {unit, of} = kind.scale(value);
  return `${format.number(value / of)} ${unit}`;
}

// Fills `root` once something was measured, and asks again while `isOpen()`.
// Returns the function that ends it.
export function showUsage(root, store, id, isOpen) {
  let usage = [], shown = new Set(), end = () => {}, timer = 0, isLeft = false;
  const cards = new Set();
  const follow = kind => (...words) => {
    const card = usagePlot(kind, () => usage)(...words);
    cards.add(card);
    return card;
  };

  function show() {
    const kinds = KINDS.filter(kind => linesOf(usage, kind).length > 0);
    if (kinds.length === shown.size) return cards.forEach(card => card.changed());
    end();
    cards.clear();
    shown = new Set(kinds);
    const plots = element("div.small");
    replace(root, element("section", {ariaLabel: "Resources"}, element("h2", {}, "Resources"), plots));
    end = showPlots(plots, store, new Selection(), kinds.map(follow));
  }

  async function ask() {
    const again = isOpen();
    try {
      ({usage} = await get(`${trialPath(store.key, id)}/usage`));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
    }
    if (isLeft) return;
    if (usage.length > 0) show();
    if (again) timer = setTimeout(ask, PAUSE_MS);
  }

  ask();
  return () => {
    isLeft = true;
    clearTimeout(timer);
    end();
  };
}
