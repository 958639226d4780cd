// plot_timeline.js - what ran where, and when: a lane for each slot of a runner,
// a bar for each attempt, gaps where a slot stood idle.
import {OURS} from "./api.js";
import {PlotCard} from "./plot_card.js";
import {drawLegend, drawTicks, fit, scaleOf} from "./plot_axes.js";
import {zoomable} from "./plot_zoom.js";
import {Question} from "./question.js";
import {seesAll} from "./session.js";
import {describeTrial} from "./marks.js";
import * as format from "./format.js";

const MARGIN = {top: 30, right: 18, bottom: 28, left: 150};
const LANE = 20, BAR = 15, LEAST_WIDTH = 1.5, REACH = 2, TICK_PIXELS = 110;
const DATE_GAP = 46; // between the date and the axis, whose first tick may need half
const MOST_LANES = 200;
const CLIENTS = "clients";
const GROW_MS = 2000; // how often bars of what runs are drawn anew

// What became of an attempt, by its state in the table.
const OUTCOMES = {
  succeeded: {label: "succeeded", colour: "good"},
  stopped: {label: "stopped", colour: "warn"},
  timeout: {label: "timed out", colour: "warn"},
  failed: {label: "failed", colour: "bad"},
  infeasible: {label: "infeasible", colour: "bad"},
  lost: {label: "lost with its runner", colour: "idle"},
  running: {label: "running", colour: "run"},
};
const CLIENT_OUTCOMES = {SUCCEEDED: "succeeded", STOPPED: "stopped", FAILED: "failed", INFEASIBLE: "infeasible",
  CANCELLED: "stopped"};
const outcomeOf = attempt => OUTCOMES[attempt.state] ? attempt.state : "running";

// A trial that a client evaluated, as one attempt.
function clientAttempt(trial) {
  const {startMs, endMs} = trial;
  return {n: 0, runner: CLIENTS, state: CLIENT_OUTCOMES[trial.state] ?? "running", startMs, endMs};
}

function barsOf(trials, now) {
  const bars = trials.flatMap(trial => (trial.attempts.length > 0 ? trial.attempts : [clientAttempt(trial)])
    .filter(attempt => attempt.startMs > 0)
    .map(attempt => ({trial, attempt, from: attempt.startMs, to: attempt.endMs || Math.max(now, attempt.startMs)})));
  return bars.sort((a, b) => a.from - b.from);
}

// Gives every bar a lane that is free; lanes: [{runner, slot, endMs, busyMs}],
// those of a runner together.
function layLanes(bars) {
  const runners = new Map();
  for (const bar of bars) {
    const {runner} = bar.attempt;
    if (!runners.has(runner)) runners.set(runner, []);
    const slots = runners.get(runner);
    let lane = slots.find(slot => slot.endMs <= bar.from);
    if (!lane) slots.push(lane = {runner, slot: slots.length + 1, endMs: 0, busyMs: 0});
    lane.endMs = bar.to;
    lane.busyMs += bar.to - bar.from;
    bar.lane = lane;
  }
  return [...runners.values()].flat();
}

function drawLabels(area, lanes, nameOf) {
  const labels = area.svg.select("g.axes").selectAll("text.lane").data(lanes).join("text").attr("class", "lane")
    .attr("text-anchor", "end").attr("x", MARGIN.left - 8).attr("y", (_, i) => MARGIN.top + i * LANE + 12)
    .text(lane => fit(`${nameOf(lane.runner)} ${lane.slot}`, MARGIN.left - 14));
  labels.append("title").text(lane => `${nameOf(lane.runner)}, slot ${lane.slot}`);
}

function ringBars(group, marks, colour) {
  group.selectAll("rect").data(marks).join("rect").attr("class", "ring").attr("stroke", colour)
    .attr("x", bar => bar.left - 1).attr("y", bar => bar.top - 1)
    .attr("width", bar => bar.width + 2).attr("height", BAR + 2);
}

