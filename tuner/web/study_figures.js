// study_figures.js - the figures of a study in words: how far it
// is, what is best, when it is likely to end.

const RECENT = 30; // trials whose pace predicts when the rest will have ended
const LEAST = 3;

// The most trials that the study may have, 0: no bound.
export function mostTrials(store) {
  const stopping = Number(store.spec?.studyStoppingConfig?.maxNumTrials ?? 0);
  const most = Number(store.job.maxTrialCount ?? 0);
  return most > 0 && stopping > 0 ? Math.min(most, stopping) : most || stopping;
}

export function figuresOf(store) {
  const {counts, best, optimal, confirming} = store.status;
  const value = best?.finalMeasurement?.metrics?.find(({metricId}) => metricId === store.objective)?.value;
  return {
    best: best ? {trial: best.id, value: value ?? best.hypertune?.objective ?? null} : null,
    optimal: optimal?.length ?? 0,
    most: mostTrials(store),
    ended: counts.succeeded + counts.stopped + counts.failed + counts.cancelled,
    running: counts.active + counts.stopping,
    stopped: counts.stopped,
    failed: counts.failed,
    cancelled: counts.cancelled,
    infeasible: counts.infeasible,
    confirming: confirming ?? 0,
  };
}

// How long the rest takes at the pace of the newest trials, in ms; null while
// that is unknown or the study has no bound.
export function timeLeft(store, now = Date.now()) {
  const {most, ended} = figuresOf(store);
  if (store.status.state !== "RUNNING" || most <= ended) return null;
  const ends = store.trials.filter(trial => trial.endMs > 0 && trial.confirms === 0)
    .map(trial => trial.endMs).sort((a, b) => a - b).slice(-RECENT);
  if (ends.length < LEAST) return null;
  return Math.max(0, now - ends[0]) / ends.length * (most - ended);
}
