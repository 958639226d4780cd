// page_config.js - the tab that shows how a study was ordered and what happened
// to it since.
import {element, replace, pairList} from "./dom.js";
import {get, studyPath} from "./api.js";
import {copy} from "./copy.js";
import {download} from "./table.js";
import {eventLog} from "./events.js";
import {mostTrials} from "./study_figures.js";
import * as format from "./format.js";

const FORMS = [["native", "hypertune"], ["vertex", "Vertex AI"], ["aip", "AI Platform"]];

function settings(store) {
  const {job, status} = store;
  const pairs = [
    ["Title", store.title === status.name ? "" : store.title], ["Name", status.name], ["Resource", job.name], ["Algorithm", format.state(status.algorithm ?? "none")], ["Seed", status.seed],
    ["Most trials", mostTrials(store) || null], ["Trials at a time", job.parallelTrialCount],
    ["Failed trials that end it", job.maxFailedTrialCount], ["Target", job.hypertune?.target],
    ["Created", format.moment(status.createTimeMs)], ["Started", format.moment(status.startTimeMs)],
    ["Ended", format.moment(status.endTimeMs)], ["Revision", status.revision],
    ...(status.warmStart ?? []).map(one => ["Learns from", priorWords(one)])];
  return pairList(pairs);
}

// "digits, 40 results and 3 failures, all count as its own"
function priorWords({study, results, failures, own, sharedParameters, sameSpace}) {
  const words = `${study}, ${format.plural(results, "result")}${failures > 0 ? ` and ${format.plural(failures, "failure")}` : ""}`;
  if (own > 0) return words + (own === results + failures ? `, ${own === 1 ? "which counts" : "all count"} as its own`
    : `, ${own} of them ${own === 1 ? "counts" : "count"} as its own`);
  return `${words}, ${sameSpace ? "the same parameters" : `${format.plural(sharedParameters, "parameter")} in common`}`;
}

function specCard(root, store) {
  const menu = element("select", {ariaLabel: "Form", onchange: load}, FORMS.map(([value, label]) => element("option", {value}, label)));
  const kind = element("select", {ariaLabel: "Language", onchange: draw}, ["YAML", "JSON"].map(value => element("option", {value}, value)));
  const text = element("pre.spec", {tabIndex: 0}), notes = element("div.quiet"), complaint = element("p.error", {role: "alert"});
  const shown = () => answer === null ? "" : kind.value === "YAML" ? answer.yaml : JSON.stringify(answer.spec, null, 2);
  let answer = null;
  menu.value = store.status.kind === "TUNING" ? "native" : "vertex";
  replace(root, element("div.row.between", {}, element("h2", {}, "Spec"), element("div.row", {}, menu, kind,
    element("button", {onclick: () => copy(shown(), "the spec")}, "Copy"),
    element("button", {onclick: () => download(`${store.status.name}.${kind.value.toLowerCase()}`, "text/plain", shown())}, "Download"))),
  complaint, text, notes);

  function draw() {
    if (answer === null) return;
    replace(text, shown());
    replace(notes, answer.omitted.length > 0 && [element("p", {}, "This form has no words for:"),
      element("ul", {}, answer.omitted.map(({path, message}) => element("li", {}, path && element("code", {}, path), path && " ", message)))]);
  }

  async function load() {
    try {
      answer = await get(`${studyPath(store.id)}/spec?form=${menu.value}`);
      replace(complaint);
      text.hidden = false;
      draw();
    } catch (problem) {
      answer = null;
      replace(complaint, problem.message);
      text.hidden = true;
      replace(notes);
    }
  }
  load();
  return load;
}

export function configTab(root, store) {
  const facts = element("section.card"), spec = element("section.card"), events = element("section.card.whole");
  replace(root, element("div.halves", {}, facts, spec, events));
  const reload = specCard(spec, store);
  const endLog = eventLog(events, store);
  const ordered = () => JSON.stringify({...store.job, hypertuneStatus: null, state: null, startTime: null, endTime: null, updateTime: null});
  let known = ordered();

  function draw() {
    replace(facts, element("h2", {}, "Settings"), settings(store));
    if (ordered() === known) return;
    known = ordered();
    reload();
  }

  draw();
  const unwatch = store.watch(draw);
  return () => {
    unwatch();
    endLog();
  };
}
