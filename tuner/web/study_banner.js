// study_banner.js - what a person should act on: why the server has paused the
// study, lines that look like its metric, trials that hang, stops that come early.
import {element, renew} from "./dom.js";
import {readLogs, repaired, resume} from "./actions.js";
import {StudyStore} from "./store.js";
import {trialLink} from "./trial_columns.js";
import {may} from "./session.js";

// The pattern that the server recognised in what trials without a result printed.
function patternWords(store) {
  const {metricPattern} = store.status;
  return metricPattern && element("p.row", {}, element("span", {}, "Lines of their output look like it: ", element("code", {}, metricPattern)),
    may("submit") && element("button", {onclick: () => readLogs(store)}, "Read such lines"));
}

function heldCard(store) {
  const {held, reason} = store.status;
  if (!held) return null;
  const newest = store.trials.findLast(StudyStore.hasFailed);
  return element("section.card.held", {ariaLabel: "Paused by the server"},
    element("h2", {}, "Paused by the server, before more trials are spent in vain"),
    element("p.reason", {}, element("bdi", {}, reason)),
    element("p", {}, "Repair what this names: in the program, its image, or on the machine that runs it.",
      newest && [" The output of ", trialLink(store, newest, `trial ${newest.id}`), " may show more."],
      " Then the failed trials can run again; as it is, the study continues with its next trials."),
    patternWords(store),
    may("submit") && element("div.row", {}, element("button.primary", {onclick: () => repaired(store)}, "Repaired: run the failed again"),
      element("button", {onclick: () => resume(store)}, "Resume as it is"),
      element("a.button", {href: `#/studies/${store.id}/edit`}, "Edit the spec")));
}

function notesCard(store) {
  const {held, metricPattern, silent = [], earlyStops} = store.status;
  const notes = [
    !held && metricPattern && patternWords(store),
    ...silent.map(({trial, words, hung}) => element("p", {}, trialLink(store, {id: trial}, `Trial ${trial}`), " ",
      hung ? "hung and is being stopped: " : "is ", element("bdi", {}, words))),
    earlyStops && element("p.quiet", {}, earlyStops.words, earlyStops.advice && `; ${earlyStops.advice}`)].filter(Boolean);
  return notes.length > 0 && element(silent.length > 0 ? "section.card.held" : "section.notes", {ariaLabel: "Notes"}, notes);
}

// Fills `root`. Returns the function that ends it.
export function studyBanner(root, store) {
  const draw = () => renew(root, heldCard(store), notesCard(store));
  draw();
  return store.watch(draw);
}