export function timelinePlot(store, selection) {
  const hosts = new Question(store, () => seesAll() ? `${OURS}/runners` : null, () => card.changed(),
    {state: ({trials}) => new Set(trials.flatMap(trial => trial.attempts.map(attempt => attempt.runner))).size});
  const nameOf = runner => runner === CLIENTS ? CLIENTS
    : hosts.answer?.runners.find(one => one.runner === runner)?.host ?? runner;

  function prepare() {
    const bars = barsOf(store.trials, Date.now());
    if (bars.length === 0)
      return {missing: store.trials.length === 0 ? "No trial has started yet."
        : "Nothing has run here: the trials were added as they are."};
    const lanes = layLanes(bars), from = bars[0].from;
    if (lanes.some(lane => lane.runner !== CLIENTS)) hosts.look();
    const to = Math.max(from + 1, bars.reduce((latest, bar) => Math.max(latest, bar.to), 0));
    const busy = lanes.reduce((sum, lane) => sum + lane.busyMs, 0) / (lanes.length * (to - from));
    return {bars, lanes: lanes.slice(0, MOST_LANES), all: lanes.length, from, to, busy};
  }

  function paint(area, {bars, lanes, from, to}) {
    const {pen, theme} = area;
    const {left, top} = MARGIN, inner = {left, top, width: area.width - left - MARGIN.right, height: lanes.length * LANE};
    const [low, high] = area.view?.x ?? [from, to];
    const axis = {low: Number(low), high: Number(high), time: true};
    const x = scaleOf(axis, [inner.left, inner.left + inner.width]);
    const ticks = area.svg.select("g.axes").selectAll("g.x-axis").data([0]).join("g").attr("class", "x-axis")
      .attr("transform", `translate(0,${inner.top + inner.height})`);
    drawTicks(ticks, d3.axisBottom, axis, x, {pixels: TICK_PIXELS,
      shape: made => made.tickSizeInner(-inner.height).tickPadding(8)});
    ticks.selectAll("text.day").data([axis.low]).join("text").attr("class", "day").attr("text-anchor", "end")
      .attr("x", inner.left - DATE_GAP).attr("y", 8).attr("dy", "0.71em")
      .text(ms => format.moment(ms).slice(0, 10));
    drawLabels(area, lanes, nameOf);
    const rows = new Map(lanes.map((lane, i) => [lane, inner.top + i * LANE]));
    const placed = bars.filter(bar => rows.has(bar.lane) && bar.to >= axis.low && bar.from <= axis.high).map(bar => {
      const left = x(bar.from), width = Math.max(LEAST_WIDTH, x(bar.to) - left - 1);
      return {...bar, left, width, top: rows.get(bar.lane), label: bar.attempt.n,
        x: Math.min(inner.left + inner.width, Math.max(inner.left, left + width / 2)), y: rows.get(bar.lane) + BAR / 2};
    });
    pen.inside(inner, () => {
      pen.path(to => lanes.forEach(lane => to.rect(inner.left, rows.get(lane), inner.width, BAR)),
        {fill: theme.line, alpha: 0.35});
      drawBars(area, placed);
    });
    const seen = new Set(placed.map(bar => outcomeOf(bar.attempt)));
    drawLegend(area, Object.keys(OUTCOMES).filter(name => seen.has(name))
      .map(name => ({label: OUTCOMES[name].label, colour: theme[OUTCOMES[name].colour], shape: square})));
    zoomable(area, {inner, axes: {x: {low: from, high: to, time: true}}}, "x");
    return placed;
  }

  const square = (to, x, y, r) => to.rect(x - r, y - r, 2 * r, 2 * r);

  // One path for all of an outcome; a dark edge marks further attempts.
  function drawBars({pen, theme}, placed) {
    for (const [name, {colour}] of Object.entries(OUTCOMES))
      for (const accepted of [true, false]) {
        const alike = placed.filter(({attempt, trial}) =>
          outcomeOf(attempt) === name && selection.accepts(trial) === accepted);
        pen.path(to => alike.forEach(bar => to.rect(bar.left, bar.top, bar.width, BAR)),
          {fill: theme[colour], alpha: accepted ? 0.9 : 0.2});
      }
    const again = placed.filter(bar => bar.attempt.n > 1);
    pen.path(to => again.forEach(({left, top, width}) => to.rect(left, top, Math.min(3, width / 2), BAR)),
      {fill: theme.text});
  }

  const card = new PlotCard(store, selection, {
    title: "Timeline", name: "timeline", follows: true, wide: true,
    height: (_, {lanes}) => MARGIN.top + MARGIN.bottom + lanes.length * LANE, prepare, paint,
    summary: ({busy, all, lanes, bars}) => [
      `${format.plural(all, "slot")} busy ${(100 * busy).toFixed(0)} % of the time.`,
      bars.some(bar => bar.attempt.n > 1) ? "A dark edge at the left marks a further attempt." : "",
      all > lanes.length ? `The first ${lanes.length} are shown.` : ""].filter(Boolean).join(" "),
    find: (x, y, marks) => marks.find(({left, top, width}) =>
      x >= left - REACH && x <= left + width + REACH && y >= top && y <= top + BAR),
    ring: ringBars,
    table: ({bars}) => ({heads: ["Trial", "Attempt", "Slot", "Outcome", "Began", "Took"],
      rows: bars.map(({trial, attempt, lane, from, to}) => [trial.id, attempt.n, `${nameOf(lane.runner)} ${lane.slot}`,
        OUTCOMES[outcomeOf(attempt)].label, format.moment(from), format.duration(to - from)])}),
    describe: ({trial, attempt, lane, from, to}) => [
      ["Slot", `${nameOf(lane.runner)} ${lane.slot}`],
      ["Attempt", `${attempt.n}, ${OUTCOMES[outcomeOf(attempt)].label}`],
      ["Began", format.moment(from)], ["Took", format.duration(to - from)], ...describeTrial(store, trial)],
    end: () => {
      hosts.end();
      clearInterval(clock);
    },
  });
  const clock = setInterval(() => {
    if (store.trials.some(trial => trial.startMs > 0 && !trial.endMs)) card.changed();
  }, GROW_MS);
  return card;
}
