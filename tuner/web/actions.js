// actions.js - what one can do with a study.
import {element, replace, notice} from "./dom.js";
import {ApiError, patch, post, remove, studyPath, trialPath} from "./api.js";
import {actDialog, field} from "./dialog.js";
import {copy, shellWord, yamlOf} from "./copy.js";
import {pointForm} from "./point_form.js";
import {StudyStore} from "./store.js";
import {mostTrials} from "./study_figures.js";
import {plural} from "./format.js";
import {may} from "./session.js";

export const OVER = ["SUCCEEDED", "STOPPED", "FAILED", "CANCELLED"];

const isOver = store => OVER.includes(store.status.state);
const searches = store => store.status.kind !== "CUSTOM";
const runsItself = store => store.status.kind === "TUNING";
// Clients run what they ask for; of a study that has ended, or where they choose
// the points, no one would.
const canConfirm = (store, open) => runsItself(store) || (searches(store) && open && !store.status.openSpace);

// Does it at once; a refusal is shown at the edge of the page.
async function attempt(store, act) {
  try {
    await act();
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    notice(problem.message, "error");
  }
  store.refresh();
}

const doNow = (store, verb) => attempt(store, () => post(`${studyPath(store.id)}:${verb}`));

export const resume = store => doNow(store, "resume");

// What made the trials fail is repaired: they run again, and the study continues,
// also where one of them cannot.
export const repaired = store => attempt(store, async () => {
  let refusal = null;
  for (const {id} of store.trials.filter(StudyStore.hasFailed))
    await post(`${trialPath(store.id, id)}:retry`).catch(problem => refusal ??= problem);
  await post(`${studyPath(store.id)}:resume`, {repaired: true});
  if (refusal !== null) throw refusal;
});

// Takes the recognised pattern, for later trials and for the logs of the ended.
export const readLogs = store => attempt(store, async () => {
  const patterns = [store.status.metricPattern];
  let read = 0, left = 0;
  for (let after = "0"; after;) {
    const answer = await post(`${studyPath(store.id)}:readLogs`, {patterns, after: Number(after)});
    read += answer.read.length;
    left += answer.left.length;
    after = answer.next;
  }
  notice(`${plural(read, "trial")} got the result from the log${left > 0 ? `, ${left} did not` : ""}`);
});

// --- ends ---

function askStop(store) {
  return actDialog({title: `Stop ${store.title}?`, label: "Stop", kind: "danger",
    body: element("p", {}, "No further trials begin; running ones are ended and their results kept."),
    act: () => post(`${studyPath(store.id)}:stop`)});
}

function askCancel(store) {
  return actDialog({title: `Cancel ${store.title}?`, label: "Cancel the study", kind: "danger",
    body: element("p", {}, "Running trials are ended and their results discarded. A cancelled study cannot continue later."),
    act: () => post(`${studyPath(store.id)}:cancel`)});
}

async function askDelete(store) {
  const {name} = store.status;
  const typed = element("input", {autocomplete: "off", spellcheck: false});
  const gone = await actDialog({title: `Delete ${store.title}?`, label: "Delete", kind: "danger", ready: () => typed.value === name,
    body: [element("p", {}, "Its trials, measurements and logs are removed for good."), field(`Type its name: ${name}`, typed)],
    act: () => store.end(() => remove(studyPath(store.id)))});
  if (gone) location.hash = "#/";
}

// --- changes ---

async function askTrial(store) {
  const best = store.status.best?.hypertune?.params ?? {};
  const form = pointForm(store.spec.parameters, store.job.hypertune?.parameters ?? {}, best);
  let made = null;
  await actDialog({title: "Add a trial", label: "Add", body: [element("p.quiet", {},
    store.status.best ? "Filled with the best trial so far. " : "", "The search chooses what you leave empty. ",
    runsItself(store) ? "It runs before the search's suggestions." : "The next client gets it."),
  element("button", {type: "button", onclick: () => form.clear()}, "Empty all"), form.element],
  act: async () => {
    const parameters = form.read();
    try {
      made = await post(`${studyPath(store.id)}/trials`, {parameters});
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      throw new ApiError(problem.status, form.name(problem.message, parameters), problem.violations.map(({field: at, description}) =>
        ({field: form.name(at, parameters), description})));
    }
  }});
  if (made) notice(`Trial ${made.id} was added`);
}

// `least` and `most` as the server takes them.
function countInput(value, least, most) {
  return element("input", {type: "number", min: least, max: most, value: value > 0 ? value : ""});
}

// Only what was changed is sent.
function changedCounts(inputs) {
  return Object.fromEntries(Object.entries(inputs).filter(([, {input, before}]) => input.value !== "" && Number(input.value) !== before)
    .map(([name, {input}]) => [name, Number(input.value)]));
}

