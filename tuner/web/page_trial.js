// page_trial.js - one trial: its curves and its output, and beside them what it
// ran, why it was chosen and how it ended.
import {element, exact, renew, replace, notice, pairList} from "./dom.js";
import {ApiError, get, post, trialPath} from "./api.js";
import {openStudy, settleAddress} from "./open_study.js";
import {Selection} from "./selection.js";
import {actDialog, field} from "./dialog.js";
import {copy, shellWord} from "./copy.js";
import {showPlots} from "./plot_card.js";
import {trialCurvesPlot} from "./plot_trial_curves.js";
import {stopCurvePlot} from "./plot_stop_curve.js";
import {showUsage} from "./plot_usage.js";
import {whyPlot} from "./plot_why.js";
import {figure} from "./study_head.js";
import {comparisonOf, stateLabel, trialLink} from "./trial_columns.js";
import {notesCard} from "./notes.js";
import {filesCard} from "./trial_files.js";
import {trialLog} from "./trial_log.js";
import {doctorPairs, exitWords, factPairs, stopPairs, whyPairs} from "./trial_words.js";
import {attributeList} from "./user_attributes.js";
import {may, onlyStudy} from "./session.js";
import * as format from "./format.js";

const card = (title, ...content) => element("section.card", {ariaLabel: title}, element("h2", {}, title), content);

// --- what it is ---

function resultCard(store, trial) {
  const own = trial.hypertune;
  const measured = trial.finalMeasurement?.metrics ?? Object.entries(own.latest?.metrics ?? {})
    .map(([metricId, value]) => ({metricId, value}));
  return card("Result", pairList([
    ...measured.map(({metricId, value}) => [metricId, exact(value)]),
    ["Step", trial.finalMeasurement?.stepCount ?? own.latest?.step],
    ["Took", format.duration(own.startTimeMs > 0 ? (own.endTimeMs || Date.now()) - own.startTimeMs : null)],
    ["Made", format.moment(own.createTimeMs)], ["Began", format.moment(own.startTimeMs)], ["Ended", format.moment(own.endTimeMs)],
    ["Client", trial.clientId], ["Outputs", own.outputs],
    own.confirms ? ["Confirms", trialLink(store, {id: own.confirms}, `trial ${own.confirms}`)] : ["", ""],
    own.replicate > 0 ? ["Run of this point", `number ${Number(own.replicate) + 1}, HYPERTUNE_SEED=${own.replicate}`] : ["", ""]]));
}

function parametersCard(trial) {
  const params = Object.entries(trial.hypertune.params);
  return params.length > 0 && card("Parameters", pairList(params.map(([name, value]) => [name, exact(value)])),
    element("div.row", {}, element("button", {onclick: () => copy(trial.hypertune.args.map(shellWord).join(" "), "the arguments")},
      "Copy as arguments"),
    element("button", {onclick: () => copy(JSON.stringify(trial.hypertune.params, null, 2), "the parameters")}, "Copy as JSON")));
}

function commandCard({hypertune: {commands = []}}) {
  if (commands.length === 0) return null;
  const distributed = commands.some(({replicas}) => replicas > 1) || commands.length > 1;
  return card("Command", commands.map(({type, replicas, image, words}) => {
    const line = words.map(shellWord).join(" ");
    return element("div", {},
      element("p", {}, distributed ? element("strong", {}, `${type} × ${replicas}`) : "", " ", image && element("code", {}, image)),
      line ? element("pre.command", {}, line) : element("p.quiet", {}, "The image's own entry point, without arguments."),
      line && element("button", {onclick: () => copy(line, "the command")}, "Copy"));
  }), element("p.quiet.note", {}, distributed
    ? "CLUSTER_SPEC and TF_CONFIG name the addresses of the replicas. The runner makes them when an attempt begins; they are not kept."
    : "CLUSTER_SPEC and TF_CONFIG name this one replica. The runner makes them when an attempt begins; they are not kept."));
}

// --- why and how ---

function attemptRow({attempt, outcome, state, exit, signal, reason, runner, facts, startTimeMs, endTimeMs}) {
  const code = signal ? 128 + signal : exit;
  const end = signal ? `signal ${signal}` : exit !== undefined ? `exit ${exit}` : "";
  const words = code > 0 ? exitWords(code) : "", more = reason && reason !== end;
  return element("li", {},
    element("p", {}, element("strong", {}, `Attempt ${attempt}: ${format.state(outcome || state)}`), " ",
      element("span.quiet", {}, [more && reason.startsWith(end) ? "" : end, words].filter(Boolean).join(", "))),
    more && element("p", {}, element("bdi", {}, reason)),
    pairList([["Began", format.moment(startTimeMs)], ["Took", endTimeMs > 0 && startTimeMs > 0 ? format.duration(endTimeMs - startTimeMs) : ""],
      ["Runner", runner], ...factPairs(facts), ["Output folder", facts?.output]]));
}

