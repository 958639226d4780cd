// open_study.js - the study that is looked at, kept while one goes from page to
// page of it, so that its trials are fetched once.
import {StudyStore} from "./store.js";
import {Selection} from "./selection.js";

let last = null;

// {store, selection} of the study with that number or name.
export function openStudy(key) {
  if (last?.store.key !== key) last = {store: new StudyStore(key), selection: new Selection()};
  return last;
}

// Where the address names the study by that name or number, it has the number
// from now on, so that going back finds the study that was left.
export function settleAddress(key, {id}) {
  const [, named, rest] = /^#\/studies\/([^/?]+)(.*)/.exec(location.hash) ?? [];
  if (named !== undefined && decodeURIComponent(named) === key) history.replaceState(null, "", `#/studies/${id}${rest}`);
}
