// study_title.js - what a study is called: by the name that a person gave it,
// and by the one that commands and addresses take.
import {element} from "./dom.js";

// `job`: the resource of a study, here and below.
export const titleOf = job => job.displayName?.trim() || job.hypertuneStatus.name;

// Both names, the other one only where it differs.
export function namesOf(job) {
  return [...new Set([titleOf(job), job.hypertuneStatus.name])];
}

// The same for the page, the second beside the first.
export function titleWords(job) {
  const [title, slug] = namesOf(job);
  return [element("bdi", {}, title), slug && [" ", element("code.slug", {title: "Its name in commands"}, slug)]];
}
