// importance.js - how much each parameter matters for a metric, as the server
// works it out.
import {studyPath} from "./api.js";
import {Question} from "./question.js";

// Of the metric that `metric()` returns; null or undefined while there is none.
export function importanceQuestion(store, metric, answered, pause = {}) {
  return new Question(store, () => {
    const chosen = metric();
    return chosen ? `${studyPath(store.key)}/importances?metric=${encodeURIComponent(chosen.name)}` : null;
  }, answered, pause);
}

// The parameters as they matter by that answer, the most first; as they are where it
// does not know them or is null.
export function byImportance(parameters, answer) {
  const places = new Map((answer?.importances ?? []).map(({parameter}, at) => [parameter, at]));
  const place = ({name}) => places.get(name) ?? Infinity;
  return parameters.slice().sort((a, b) => place(a) === place(b) ? 0 : place(a) - place(b));
}
