// question.js - an answer that the server works out from a study's results, as
// a plot needs it: asked for when the plot is seen, again when results have
// changed, and never more often than every few seconds.
import {get} from "./api.js";
import {StudyStore} from "./store.js";

const PAUSE_MS = 4000;

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

  // Called whenever the plot is drawn. The answer may be that of the last time.
  look() {
    const path = this.path();
    if (path === null || (path === this.asked && this.state(this.store) === this.askedAt)) return this;
    if (path !== this.asked) this.notBefore = 0;
    this.askLater();
    return this;
  }

  askLater() {
    clearTimeout(this.timer);
    if (this.asking) return; // its end looks again
    this.timer = setTimeout(() => this.ask(), Math.max(0, this.notBefore - Date.now()));
  }

  async ask() {
    this.asked = this.path();
    this.askedAt = this.state(this.store);
    if (this.asked === null) return;
    this.asking = true;
    const path = this.asked;
    try {
      const answer = await get(path);
      if (path === this.path()) [this.answer, this.problem] = [answer, null];
    } catch (problem) {
      if (path === this.path()) [this.answer, this.problem] = [null, problem];
    }
    this.asking = false;
    this.notBefore = Date.now() + this.pauseMs;
    this.answered();
  }

  end() {
    clearTimeout(this.timer);
    this.answered = () => {};
  }
}
