// plot_importances.js - which parameters matter for a metric.
import {studyPath} from "./api.js";
import {ASKING, PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {drawLegend, fit} from "./plot_axes.js";
import {metricMenu} from "./plot_controls.js";
import {shapes} from "./marks.js";
import {Question} from "./question.js";
import {movesFreely} from "./theme.js";
import * as format from "./format.js";

const ROW = 34, TOP = 30, LABELS = 150, FIGURES = 60, MOVE_MS = 300, PALE = 0.45;
const MOST = 16; // bars; the table has all

const share = value => `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;

// Bars of one kind: `of(item)` is their share, undefined for none.
function drawBars(layer, name, items, of, {colour, opacity, top, height, length}) {
  const told = items.filter(item => of(item) !== undefined);
  const bars = layer.selectAll(`rect.${name}`).data(told, item => item.parameter);
  const target = bars.join(enter => enter.append("rect").attr("class", name).attr("x", LABELS).attr("width", 0));
  target.attr("fill", colour).attr("opacity", opacity).attr("height", height).attr("rx", 1.5)
    .attr("y", item => TOP + items.indexOf(item) * ROW + top);
  (movesFreely() ? target.transition().duration(MOVE_MS) : target)
    .attr("width", item => Math.max(1, Math.min(1, of(item)) * length));
}

function paint(area, {items}) {
  const layer = area.svg.select("g.axes"), length = area.width - LABELS - FIGURES;
  const {accent, warn} = area.theme, thin = {length, colour: warn, top: 17, height: 6};
  drawBars(layer, "share", items, item => item.share, {length, colour: accent, opacity: 1, top: 2, height: 13});
  drawBars(layer, "total", items, item => item.total, {...thin, opacity: PALE});
  drawBars(layer, "alone", items, item => item.alone, {...thin, opacity: 1});
  const names = layer.selectAll("text.name").data(items).join("text").attr("class", "name").attr("text-anchor", "end")
    .attr("x", LABELS - 8).attr("y", (_, i) => TOP + i * ROW + 15).text(item => fit(item.parameter, LABELS - 14));
  names.append("title").text(item => format.visible(item.parameter));
  layer.selectAll("text.figure").data(items).join("text").attr("class", "figure")
    .attr("x", item => LABELS + Math.min(1, item.share) * length + 6)
    .attr("y", (_, i) => TOP + i * ROW + 13).text(item => share(item.share));
  const shape = shapes.square, modelled = items.some(item => item.alone !== undefined);
  drawLegend(area, [{label: "share of good results", colour: accent, shape},
    ...modelled ? [{label: "variance alone", colour: warn, shape},
      {label: "with interactions", colour: warn, shape, opacity: PALE}] : []]);
  return items.map((item, i) => ({item, label: item.parameter, x: LABELS + item.share * length, y: TOP + i * ROW + 9}));
}

function describe({item}) {
  return [["Parameter", item.parameter], ["Share", share(item.share)],
    ...item.alone === undefined ? [] : [["Alone", share(item.alone)], ["With interactions", share(item.total)]]];
}

export function importancesPlot(store, selection) {
  const metricChoice = metricMenu(selection);
  const question = new Question(store, () => {
    const metric = metricChoice.pick(dimensionsOf(store).metrics);
    return metric ? `${studyPath(store.key)}/importances?metric=${encodeURIComponent(metric.name)}` : null;
  }, () => card.changed());

  function prepare() {
    const {answer, problem} = question.look();
    if (problem) return {missing: problem.message};
    if (answer === null) return ASKING;
    const {trials, least, importances: items} = answer;
    if (trials < least) return {missing: `Needs ${least} results, has ${trials}.`};
    if (items.length === 0) return {missing: "The results tell the parameters nothing apart yet."};
    return {items: items.slice(0, MOST), all: items, trials, metric: answer.metric};
  }

  const card = new PlotCard(store, selection, {
    title: "Importances", name: "importances", controls: [metricChoice.element],
    height: (_, data) => TOP + 8 + ROW * data.items.length, prepare, paint, describe,
    summary: ({items, all, trials, metric}) => `For ${metric}, from ${format.plural(trials, "result")}.` +
      (all.length > items.length ? ` The first ${items.length} of ${all.length} parameters.` : ""),
    table: ({all}) => ({heads: ["Parameter", "Share", "Alone", "With interactions"],
      rows: all.map(item => [item.parameter, item.share, item.alone ?? "", item.total ?? ""])}),
    questions: [question],
  });
  return card;
}
