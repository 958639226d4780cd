// page_compare.js - several studies side by side: how their best results came, and
// what they are.
import {element, exact, renew, replace} from "./dom.js";
import * as format from "./format.js";
import {showPlots} from "./plot_card.js";
import {bestSoFarPlot, commonGoals, MOST_STUDIES, recordsOf} from "./plot_best_so_far.js";
import {Selection} from "./selection.js";
import {StudyStore} from "./store.js";
import {figuresOf} from "./study_figures.js";
import {stateChip} from "./study_title.js";
import {trialLink} from "./trial_columns.js";

const link = store => element("a", {href: `#/studies/${store.id}`}, element("bdi", {}, store.title));

// The best of a study by that goal, as a value and the trial that has it.
function bestCell(store, goal) {
  const best = recordsOf(store, goal).records.pop();
  return best ? [exact(best.value), " ", trialLink(store, best.trial, `trial ${best.trial.id}`)] : "";
}

// After how many results a study was as good as the worst of the bests.
function reachedCell(store, goal, level) {
  const {records} = recordsOf(store, goal), found = records.find(({value}) => goal.sign * (value - level) >= 0);
  return found ? format.plural(found.n, "result") : "";
}

function goalRows(stores, goal) {
  const bests = stores.map(store => recordsOf(store, goal).records.pop()?.value).filter(value => value !== undefined);
  const level = goal.sign > 0 ? Math.min(...bests) : Math.max(...bests);
  return [
    [`Best ${goal.name}`, store => bestCell(store, goal)],
    bests.length === stores.length && [`${goal.name} ${format.number(level)} after`, store => reachedCell(store, goal, level)]];
}

function took({status: {startTimeMs, endTimeMs}}) {
  return startTimeMs > 0 ? format.duration((endTimeMs || Date.now()) - startTimeMs) : "";
}

// [label, function (store) that returns what is in its cell].
function rowsOf(stores) {
  return [
    ["State", store => stateChip(store.status)],
    ...commonGoals(stores).flatMap(goal => goalRows(stores, goal)),
    ["Ended", store => String(figuresOf(store).ended)],
    ["Failed", store => String(figuresOf(store).failed)],
    ["Took", took],
    ["Algorithm", store => format.state(store.status.algorithm ?? store.status.kind)],
    ["Parameters", store => format.plural(store.parameters.length, "parameter")]].filter(Boolean);
}

function table(stores) {
  return element("div.scroll", {}, element("table", {},
    element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "Study"),
      stores.map(store => element("th", {scope: "col"}, link(store))))),
    element("tbody", {}, rowsOf(stores).map(([label, cell]) => element("tr", {},
      element("th", {scope: "row"}, element("bdi", {}, label)), stores.map(store => element("td", {}, cell(store))))))));
}

// What a plot needs of a store, of several.
const together = stores => ({
  status: {name: "comparison"}, // the name of saved pictures
  get revision() { return stores.map(store => store.revision).join(); },
  watch(changed) {
    const ends = stores.map(store => store.watch(changed));
    return () => ends.forEach(end => end());
  },
});

export function comparePage(root, {parts}) {
  const keys = [...new Set((parts[1] ?? "").split(",").filter(Boolean))].slice(0, MOST_STUDIES);
  const stores = keys.map(key => new StudyStore(key)), selection = new Selection();
  const trouble = element("p.error", {role: "alert"}), plots = element("div"), cards = element("div.part");
  let endPlots = null;
  document.title = "Comparison - hypertune";
  replace(root, element("h1", {}, "Comparison"), trouble, element("p.quiet", {}, "Loading …"));

  function draw() {
    const known = stores.filter(store => store.job !== null);
    const problems = stores.filter(store => store.error !== null).map(store => `${store.key}: ${store.error.message}`);
    renew(trouble, problems.join("; "));
    if (known.length < stores.length && problems.length === 0) return;
    if (known.length < 2) return replace(root, element("section.empty", {}, element("h1", {}, "There are no two studies to compare"),
      trouble, element("a.button", {href: "#/studies"}, "All studies")));
    renew(cards, table(known));
    if (endPlots !== null) return;
    replace(root, element("h1", {}, "Comparison"), trouble, plots, cards);
    endPlots = showPlots(plots, together(known), selection, [bestSoFarPlot(known)]);
  }

  const ends = stores.map(store => store.watch(draw));
  draw();
  return () => {
    ends.forEach(end => end());
    endPlots?.();
    document.title = "hypertune";
  };
}
