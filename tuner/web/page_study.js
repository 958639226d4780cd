// page_study.js - a study: its head, what can be done with it, and its tabs.
//
// Every tab is a function (root, store, selection) that fills `root` and
// returns the function that ends it; all follow one store and share one
// selection.
import {element, renew, replace} from "./dom.js";
import * as format from "./format.js";
import {openStudy, settleAddress} from "./open_study.js";
import {onlyStudy} from "./session.js";
import {headFigures, headTitle} from "./study_head.js";
import {studyBanner} from "./study_banner.js";
import {rangesBar} from "./page_study_ranges.js";
import {actionsBar} from "./actions.js";
import {overviewTab} from "./page_study_overview.js";
import {parametersTab} from "./page_study_parameters.js";
import {timelineTab} from "./page_study_timeline.js";
import {trialsTab} from "./page_trials.js";
import {configTab} from "./page_config.js";
import {followView, readView, viewQuery} from "./view_address.js";

const CLOCK_MS = 1000;
const searches = store => store.status.kind !== "CUSTOM";
const TABS = [
  {name: "overview", label: "Overview", has: searches, show: overviewTab},
  {name: "parameters", label: "Parameters", has: searches, show: parametersTab},
  {name: "trials", label: "Trials", has: () => true, show: trialsTab},
  {name: "timeline", label: "Timeline", has: () => true, show: timelineTab},
  {name: "config", label: "Config", has: () => !onlyStudy(), show: configTab},
];

// What is in the way of showing the study, or is to be known of it.
function complaint(store) {
  if (store.error === null) return null;
  if (store.isAbsent)
    return store.job === null ? "There is no such study."
      : "This study has been deleted; what is shown is its last state.";
  return store.job === null || store.error.status !== 0 ? store.error.message : null;
}

// --- the tabs ---

function tabLinks(store, selection, tabs, chosen) {
  return tabs.map(tab => element("a", {href: `#/studies/${store.id}/${tab.name}${viewQuery(selection, tab.name)}`,
    ariaCurrent: tab === chosen ? "page" : null}, tab.label));
}

function refusal(text) {
  return element("section.empty", {},
    element("h1", {}, text), !onlyStudy() && element("a.button", {href: "#/"}, "All studies"));
}

// Keeps the links up to date with what is picked, and the page's address.
function followTabs(root, store, selection, tabs, chosen) {
  const draw = () => renew(root, tabLinks(store, selection, tabs, chosen));
  draw();
  const ends = [selection.watch(what => what !== "hovered" && draw()), followView(selection, chosen.name)];
  return () => ends.forEach(end => end());
}

export function studyPage(root, {parts, query}) {
  const {store, selection} = openStudy(parts[1]);
  const heading = element("div.title"), trouble = element("p.error", {role: "alert"}), banner = element("div");
  const figures = element("div"), tabs = element("nav.tabs", {ariaLabel: "Parts of the study"});
  const actions = element("div"), head = element("header.card.head", {}, heading, figures, actions);
  const ranges = element("div"), body = element("div");
  let endTab = null;

  // The tab is made once the study is known, and then follows it by itself.
  function showTab() {
    settleAddress(parts[1], store);
    const offered = TABS.filter(tab => tab.has(store));
    const chosen = parts[2] === undefined ? offered[0] : offered.find(tab => tab.name === parts[2]);
    replace(root, head, trouble, banner, tabs, ranges, body);
    if (chosen) {
      readView(query, selection, store, chosen.name);
      const ends = [followTabs(tabs, store, selection, offered, chosen), studyBanner(banner, store), actionsBar(actions, store),
        rangesBar(ranges, store, selection), chosen.show(body, store, selection)];
      endTab = () => ends.forEach(end => end());
    } else {
      replace(tabs, tabLinks(store, selection, offered, chosen));
      replace(body, refusal("The study has no such page"));
      endTab = () => {};
    }
  }

  function draw() {
    if (store.job === null)
      return replace(root, store.error ? refusal(complaint(store)) : element("p.quiet", {}, "Loading …"));
    document.title = `${format.visible(store.title)} - hypertune`;
    renew(heading, headTitle(store));
    replace(trouble, complaint(store));
    renew(figures, headFigures(store));
    if (endTab === null) showTab();
  }

  const clock = setInterval(() => {
    if (store.job !== null && !store.status.endTimeMs && !document.hidden) renew(figures, headFigures(store));
  }, CLOCK_MS);
  const unwatch = store.watch(draw);
  draw();
  return () => {
    clearInterval(clock);
    unwatch();
    endTab?.();
    document.title = "hypertune";
  };
}
