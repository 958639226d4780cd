// events.js - what happened to a study, in words, the newest first.
import {element, replace} from "./dom.js";
import {get, studyPath} from "./api.js";
import {Table} from "./table.js";
import {trialLink} from "./trial_columns.js";
import * as format from "./format.js";

const PAGE = 500;   // revisions; each has one event at most
const ENOUGH = 100; // events of a kind that are looked for at a time

const KINDS = {"study.": "Study", "trial.created": "Trials made", "trial.moved": "Trials' states", "trial.measured": "Measurements",
  "attempt.": "Attempts", "trial.": "Other of trials"};

const kindOf = event => Object.keys(KINDS).find(prefix => event.kind.startsWith(prefix));

function words({kind, from, to, reason, data}) {
  const move = from ? `${format.state(from)} → ${format.state(to)}` : to ? format.state(to) : "";
  const measured = kind === "trial.measured" && data
    ? Object.entries(data.metrics ?? {}).map(([name, value]) => `${name} = ${format.number(value)}`).join(", ") : "";
  return [move, measured, reason].filter(Boolean).join(": ");
}

const COLUMNS = store => [
  {key: "time", label: "Time", value: event => format.moment(event.timeMs), letters: 21},
  {key: "kind", label: "Event", value: event => event.kind, letters: 14},
  {key: "trial", label: "Trial", number: true, value: event => event.trial ?? null,
    show: event => event.trial ? Object.assign(trialLink(store, {id: event.trial}), {tabIndex: -1}) : "",
    letters: 6},
  {key: "what", label: "What", value: words}];

// Fills `root` with the log, which follows the study. Returns the function that
// ends it.
export function eventLog(root, store) {
  const events = new Map(); // by revision
  let oldest = null, newest = 0, asking = false, again = false, ended = false, looking = false;
  let goal = 0; // how many events are to be shown, if there are as many
  const menu = element("select", {ariaLabel: "Kind of event", onchange: () => {
    goal = menu.value === "" ? 0 : ENOUGH;
    lookBack();
  }}, element("option", {value: ""}, "All events"),
    Object.entries(KINDS).map(([value, label]) => element("option", {value}, label)));
  const older = element("button", {hidden: true, onclick: () => {
    goal = chosen().length + (menu.value === "" ? 1 : ENOUGH);
    lookBack();
  }}, "Older events");
  const reach = element("span.quiet", {role: "status"});
  const complaint = element("p.error", {role: "alert"});
  const table = new Table({label: "Events", columns: COLUMNS(store), key: event => event.revision, empty: "Nothing of that kind."});
  replace(root, element("div.row.between", {}, element("h2", {}, "Events"), element("div.row", {}, reach, menu, older)), complaint, table.element);

  const chosen = () => [...events.values()].filter(event => menu.value === "" || kindOf(event) === menu.value);

  function draw() {
    const more = oldest !== null && oldest > 0;
    older.hidden = !more || looking;
    replace(reach, more && `${looking ? "Looking" : "Read"} back to event ${oldest + 1} of ${newest}`);
    table.show(chosen().sort((a, b) => b.revision - a.revision));
  }

  async function load(since, limit) {
    const answer = await get(`${studyPath(store.key)}/events?since=${since}&limit=${limit}`);
    for (const event of answer.events) {
      events.set(event.revision, event);
      newest = Math.max(newest, event.revision);
    }
    return answer.events;
  }

  // What is newer than all that is known; at first the last page.
  async function loadNewer() {
    if (oldest === null) {
      oldest = Math.max(0, store.revision - PAGE);
      return load(oldest, 1000);
    }
    let found;
    do found = await load(Math.max(oldest, newest), 1000); while (found.length === 1000 && !ended);
    return found;
  }

  async function loadOlder() {
    const since = Math.max(0, oldest - PAGE);
    await load(since, oldest - since);
    oldest = since;
  }

  // Reads older events until there are as many of the chosen kind as wanted.
  async function lookBack() {
    draw();
    if (looking) return;
    looking = true;
    while (!ended && oldest > 0 && chosen().length < goal && await guarded(loadOlder)) draw();
    looking = false;
    if (!ended) draw();
  }

  // Whether it was done; a refusal is shown.
  async function guarded(act) {
    try {
      await act();
      replace(complaint);
      return true;
    } catch (problem) {
      replace(complaint, problem.message);
      return false;
    }
  }

  async function follow() {
    again = true;
    if (asking) return;
    asking = true;
    while (again && !ended) {
      again = false;
      await guarded(loadNewer);
      if (!ended) draw();
    }
    asking = false;
  }

  let seen = -1;
  const unwatch = store.watch(() => {
    if (store.revision === seen) return;
    seen = store.revision;
    follow();
  });
  return () => {
    ended = true;
    unwatch();
    table.end();
  };
}
