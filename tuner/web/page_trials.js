// page_trials.js - the tab with the table of all trials of a study.
import {element, replace} from "./dom.js";
import {dimensionsOf} from "./dimension.js";
import {StudyStore} from "./store.js";
import {readFilter} from "./trial_filter.js";
import {trialColumns} from "./trial_columns.js";
import {Table, download} from "./table.js";
import {exportCsv, exportJson} from "./export.js";
import {trialPath} from "./api.js";
import {may, onlyStudy} from "./session.js";
import {FAVOURITE, favouriteSwitch, setFavourite, wordsOf} from "./tags.js";
import {MOST_COMPARED, showComparison} from "./compare.js";
import {readTrials} from "./view_address.js";
import * as format from "./format.js";

const STATES = ["ACTIVE", "STOPPING", "REQUESTED", "PAUSED", "SUCCEEDED", "STOPPED", "FAILED", "INFEASIBLE", "CANCELLED"];
const TYPE_MS = 150;

// "" is any state; of the failed trials some are infeasible.
const isIn = (state, trial) => state === "" || trial.state === state || (state === "FAILED" && StudyStore.hasFailed(trial));

const isFavourite = ({tags}) => wordsOf(tags).includes(FAVOURITE);

// A sort of the table as text: "-auc" is downwards. Null where there is no such column.
const sortText = ({key, down}) => down ? `-${key}` : key;
const readSort = (text, columns) => columns.flatMap(({key}) => [{key, down: true}, {key, down: false}])
  .find(sort => sortText(sort) === text) ?? null;