function attemptsCard({hypertune: {attempts = []}}) {
  return attempts.length > 0 && card("Attempts", element("ol.attempts", {}, attempts.slice().reverse().map(attemptRow)));
}

function whyCard({hypertune: {why}}) {
  return why && card("Why this point", pairList(whyPairs(why)));
}

function stopCard({hypertune: {stop, state}}) {
  return stop && card(state === "PAUSED" ? "Why it is paused" : "Why it was stopped", pairList(stopPairs(stop)));
}

function attributesCard({hypertune}) {
  const list = attributeList(hypertune);
  return list && card("User attributes", list);
}

function doctorCard({hypertune: {doctor, objective}}) {
  const pairs = doctor && objective === undefined ? doctorPairs(doctor) : [];
  return pairs.length > 0 && card(`Instead of ${doctor.metric}`, pairList(pairs));
}

// --- actions ---

async function doNow(act, reload) {
  try {
    await act();
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    notice(problem.message, "error");
  }
  reload();
}

function askInfeasible(store, trial) {
  const reason = element("input", {autocomplete: "off"});
  return actDialog({title: "Mark the trial infeasible?", label: "Mark infeasible", kind: "danger", body: [
    element("p", {}, "The search learns that this point gives no result."), field("Reason", reason)],
  act: () => post(`/v1/${store.job.name}/trials/${trial.id}:complete`, {trialInfeasible: true, infeasibleReason: reason.value})});
}

function actions(store, trial, reload) {
  if (!may("submit")) return [];
  const path = trialPath(store.id, trial.id), {state} = trial.hypertune, {kind} = store.status;
  const ended = ["FAILED", "INFEASIBLE", "STOPPED", "CANCELLED"].includes(state);
  const open = ["ACTIVE", "STOPPING", "REQUESTED"].includes(state);
  return [
    kind !== "CUSTOM" && ["ACTIVE", "REQUESTED", "PAUSED"].includes(state) &&
      element("button", {onclick: () => doNow(() => post(`${path}:stop`), reload)}, "Stop"),
    kind === "TUNING" && ended && element("button", {onclick: () => doNow(() => post(`${path}:retry`), reload)}, "Run again"),
    kind === "STUDY" && open && element("button", {onclick: () => askInfeasible(store, trial).then(reload)}, "Mark infeasible")];
}

// --- the page ---

function headFigures(store, trial) {
  const {objective, startTimeMs, endTimeMs} = trial.hypertune, isBest = store.ranking[0]?.id === Number(trial.id);
  return element("dl.figures", {},
    objective !== undefined && element(isBest ? "div.figure.hero" : "div.figure", {}, element("dt", {}, element("bdi", {}, store.objective)),
      element("dd", {}, element("bdi", {}, format.number(objective)),
        isBest && element("span.tag", {title: "No other trial has a better result"}, "★ best"))),
    startTimeMs > 0 && figure("Took", format.duration((endTimeMs || Date.now()) - startTimeMs)));
}

function heading(store, trial, reload) {
  const own = trial.hypertune, [best] = store.ranking;
  const next = step => store.trials[store.trials.findIndex(({id}) => id === Number(trial.id)) + step];
  const link = (other, label) => other && element("a.button", {href: `#/studies/${store.id}/trials/${other.id}`}, label);
  return [
    element("p.crumbs", {}, element("a", {href: `#/studies/${store.id}`}, element("bdi", {}, store.title)), " / ",
      element("a", {href: `#/studies/${store.id}/trials`}, "trials"), ` / ${trial.id}`),
    element("header.card.head", {},
      element("div.title", {}, element("h1", {}, `Trial ${trial.id}`), element("p.row", {}, stateLabel({state: own.state, reason: own.reason}))),
      headFigures(store, trial),
      element("div.row.actions", {}, actions(store, trial, reload), best && best.id !== Number(trial.id) &&
        element("a.button", {href: comparisonOf(store, [best, trial])}, "Compare with the best"), link(next(-1), "Previous"), link(next(1), "Next"))),
    own.reason && element("p.reason", {}, element("bdi", {}, own.reason)),
    own.silence && element("p.reason", {}, "It is ", element("bdi", {}, own.silence), "."),
    own.recordsDropped && element("p.reason", {}, `It reports more than its budget allows: ${own.recordsDropped} records are not stored, its result counts all.`),
    own.outside && element("p.quiet", {}, "It lies outside the space as it is now: the search learns from it, and suggests nothing like it.")];
}

