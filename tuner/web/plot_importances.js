// plot_importances.js - which parameters matter for a metric.
import {ASKING, PlotCard} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {importanceQuestion} from "./importance.js";
import {fit} from "./plot_axes.js";
import {metricMenu} from "./plot_controls.js";
import {movesFreely} from "./theme.js";
import * as format from "./format.js";

const TOP = 8, LABELS = 150, FIGURES = 60, MOVE_MS = 300;
const MOST = 16; // bars; the table has all
const ROOM = 280, LEAST_ROW = 24, MOST_ROW = 44; // pixels: of all bars where that lets each have as many

const share = value => `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;

const rowOf = items => Math.min(MOST_ROW, Math.max(LEAST_ROW, ROOM / items.length));

// What may have no effect has no number.
const figure = item => item.certain ? share(item.importance) : "-";

function drawBars(layer, items, {colour, length, row}) {
  const bars = layer.selectAll("rect.importance").data(items, item => item.parameter);
  const target = bars.join(enter => enter.append("rect").attr("class", "importance").attr("x", LABELS).attr("width", 0));
  target.attr("fill", colour).attr("height", row - 9).attr("rx", 3)
    .attr("y", item => TOP + items.indexOf(item) * row + 2);
  (movesFreely() ? target.transition().duration(MOVE_MS) : target)
    .attr("width", item => Math.max(1, Math.min(1, item.importance) * length));
}

function paint(area, {items}) {
  const layer = area.svg.select("g.axes"), length = area.width - LABELS - FIGURES, row = rowOf(items);
  const middle = i => TOP + i * row + (row - 9) / 2 + 2;
  drawBars(layer, items, {colour: area.theme.accent, length, row});
  const names = layer.selectAll("text.name").data(items).join("text").attr("class", "name").attr("text-anchor", "end")
    .attr("x", LABELS - 8).attr("y", (_, i) => middle(i)).attr("dy", "0.32em").text(item => fit(item.parameter, LABELS - 14));
  names.append("title").text(item => format.visible(item.parameter));
  layer.selectAll("text.figure").data(items).join("text").attr("class", "figure")
    .attr("x", item => LABELS + Math.min(1, item.importance) * length + 6)
    .attr("y", (_, i) => middle(i)).attr("dy", "0.32em").text(figure);
  return items.map((item, i) =>
    ({item, label: item.parameter, x: LABELS + item.importance * length, y: middle(i)}));
}

function describe({item}) {
  return [["Parameter", item.parameter],
    ["Importance", item.certain ? share(item.importance) : "cannot be told from no effect"],
    ["Alone", share(item.alone)], ["With others", share(item.total)], ["Among the best", share(item.share)]];
}

export function importancesPlot(store, selection) {
  const metricChoice = metricMenu(selection);
  const question = importanceQuestion(store, () => metricChoice.pick(dimensionsOf(store).metrics), () => card.changed());

  function prepare() {
    const {answer, problem} = question.look();
    if (problem) return {missing: problem.message};
    if (answer === null) return ASKING;
    const {trials, least, importances: items} = answer;
    if (trials < least) return {missing: `Needs ${least} results, has ${trials}.`};
    if (items.length === 0) return {missing: "The results show no difference between the parameters yet."};
    return {items: items.slice(0, MOST), all: items, trials, metric: answer.metric};
  }

  const card = new PlotCard(store, selection, {
    title: "Importances", name: "importances", controls: [metricChoice.element],
    height: (_, data) => TOP + 8 + rowOf(data.items) * data.items.length, prepare, paint, describe,
    summary: ({items, all, trials, metric}) =>
      `Share of the variation of ${metric} that each explains, from ${format.plural(trials, "result")}.` +
      (items.every(item => item.certain) ? "" : " -: cannot be told from no effect.") +
      (all.length > items.length ? ` The first ${items.length} of ${all.length} parameters.` : ""),
    table: ({all}) => ({heads: ["Parameter", "Importance", "Certain", "Alone", "With others", "Among the best"],
      rows: all.map(item => [item.parameter, item.importance, item.certain ? "yes" : "no", item.alone, item.total,
        item.share])}),
    questions: [question],
  });
  return card;
}