export function trialsTab(root, store, selection) {
  const {choices} = selection;
  const stateMenu = element("select", {ariaLabel: "State", onchange: () => selection.choose("state", stateMenu.value)},
    element("option", {value: ""}, "All states"), STATES.map(value => element("option", {value}, format.state(value))));
  const filter = element("input.filter", {type: "search", ariaLabel: "Filter", spellcheck: false,
    value: choices.get("filter") ?? "", placeholder: "Filter: lr<0.1 state=failed",
    oninput: () => later(() => selection.choose("filter", filter.value))});
  const starred = onlyStudy() ? null : favouriteSwitch(choices.has("starred"), isOn => selection.choose("starred", isOn ? "on" : null));
  const complaint = element("p.error", {role: "alert"});
  const count = element("span.quiet", {role: "status"});
  const compareButton = element("button", {onclick: () => compare()});
  const clearMarks = element("button", {onclick: () => selection.clearMarks()}, "Unmark all");
  const jump = element("input.jump", {type: "number", min: 1, placeholder: "Go to", ariaLabel: "Go to trial",
    onkeydown: event => event.key === "Enter" && goTo(jump.value)});
  const comparison = element("div");
  let columns = [], columnNames = "", timer = 0, endComparison = null;

  const table = new Table({name: "trials", label: "Trials", columns,
    href: trial => trial && `#/studies/${store.id}/trials/${trial.id}`,
    marks: {has: id => selection.marked.has(id), toggle: id => selection.toggleMark(id)},
    stars: onlyStudy() ? null : {has: isFavourite, toggle: may("submit") &&
      (trial => setFavourite(trialPath(store.id, trial.id), !isFavourite(trial)).then(() => store.refresh()))},
    hover: id => selection.hover(id), sorted: sort => selection.choose("sort", sortText(sort)),
    look: trial => [trial.id === selection.hovered && "hovered", trial === store.ranking[0] && "best"].filter(Boolean).join(" ")});
  const saving = element("details.menu", {}, element("summary.button", {}, "Download"), element("div.card", {},
    element("button", {onclick: () => download(`${store.status.name}.csv`, "text/csv", table.csv())}, "CSV"),
    element("button", {onclick: () => download(`${store.status.name}.json`, "application/json",
      JSON.stringify(table.records(), null, 2))}, "JSON"),
    element("button", {onclick: () => save("csv", "text/csv", exportCsv)}, "All trials, CSV"),
    element("button", {onclick: () => save("json", "application/json", exportJson)}, "All trials, JSON")));

  if (STATES.includes(choices.get("state"))) stateMenu.value = choices.get("state");
  replace(root, element("div.row.tools", {}, stateMenu, starred, filter, jump, table.chooser, saving, compareButton, clearMarks, count),
    complaint, table.element, comparison);

  // All of the study, with whatever the table lacks.
  async function save(end, type, make) {
    try {
      download(`${store.status.name}.${end}`, type, await make(store));
    } catch (problem) {
      replace(complaint, problem.message);
    }
  }

  function later(act) {
    clearTimeout(timer);
    timer = setTimeout(act, TYPE_MS);
  }

  // The columns follow the study, whose metrics and parameters come with it.
  function followColumns() {
    const tagged = store.trials.some(({tags}) => tags !== "");
    const names = [tagged, ...store.parameters, "", ...store.metrics, "", ...store.others].join("\n");
    if (names === columnNames) return;
    columnNames = names;
    columns = trialColumns(dimensionsOf(store), tagged);
    table.sort = readSort(choices.get("sort"), columns) ?? {key: columns[0].key, down: true};
    table.setColumns(columns);
  }

  function chosen() {
    let holds = () => true;
    replace(complaint);
    try {
      holds = readFilter(filter.value, columns);
    } catch (problem) {
      replace(complaint, problem.message);
    }
    return store.trials.filter(trial => isIn(stateMenu.value, trial) && (!choices.has("starred") || isFavourite(trial)) &&
      selection.accepts(trial) && holds(trial));
  }

  function draw() {
    followColumns();
    const rows = chosen();
    table.missing.textContent = store.trials.length === 0 ? "No trial has begun yet." : "No trial is like that.";
    table.show(rows);
    count.textContent = rows.length === store.trials.length ? format.plural(rows.length, "trial")
      : `${rows.length} of ${format.plural(store.trials.length, "trial")}`;
    drawMarks();
  }

  function drawMarks() {
    const n = selection.marked.size;
    compareButton.textContent = n > 0 ? `Compare ${n}` : "Compare";
    compareButton.disabled = n < 2 || n > MOST_COMPARED;
    compareButton.title = n > MOST_COMPARED ? `At most ${MOST_COMPARED} at a time` : n < 2 ? "Mark two or more trials" : "";
    clearMarks.hidden = n === 0;
  }

  function goTo(id) {
    if (table.goTo(id)) return table.grid.focus();
    replace(complaint, store.trial(id) ? `Trial ${id} is not among the shown ones.` : `There is no trial ${id}.`);
  }

  function compare() {
    selection.choose("compare", [...selection.marked].sort((a, b) => a - b).join(","));
    comparison.scrollIntoView({block: "nearest"});
  }

  function drawComparison() {
    endComparison?.();
    endComparison = null;
    const ids = readTrials(choices.get("compare"), store).slice(0, MOST_COMPARED);
    if (ids.length < 2) return;
    endComparison = showComparison(comparison, store, selection, ids, () => selection.choose("compare", null));
  }

  function picked(what) {
    if (["ranges", "filter", "state", "starred"].includes(what)) return draw();
    if (what === "compare") return drawComparison();
    if (what === "hovered") return table.drawSoon();
    if (what !== "marked") return;
    drawMarks();
    table.drawSoon();
  }

  let seen = -1;
  const unwatch = store.watch(() => {
    if (store.revision === seen) return;
    seen = store.revision;
    draw();
  });
  const unpick = selection.watch(picked);
  draw();
  drawComparison();
  if (endComparison !== null) requestAnimationFrame(() => comparison.scrollIntoView());
  return () => {
    clearTimeout(timer);
    unwatch();
    unpick();
    table.end();
    endComparison?.();
  };
}
