// store.js - one study as the page holds it: its job and the table of its
// trials, kept up to date by revisions.
//
// After the first answer only what changed is asked for; redraws are announced at
// most four times a second, whatever the server does.
import {all, get, studyPath, ApiError, OURS} from "./api.js";
import {listen} from "./live.js";
import {onlyStudy} from "./session.js";
import {numberOf, titleOf} from "./study_title.js";

const REDRAW_MS = 250;
const CALLED = /^[\w./-]+$/; // what a study may be called, and any number

// A trial as the pages use it.
function readTrial(columns, row) {
  const trial = {};
  columns.forEach((name, i) => trial[name] = row[i]);
  trial.others = new Map(Object.entries(trial.others ?? {}));
  trial.attempts = trial.attempts.map(([n, runner, state, startMs, endMs]) =>
    ({n, runner, state, startMs, endMs}));
  return trial;
}

export class StudyStore {
  // `key`: number or name of the study; the number once it is known, as a name
  // may pass on to another study.
  constructor(key) {
    this.key = key;
    this.job = null;      // the resource of its kind, without trials
    this.parameters = []; // names, in the order of trial.parameters
    this.metrics = [];    // names, in the order of trial.metrics; the first is
                          // the objective
    this.trials = [];     // by id
    this.revision = 0;
    this.error = null;    // ApiError: why it is not up to date
    this.watchers = new Set();
    this.byId = new Map();
    this.worked = {};     // what was worked out from the trials as they are
    this.wanted = false;
    this.loading = null;
    this.isEnding = false; // its server is asked to delete it
    this.isDeleted = false;
  }

  // Calls `redraw(store)` after changes, at first when the server was asked for
  // some. Returns the function that ends it; with the last one the store stops
  // following the study.
  watch(redraw) {
    this.watchers.add(redraw);
    if (!this.unlisten)
      this.unlisten = listen({
        changed: (study, revision, isNew) => this.hear(study, revision, isNew),
        presence: () => this.tell(),
      });
    this.refresh();
    return () => {
      this.watchers.delete(redraw);
      if (this.watchers.size > 0) return;
      this.unlisten();
      this.unlisten = null;
    };
  }

  // Whether there is no such study, for all the server has said.
  get isAbsent() { return this.error?.status === 404; }
  get id() { return this.job === null ? NaN : numberOf(this.job); }
  get status() { return this.job?.hypertuneStatus; }
  get title() { return titleOf(this.job); }
  get spec() { return this.job?.studySpec; }
  get goals() { return (this.spec?.metrics ?? []).filter(metric => !metric.safetyConfig); }
  get objective() { return this.goals[0]?.metricId ?? null; }
  // +1: larger is better, -1: smaller is.
  get direction() { return this.goals[0]?.goal === "MINIMIZE" ? -1 : 1; }

  // The value that a trial has for a parameter or metric.
  parameter(trial, name) { return trial.parameters[this.parameters.indexOf(name)]; }
  metric(trial, name) { return trial.metrics[this.metrics.indexOf(name)]; }
  trial(id) { return this.byId.get(Number(id)); }

  // Whether the trial's objective counts as a result of the search.
  static hasResult(trial) {
    return trial.objective !== null && trial.confirms === 0 &&
      (trial.state === "SUCCEEDED" || trial.state === "STOPPED");
  }

  // Whether the server counts the trial as failed.
  static hasFailed(trial) { return trial.state === "FAILED" || trial.state === "INFEASIBLE"; }

  // Names of metrics that trials have reported and that are no goals.
  get others() {
    return this.worked.others ??= [...new Set(this.trials.flatMap(({others}) => [...others.keys()]))].sort();
  }

  get results() { return this.worked.results ??= this.trials.filter(StudyStore.hasResult); }

  // Whether the trial keeps the bounds of all safety metrics.
  isSafe(trial) {
    return (this.spec?.metrics ?? []).every(({metricId, goal, safetyConfig}) => {
      if (!safetyConfig) return true;
      const value = this.metric(trial, metricId), bound = Number(safetyConfig.safetyThreshold ?? 0);
      return Number.isFinite(value) && (goal === "MINIMIZE" ? value <= bound : value >= bound);
    });
  }

  // Results within all bounds, the best first.
  get ranking() {
    return this.worked.ranking ??= this.results.filter(trial => this.isSafe(trial))
      .sort((a, b) => this.direction * (b.objective - a.objective) || a.id - b.id);
  }

  hear(study, revision, isNew) {
    if (this.job === null) {
      if (isNew || !this.isAbsent) this.refresh();
    } else if (study === this.id && revision > this.revision) {
      if (revision === Infinity) this.lose();
      else this.refresh();
    }
  }

  // Asks for what changed; one question at a time, the last one wins. A number
  // is given once, so that nothing more can be known of a study that is gone.
  refresh() {
    if (this.isEnding || this.isDeleted || (this.isAbsent && this.job !== null)) return;
    this.wanted = true;
    this.loading ??= this.load().finally(() => {
      this.loading = null;
    });
  }

  // Deletes the study by `act()`, while nothing is asked of it.
  async end(act) {
    this.isEnding = true;
    await this.loading;
    try {
      await act();
      this.lose();
    } finally {
      this.isEnding = false;
      this.refresh();
    }
  }

  // What was known of it stays, and no answer under way changes that.
  lose() {
    this.isDeleted = true;
    this.error = new ApiError(404, "the study has been deleted");
    this.tell();
  }

  // Looks in the list, which may lack it: to ask for what is not there is an
  // error to the browser.
  async find() {
    const path = `${OURS}/studies?readMask=name&filter=${encodeURIComponent(`name="${this.key}"`)}`;
    if (!CALLED.test(this.key) || (await all(path, "studies")).length === 0) throw new ApiError(404, "there is no such study");
  }

  async load() {
    while (this.wanted && !this.isDeleted) {
      this.wanted = false;
      let error = null;
      try {
        if (this.job === null && !onlyStudy()) await this.find();
        const [job, table] = await Promise.all([
          get(studyPath(this.key)), get(`${studyPath(this.key)}/table?since=${this.revision}`)]);
        this.take(job, table);
      } catch (problem) {
        if (!(problem instanceof ApiError)) throw problem;
        error = problem;
      }
      if (!this.isDeleted) this.error = error;
      this.tell();
      await new Promise(resolve => setTimeout(resolve, REDRAW_MS));
    }
  }

  take(job, table) {
    this.job = job;
    this.key = String(this.id);
    this.parameters = table.parameters;
    this.metrics = table.metrics;
    if (table.complete) this.byId.clear();
    for (const row of table.rows) {
      const trial = readTrial(table.columns, row);
      this.byId.set(trial.id, trial);
    }
    for (const id of table.deleted) this.byId.delete(id);
    this.trials = [...this.byId.values()].sort((a, b) => a.id - b.id);
    this.revision = table.revision;
    this.worked = {};
  }

  tell() {
    for (const redraw of this.watchers) redraw(this);
  }
}
