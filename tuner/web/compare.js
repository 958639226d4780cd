// compare.js - marked trials side by side: where their parameters differ, and
// how their metrics went.
import {element, exact, replace} from "./dom.js";
import {dimensionsOf} from "./dimension.js";
import {showPlots} from "./plot_card.js";
import {trialCurvesPlot} from "./plot_trial_curves.js";
import {stateLabel, trialLink} from "./trial_columns.js";
import * as format from "./format.js";

export const MOST_COMPARED = 5;

function differs(dimension, trials) {
  return new Set(trials.map(trial => dimension.of(trial) ?? null)).size > 1;
}

function differences(store, trials) {
  const {parameters, metrics} = dimensionsOf(store);
  const different = parameters.filter(dimension => differs(dimension, trials));
  const row = dimension => element("tr", {}, element("th", {scope: "row"}, element("bdi", {}, dimension.name)),
    trials.map(trial => element("td", {}, exact(dimension.of(trial)))));
  const same = parameters.length - different.length;
  return [element("div.scroll", {}, element("table", {},
    element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "Trial"), trials.map(trial =>
      element("th", {scope: "col"}, trialLink(store, trial))))),
    element("tbody", {},
      element("tr", {}, element("th", {scope: "row"}, "State"), trials.map(trial => element("td", {}, stateLabel(trial)))),
      metrics.map(row), different.map(row)))),
  same > 0 && element("p.quiet.note", {}, `${format.plural(same, "parameter")} with one value in all of them.`)];
}

// Fills `root`; returns the function that ends it.
export function showComparison(root, store, selection) {
  const ids = [...selection.marked].sort((a, b) => a - b);
  const plots = element("div"), table = element("div");
  const draw = () => replace(table, differences(store, ids.map(id => store.trial(id)).filter(Boolean)));
  const unwatch = store.watch(draw);
  const endPlots = showPlots(plots, store, selection, [trialCurvesPlot({title: "Curves", ids})]);
  const end = () => {
    unwatch();
    endPlots();
    replace(root);
  };
  replace(root, element("section.card.comparison", {ariaLabel: "Comparison"},
    element("div.row.between", {}, element("h2", {}, `Trials ${ids.join(", ")}`),
      element("button.plain", {onclick: end, ariaLabel: "Close"}, "×")),
    table, plots));
  draw();
  return end;
}
