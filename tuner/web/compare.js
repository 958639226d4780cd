// compare.js - marked trials side by side: where their parameters differ, what
// ran that differs, and how their metrics went.
import {element, exact, replace} from "./dom.js";
import {ApiError, get, trialPath} from "./api.js";
import {dimensionsOf} from "./dimension.js";
import {showPlots} from "./plot_card.js";
import {trialCurvesPlot} from "./plot_trial_curves.js";
import {stateLabel, trialLink} from "./trial_columns.js";
import {factPairs} from "./trial_words.js";
import * as format from "./format.js";

export const MOST_COMPARED = 5;

function differs(dimension, trials) {
  return new Set(trials.map(trial => dimension.of(trial) ?? null)).size > 1;
}

// Rows of what differs between the newest attempts, once they are known.
function factRows(trials, facts) {
  const pairs = trials.map(({id}) => new Map(factPairs(facts.get(id))));
  const names = [...new Set(pairs.flatMap(one => [...one.keys()]))];
  return names.filter(name => new Set(pairs.map(one => one.get(name))).size > 1).map(name => element("tr", {},
    element("th", {scope: "row"}, element("bdi", {}, name)), pairs.map(one => element("td", {}, element("bdi", {}, one.get(name) ?? "-")))));
}

function differences(store, trials, facts) {
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
      metrics.map(row), different.map(row), factRows(trials, facts)))),
  same > 0 && element("p.quiet.note", {}, `${format.plural(same, "parameter")} with one value in all of them.`)];
}

// Fills `root` with the trials of these numbers; returns the function that ends it.
// `close()`: what the reader's button does.
export function showComparison(root, store, selection, ids, close) {
  const plots = element("div"), table = element("div");
  const facts = new Map(); // of the newest attempt, by trial
  const draw = () => replace(table, differences(store, ids.map(id => store.trial(id)).filter(Boolean), facts));
  const learn = id => get(trialPath(store.id, id)).then(({hypertune}) => {
    facts.set(id, hypertune.facts);
    draw();
  }, problem => {
    if (!(problem instanceof ApiError)) throw problem;
  });
  const unwatch = store.watch(draw);
  const endPlots = showPlots(plots, store, selection, [trialCurvesPlot({title: "Curves", ids})]);
  replace(root, element("section.card.comparison", {ariaLabel: "Comparison"},
    element("div.row.between", {}, element("h2", {}, `Trials ${ids.join(", ")}`),
      element("button.plain", {onclick: close, ariaLabel: "Close"}, "×")),
    table, plots));
  draw();
  ids.forEach(learn);
  return () => {
    unwatch();
    endPlots();
    replace(root);
  };
}
