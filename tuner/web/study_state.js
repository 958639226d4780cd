// study_state.js - how it stands with a study: its state, with a warning when it
// ended well although most of its trials failed.
import {element} from "./dom.js";
import * as format from "./format.js";

// "succeeded, 4 of 6 failed". `status`: of the study, here and below.
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
