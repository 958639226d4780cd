// trial_columns.js - the columns of the table of trials.
import {element} from "./dom.js";
import {StudyStore} from "./store.js";
import {tagChips, withoutFavourite, wordsOf} from "./tags.js";
import * as format from "./format.js";

// A link to the page of a trial, `label` unless its number is enough.
export function trialLink(store, {id}, label = String(id)) {
  return element("a", {href: `#/studies/${store.id}/trials/${id}`}, label);
}

// The address of the trials side by side.
export const comparisonOf = (store, trials) => `#/studies/${store.id}/trials?compare=${trials.map(({id}) => id).join(",")}`;

export function stateLabel(trial) {
  return element(`span.state.${trial.state.toLowerCase()}`, {title: trial.reason}, format.state(trial.state));
}

// Its state, and what is special about it.
function state(trial) {
  const tags = [trial.confirms > 0 && `confirms ${trial.confirms}`, trial.replicate > 0 && trial.confirms === 0 && "repeats",
    trial.outside > 0 && "outside",
    trial.attempt > 1 && `attempt ${trial.attempt}`].filter(Boolean);
  return element("span", {}, stateLabel(trial), tags.map(tag => element("span.tag", {}, tag)));
}

const took = trial => trial.startMs > 0 ? (trial.endMs || Date.now()) - trial.startMs : null;

// `dimensions`: of the study. `tagged`: whether any trial has tags.
export function trialColumns({parameters, metrics, others}, tagged = false) {
  const axis = dimension => ({key: dimension.name, label: dimension.name, number: !dimension.isCategory,
    value: trial => dimension.of(trial) ?? null, down: dimension.goal === "MAXIMIZE"});
  const axes = [...metrics, ...others, ...parameters].map((one, i) => ({...axis(one), brief: i === 0})), taken = new Set(axes.map(({key}) => key));
  const own = [
    {key: "id", label: "Trial", number: true, value: trial => trial.id, down: true},
    {key: "state", label: "State", value: trial => format.state(trial.state), show: state, letters: 21, brief: true,
      also: trial => StudyStore.hasFailed(trial) ? "failed" : null},
    ...axes,
    {key: "step", label: "Step", number: true, value: trial => trial.step || null, down: true},
    {key: "took", label: "Took", saved: "Seconds", number: true, value: trial => took(trial) === null ? null : took(trial) / 1000,
      show: trial => format.duration(took(trial)), letters: 8, down: true, brief: true},
    {key: "started", label: "Started", value: trial => format.isoMoment(trial.startMs) || null,
      show: trial => format.moment(trial.startMs), down: true, hidden: true},
    {key: "attempt", label: "Attempt", number: true, value: trial => trial.attempt || null, hidden: true},
    {key: "confirms", label: "Confirms", number: true, value: trial => trial.confirms || null, hidden: true},
    {key: "why", label: "Chosen", value: trial => trial.why?.toLowerCase() ?? null},
    {key: "stop", label: "Stopped by", value: trial => trial.stopRule ?? null, hidden: true},
    {key: "tags", label: "Tags", value: trial => trial.tags || null, show: trial => tagChips(withoutFavourite(wordsOf(trial.tags))), hidden: !tagged},
    {key: "reason", label: "Reason", value: trial => trial.reason || null}];
  // A parameter may have the name of a column of ours.
  return own.map((column, i) => i > 1 && i < 2 + axes.length || !taken.has(column.key)
    ? column : {...column, key: `trial.${column.key}`});
}
