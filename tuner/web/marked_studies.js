// marked_studies.js - what one can do with several studies of the list at once: compare,
// stop and delete them.
import {element, replace} from "./dom.js";
import {post, remove, studyPath} from "./api.js";
import {actDialog} from "./dialog.js";
import {OVER} from "./actions.js";
import {MOST_STUDIES} from "./plot_best_so_far.js";
import {numberOf, titleOf} from "./study_title.js";
import {plural} from "./format.js";
import {may} from "./session.js";

const MOST_NAMED = 8;

const isOver = job => OVER.includes(job.hypertuneStatus.state);

// One after the other; the first refusal ends it and says which study it is
// about. What is done is no longer marked.
async function each(jobs, marked, act) {
  for (const job of jobs) {
    try {
      await act(studyPath(job.hypertuneStatus.name));
    } catch (problem) {
      problem.message = `${titleOf(job)}: ${problem.message}`;
      throw problem;
    }
    marked.delete(numberOf(job));
  }
}

function ask({verb, words, jobs, marked, act}) {
  const names = jobs.slice(0, MOST_NAMED).map(job => element("li", {}, element("bdi", {}, titleOf(job))));
  return actDialog({title: `${verb} ${plural(jobs.length, "study", "studies")}?`, label: verb, kind: "danger",
    body: [element("p", {}, words), element("ul", {}, names),
      jobs.length > MOST_NAMED && element("p.quiet", {}, `and ${jobs.length - MOST_NAMED} more`)],
    act: () => each(jobs.filter(job => marked.has(numberOf(job))), marked, act)});
}

function compareButton(numbers) {
  const {length} = numbers, fits = length > 1 && length <= MOST_STUDIES;
  return element("button", {disabled: !fits, title: fits ? null : `Two to ${MOST_STUDIES} studies`,
    onclick: () => location.hash = `#/compare/${numbers.join(",")}`}, `Compare ${length}`);
}

// Fills `root` with what there is to do with `jobs`, which are marked, by number in
// `marked`; calls `done()` after each of it.
export function markedBar(root, jobs, marked, done) {
  const over = jobs.filter(isOver), open = jobs.filter(job => !isOver(job));
  const button = (label, chosen, verb, words, act) => chosen.length > 0 && may("submit") && element("button.danger",
    {onclick: () => ask({verb, words, jobs: chosen, marked, act}).then(done)}, `${label} ${chosen.length}`);
  replace(root, jobs.length > 0 && element("div.row.tools", {role: "toolbar", ariaLabel: "Marked studies"},
    element("span.quiet", {role: "status"}, `${plural(jobs.length, "study", "studies")} marked`),
    button("Stop", open, "Stop", "No further trials begin; running ones are ended and their results kept.",
      path => post(`${path}:stop`)),
    button("Delete", over, "Delete", "Their trials, measurements and logs are removed for good.", remove),
    compareButton([...marked]),
    element("button", {onclick: () => { marked.clear(); done(); }}, "Unmark all")));
}
