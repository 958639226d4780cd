// user_attributes.js - what clients of Optuna keep with a study or a trial.
import {element, pairList} from "./dom.js";

// JSON texts by name; null when there are none.
export function attributeList({userAttributes, moreUserAttributes}) {
  return userAttributes ? [pairList(Object.entries(userAttributes)),
    moreUserAttributes && element("p.quiet.note", {}, "Not all are shown: some are long, or there are many.")] : null;
}
