// page_study_lists.js - the short lists beside the plots of a study: its best
// trials, and why others have no result.
import {element, exact, renew} from "./dom.js";
import {StudyStore} from "./store.js";
import {comparisonOf, stateLabel, trialLink} from "./trial_columns.js";
import {attributeList} from "./user_attributes.js";
import * as format from "./format.js";

const BEST = 5, REASONS = 5, EXAMPLES = 3;

// Follows the store with a card that `fill(store)` gives the content of, null
// while there is none.
function listCard(root, store, title, fill) {
  const body = element("div");
  const card = element("section.card", {ariaLabel: title, hidden: true}, element("h2", {}, title), body);
  root.append(card);
  let seen = -1;
  function draw() {
    if (store.revision === seen) return;
    seen = store.revision;
    const content = fill(store);
    card.hidden = content === null;
    if (content !== null) renew(body, content);
  }
  draw();
  return store.watch(draw);
}

function bestTable(store) {
  const results = store.ranking.slice(0, BEST);
  if (results.length === 0) return null;
  return [results.length > 1 && element("a.button", {href: comparisonOf(store, results)}, "Compare them"),
  element("div.scroll", {}, element("table", {},
    element("thead", {}, element("tr", {}, ["Trial", ...store.metrics, ...store.parameters]
      .map(name => element("th", {scope: "col", title: name}, element("bdi", {}, name))))),
    element("tbody", {}, results.map(trial => element("tr", {},
      element("td", {}, trialLink(store, trial)),
      [...trial.metrics, ...trial.parameters].map(value =>
        element("td", {}, exact(value))))))))];
}

// What reasons are alike by: "exit 1: 2.50 GiB wanted" and "exit 1: 2.25 GiB
// wanted" are, "exit 1" and "exit 2" are not.
function kindOfReason({state, reason}) {
  const [what, ...words] = reason.split(": ");
  return [state, what, words.join(": ").replace(/[0-9]+/g, "0")].join(": ");
}

// Groups of failed trials whose reasons are alike, the largest first.
function failuresOf(store) {
  const found = new Map();
  for (const trial of store.trials) {
    if (!StudyStore.hasFailed(trial)) continue;
    const kind = kindOfReason(trial);
    if (!found.has(kind)) found.set(kind, []);
    found.get(kind).push(trial);
  }
  return [...found.values()].sort((a, b) => b.length - a.length);
}

function failureList(store) {
  const failures = failuresOf(store);
  if (failures.length === 0) return null;
  const row = trials => element("tr", {},
    element("td.number", {}, `${trials.length} ×`),
    element("td", {}, stateLabel({state: trials[0].state})),
    element("td.reason", {}, element("bdi", {}, trials[trials.length - 1].reason || "no reason was given")),
    element("td", {}, "newest: ", trials.slice(-EXAMPLES).reverse().flatMap((trial, i) =>
      [i > 0 && ", ", trialLink(store, trial)])));
  return [element("div.scroll", {}, element("table", {}, element("tbody", {}, failures.slice(0, REASONS).map(row)))),
    failures.length > REASONS &&
      element("p.quiet.note", {}, `${format.plural(failures.length - REASONS, "more reason")}.`)];
}

export const attributesCard = (root, store) => listCard(root, store, "User attributes", () => attributeList(store.status));
export const bestCard = (root, store) => listCard(root, store, `Best ${BEST}`, bestTable);
export const failuresCard = (root, store) => listCard(root, store, "Failed trials", failureList);
