// page_study_lists.js - the short lists beside the plots of a study: its best
// trials, and why others have failed.
import {element, renew} from "./dom.js";
import * as format from "./format.js";

const BEST = 5, REASONS = 5, EXAMPLES = 3;

// Follows the store with a card that `fill(store)` gives the content of, null
// while there is none.
function listCard(root, store, title, fill) {
  const body = element("div");
  const card = element("section.card", {ariaLabel: title, hidden: true}, element("h2", {}, title), body);
  root.append(card);
  let seen = -1;
  return store.watch(() => {
    if (store.revision === seen) return;
    seen = store.revision;
    const content = fill(store);
    card.hidden = content === null;
    if (content !== null) renew(body, content);
  });
}

const trialLink = (store, trial) => element("a", {href: `#/studies/${store.id}/trials/${trial.id}`}, String(trial.id));

function bestTable(store) {
  const results = store.ranking.slice(0, BEST);
  if (results.length === 0) return null;
  return element("div.scroll", {}, element("table", {},
    element("thead", {}, element("tr", {}, ["Trial", ...store.metrics, ...store.parameters]
      .map(name => element("th", {scope: "col", title: name}, element("bdi", {}, name))))),
    element("tbody", {}, results.map(trial => element("tr", {},
      element("td", {}, trialLink(store, trial)),
      [...trial.metrics, ...trial.parameters].map(value =>
        element("td", {}, element("bdi", {}, format.number(value)))))))));
}

// The reasons of failures, the commonest first.
function failuresOf(store) {
  const found = new Map();
  for (const trial of store.trials) {
    if (trial.state !== "FAILED" && trial.state !== "INFEASIBLE") continue;
    const reason = trial.reason || "no reason was told";
    if (!found.has(reason)) found.set(reason, []);
    found.get(reason).push(trial);
  }
  return [...found].map(([reason, trials]) => ({reason, trials})).sort((a, b) => b.trials.length - a.trials.length);
}

function failureList(store) {
  const failures = failuresOf(store);
  if (failures.length === 0) return null;
  const row = ({reason, trials}) => element("tr", {},
    element("td.number", {}, `${trials.length} ×`),
    element("td.reason", {}, element("bdi", {}, reason)),
    element("td", {}, "newest: ", trials.slice(-EXAMPLES).reverse().flatMap((trial, i) =>
      [i > 0 && ", ", trialLink(store, trial)])));
  return [element("div.scroll", {}, element("table", {}, element("tbody", {}, failures.slice(0, REASONS).map(row)))),
    failures.length > REASONS &&
      element("p.quiet.note", {}, `${format.plural(failures.length - REASONS, "more reason")}.`)];
}

export const bestCard = (root, store) => listCard(root, store, `Best ${BEST}`, bestTable);
export const failuresCard = (root, store) => listCard(root, store, "Failures", failureList);
