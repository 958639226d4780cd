// study_title.js - what a study is called: by the name that a person gave it,
// and by the one that commands and addresses take; and its state.
import {element} from "./dom.js";
import * as format from "./format.js";

// `job`: the resource of a study, here and below.
export const titleOf = job => job.displayName?.trim() || job.hypertuneStatus.name;

export const numberOf = job => Number(job.name.split("/").pop());

// Both names, the other one only where it differs.
export function namesOf(job) {
  return [...new Set([titleOf(job), job.hypertuneStatus.name])];
}

export const slugWord = slug => element("code.slug", {title: "Its name in commands"}, slug);

// The same for the page, the second beside the first.
export function titleWords(job) {
  const [title, slug] = namesOf(job);
  return [element("bdi", {}, title), slug && [" ", slugWord(slug)]];
}

// "succeeded, 4 of 6 failed". `status`: of a study, here and below.
export function stateWords({state, failures}) {
  return failures?.mostly ? `${format.state(state)}, ${failures.words}` : format.state(state);
}

export function stateChip(status, title = null) {
  const look = status.failures?.mostly ? "doubtful" : status.state.toLowerCase();
  return element(`span.state.${look}`, {title}, stateWords(status));
}

// Why it is in its state, and what failed although it ended well.
export function reasonWords({reason, failures}) {
  const failed = failures && (failures.reason ? `${failures.words}: most often '${failures.reason}'` : failures.words);
  return [reason, failed].filter(Boolean).join("; ");
}