function askCounts(store) {
  const {job} = store;
  const make = (value, least, most) => ({input: countInput(value, least, most), before: value});
  const inputs = {maxTrialCount: make(mostTrials(store), 1, 100000)};
  if (runsItself(store)) {
    inputs.parallelTrialCount = make(Number(job.parallelTrialCount ?? 1), 1, 1000);
    inputs.maxFailedTrialCount = make(Number(job.maxFailedTrialCount ?? 0), 0, 100000);
  }
  return actDialog({title: "Change the counts", label: "Change", body: element("div.form", {},
    field("Most trials", inputs.maxTrialCount.input, isOver(store) ? "More of them reopen the study." : ""),
    runsItself(store) && [field("Trials at a time", inputs.parallelTrialCount.input),
      field("Failed trials that end it", inputs.maxFailedTrialCount.input, "0: as many as there are")]),
  act: () => patch(studyPath(store.id), changedCounts(inputs))});
}

async function askConfirm(store) {
  const top = element("input", {type: "number", min: 1, max: 20, value: 3});
  const seeds = element("input", {type: "number", min: 1, max: 100, value: 5});
  const asked = await actDialog({title: "Confirm the best", label: "Run them again", body: [
    element("p.quiet", {}, "The best of a search is partly luck. The best points run again, each with other seeds."),
    element("div.form", {}, field("Best points", top), field("Runs of each", seeds))],
  act: () => post(`${studyPath(store.id)}:confirm`, {top: Number(top.value), seeds: Number(seeds.value)})});
  if (asked) notice("The best run again");
}

const goTo = (store, page) => location.hash = `#/studies/${store.id}/${page}`;

// --- the bar ---

function copyMenu(store) {
  const best = () => store.status.best.hypertune;
  const item = (label, text) => element("button", {onclick: () => copy(text(), `the best as ${label}`)}, `As ${label}`);
  return element("details.menu", {}, element("summary.button", {}, "Copy best"), element("div.card", {},
    item("arguments", () => best().args.map(shellWord).join(" ")),
    item("JSON", () => JSON.stringify(best().params, null, 2)),
    item("YAML", () => yamlOf(best().params))));
}

// What there is to do in this state, for this reader; `first`: beside the menu of
// the rest.
function actionsOf(store) {
  const {state, best} = store.status;
  const open = !isOver(store), ending = state === "STOPPING" || state === "CANCELLING";
  const canAdd = searches(store) && open && !ending && (store.spec?.parameters ?? []).length > 0;
  return [
    {label: "Pause", first: true, when: state === "RUNNING" && searches(store), act: () => doNow(store, "pause")},
    {label: "Resume", first: true, when: state === "PAUSED", act: () => resume(store)},
    {label: "Add a trial", when: canAdd, act: () => askTrial(store)},
    {label: "Extend", first: true, when: searches(store) && state !== "CANCELLED", act: () => askCounts(store)},
    {label: "Edit", when: searches(store) && !store.status.openSpace && state !== "CANCELLED" && !ending, act: () => goTo(store, "edit")},
    {label: "Clone", when: searches(store) && !store.status.openSpace, act: () => goTo(store, "clone")},
    {label: "Confirm best", when: Boolean(best) && canConfirm(store, open) && !ending, act: () => askConfirm(store)},
    {label: "Stop", kind: "danger", when: open && state !== "CANCELLING" && searches(store), act: () => askStop(store)},
    {label: "Cancel", kind: "danger", when: open && state !== "CANCELLING", act: () => askCancel(store)},
    {label: "Delete", kind: "danger", when: !open, act: () => askDelete(store)},
  ].filter(({when}) => when && may("submit"));
}

const actionButton = ({label, kind, act}) => element(kind ? `button.${kind}` : "button", {onclick: act}, label);

// Fills `root`. Returns the function that ends it. The menus are made once, so
// that none closes under the pointer when what there is to do changes.
export function actionsBar(root, store) {
  const copying = copyMenu(store), others = element("div.card");
  const more = element("details.menu", {}, element("summary.button", {}, "More"), others);
  const first = element("div.row");
  replace(root, element("div.row.actions", {role: "toolbar", ariaLabel: "Actions"}, copying, first, more));
  let shown = null;

  function draw() {
    const actions = actionsOf(store), rest = actions.filter(one => !one.first);
    copying.hidden = !store.status.best || !searches(store);
    more.hidden = rest.length === 0;
    const now = actions.map(({label}) => label).join();
    if (now === shown) return;
    shown = now;
    replace(first, actions.filter(one => one.first).map(actionButton));
    replace(others, rest.map(actionButton));
  }

  draw();
  return store.watch(draw);
}