class TrialPage {
  constructor(root, study, id) {
    Object.assign(this, {root, study, id, store: openStudy(study).store, trial: null, log: null, ends: [], seen: "", asking: false, again: false});
    this.head = element("div");
    this.complaint = element("p.error", {role: "alert"});
    this.cards = element("div.packed");
    this.plots = element("div");
    this.files = element("div.left");
    this.usage = element("div");
    this.notes = element("div.lists");
    this.output = element("section.card");
    replace(root, element("p.quiet", {}, "Loading …"));
    this.ends.push(this.store.watch(() => this.follow()));
    this.follow();
  }

  // Asks again when the table says that the trial changed.
  follow() {
    const {store} = this;
    if (store.job === null) return store.error !== null && this.refuse(store.isAbsent ? "There is no such study." : store.error.message);
    const row = store.trial(this.id), now = JSON.stringify(row ?? null);
    if (now === this.seen) return;
    this.seen = now;
    if (row) this.load();
    else if (this.trial === null) this.refuse(`There is no trial ${this.id}.`);
    else replace(this.complaint, "This trial has been deleted; what is shown is its last state.");
  }

  async load() {
    this.again = true;
    if (this.asking) return;
    this.asking = true;
    while (this.again) {
      this.again = false;
      try {
        this.take(await get(trialPath(this.store.key, this.id)));
      } catch (problem) {
        if (!(problem instanceof ApiError)) throw problem;
        if (this.trial === null) this.refuse(problem.message);
        else replace(this.complaint, problem.message);
      }
    }
    this.asking = false;
  }

  refuse(text) {
    replace(this.root, element("section.empty", {}, element("h1", {}, text),
      element("a.button", {href: `#/studies/${encodeURIComponent(this.store.key)}`}, "To the study")));
  }

  take(trial) {
    if (this.ends.length === 0) return; // the page was left meanwhile
    const first = this.trial === null;
    this.trial = trial;
    replace(this.complaint);
    document.title = `Trial ${trial.id}, ${format.visible(this.store.title)} - hypertune`;
    if (first) this.build();
    this.showPlots();
    renew(this.head, heading(this.store, trial, () => this.load()));
    renew(this.cards, [resultCard(this.store, trial), doctorCard(trial), parametersCard(trial), attributesCard(trial), commandCard(trial), whyCard(trial),
      stopCard(trial), attemptsCard(trial)]);
    this.log?.follow();
  }

  build() {
    const {store, id} = this;
    settleAddress(this.study, store);
    const printed = store.status.kind !== "STUDY" && !onlyStudy();
    replace(this.root, this.head, this.complaint, element("div.trial", {},
      element("div.runs", {}, this.plots, this.usage, printed && this.files, printed && this.output), element("div.side", {}, this.cards, this.notes)));
    this.ends.push(notesCard(this.notes, store, trialPath(store.key, id)));
    if (!printed) return;
    this.ends.push(showUsage(this.usage, store, id, () => !(this.trial.hypertune.endTimeMs > 0)),
      filesCard(this.files, store, trialPath(store.key, id), () => this.trial.hypertune.endTimeMs > 0));
    this.log = trialLog(this.output, store.key, id, () => this.trial);
    this.ends.push(() => this.log.end());
  }

  // Once there is, or may come, something to plot.
  showPlots() {
    const {store, trial, id} = this, {stop, why, endTimeMs} = trial.hypertune, makers = [];
    if (this.plots.firstChild || store.metrics.length === 0) return;
    if (!(endTimeMs > 0) || trial.measurements.length > 0)
      makers.push(trialCurvesPlot({title: "Curves", ids: [Number(id)], median: store.status.kind !== "CUSTOM"}));
    if (stop?.curve?.length > 1) makers.push(stopCurvePlot(stop));
    if (why && store.parameters.length > 0) makers.push(whyPlot(trial));
    if (makers.length > 0) this.ends.push(showPlots(this.plots, store, new Selection(), makers));
  }

  end() {
    for (const end of this.ends) end();
    this.ends = [];
    document.title = "hypertune";
  }
}

export function trialPage(root, {parts}) {
  const page = new TrialPage(root, parts[1], parts[3]);
  return () => page.end();
}
