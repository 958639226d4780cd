// question.js - an answer that the server works out from a study's results, as
// a plot needs it: asked for when the plot is seen, again when results have
// changed, and never more often than every few seconds.
import {get} from "./api.js";
import {StudyStore} from "./store.js";

const PAUSE_MS = 4000;
const MOST_KEPT = 30; // answers of a study

const kept = new WeakMap(); // store -> Map of path -> {answer, state}

const keptOf = store => kept.get(store) ?? kept.set(store, new Map()).get(store);

// What was asked before is there at once when its plot is shown again.
function keep(store, path, known) {
  const answers = keptOf(store);
  answers.delete(path);
  answers.set(path, known);
  if (answers.size > MOST_KEPT) answers.delete(answers.keys().next().value);
}

// Changes with every result that comes or goes.
export function stateOfResults(store) {
  let n = 0, newest = 0;
  for (const trial of store.trials) {
    if (!StudyStore.hasResult(trial)) continue;
    n++;
    newest = Math.max(newest, trial.endMs);
  }
  return `${n} ${newest}`;
}

export class Question {
  // `path()`: what to GET, null while there is nothing to ask.
  // `answered()` is called when there is an answer or a problem.
  constructor(store, path, answered, {pauseMs = PAUSE_MS, state = stateOfResults} = {}) {
    Object.assign(this, {store, path, answered, pauseMs, state});
    this.answer = null;
    this.problem = null; // ApiError of the newest time
    this.asked = null;   // the path
    this.askedAt = null; // state of the results
    this.timer = 0;
    this.asking = false;
    this.notBefore = 0;
  }

  // Called whenever the plot is drawn. The answer is to this question, but may
  // be that of the last time.
  look() {
    const path = this.path();
    if (path !== this.asked) this.turnTo(path);
    if (path !== null && this.state(this.store) !== this.askedAt) this.askLater();
    return this;
  }

  turnTo(path) {
    const {answer = null, state = null} = keptOf(this.store).get(path) ?? {};
    Object.assign(this, {asked: path, askedAt: state, answer, problem: null, notBefore: 0});
  }

  askLater() {
    clearTimeout(this.timer);
    if (this.asking) return; // its end looks again
    this.timer = setTimeout(() => this.ask(), Math.max(0, this.notBefore - Date.now()));
  }

  async ask() {
    const {asked: path, store} = this;
    if (path === null) return;
    const state = this.askedAt = this.state(store);
    let answer = null, problem = null;
    this.asking = true;
    try {
      answer = await get(path);
      keep(store, path, {answer, state});
    } catch (failure) {
      problem = failure;
    }
    if (path === this.asked) Object.assign(this, {answer, problem});
    this.asking = false;
    this.notBefore = Date.now() + this.pauseMs;
    this.answered();
  }

  end() {
    clearTimeout(this.timer);
    this.answered = () => {};
  }
}
