// held_banner.js - of a study that the server itself has paused: what was seen,
// what to do about it, and the button that continues.
import {element, renew} from "./dom.js";
import {resume} from "./actions.js";
import {StudyStore} from "./store.js";
import {trialLink} from "./trial_columns.js";
import {may} from "./session.js";

function bannerOf(store) {
  const {held, reason} = store.status;
  if (!held) return null;
  const newest = store.trials.findLast(StudyStore.hasFailed);
  return element("section.card.held", {ariaLabel: "Paused by the server"},
    element("h2", {}, "Paused by the server, before more trials are spent in vain"),
    element("p.reason", {}, element("bdi", {}, reason)),
    element("p", {}, "Repair what this names: in the program, its image, or on the machine that runs it.",
      newest && [" The output of ", trialLink(store, newest, `trial ${newest.id}`), " may show more."],
      " Then resume: the study continues with its next trials."),
    may("submit") && element("div.row", {}, element("button.primary", {onclick: () => resume(store)}, "Resume the study"),
      element("a.button", {href: `#/studies/${store.id}/edit`}, "Edit the spec")));
}

// Fills `root` while the study is held. Returns the function that ends it.
export function heldBanner(root, store) {
  const draw = () => renew(root, bannerOf(store));
  draw();
  return store.watch(draw);
}
