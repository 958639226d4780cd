// page_study.js - a study: its head with the figures that matter, and its tabs.
//
// Every tab is a function (root, store, selection) that fills `root` and
// returns the function that ends it; all follow one store and share one
// selection.
import {element, renew, replace} from "./dom.js";
import * as format from "./format.js";
import {openStudy, settleAddress} from "./open_study.js";
import {onlyStudy} from "./session.js";
import {figuresOf, timeLeft} from "./study_figures.js";
import {reasonWords, stateChip, titleWords} from "./study_title.js";
import {studyBanner} from "./study_banner.js";
import {rangesBar} from "./page_study_ranges.js";
import {actionsBar} from "./actions.js";
import {overviewTab} from "./page_study_overview.js";
import {parametersTab} from "./page_study_parameters.js";
import {timelineTab} from "./page_study_timeline.js";
import {trialsTab} from "./page_trials.js";
import {trialLink} from "./trial_columns.js";
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

// --- the head ---

function figure(label, ...content) {
  return element("div.figure", {}, element("dt", {}, label), element("dd", {}, content));
}

function bestFigure(store, figures) {
  if (figures.best === null) return figure(`Best ${store.objective}`, element("span.quiet", {}, "none yet"));
  const {trial, value} = figures.best;
  return figure(`Best ${store.objective}`, element("bdi", {}, format.number(value)), " ",
    trialLink(store, {id: trial}, `trial ${trial}`));
}

function timeFigures(store) {
  const {startTimeMs, endTimeMs} = store.status;
  const left = timeLeft(store);
  return [
    startTimeMs > 0 && figure("Elapsed", format.duration((endTimeMs || Date.now()) - startTimeMs)),
    left !== null && figure("Left, about", format.duration(left))];
}

function figureList(store) {
  const figures = figuresOf(store);
  return element("dl.figures", {},
    store.objective !== null && bestFigure(store, figures),
    figures.optimal > 0 && figure("On the front", format.plural(figures.optimal, "trial")),
    figure("Ended", figures.most > 0 ? `${figures.ended} / ${figures.most}` : String(figures.ended)),
    figure("Running", String(figures.running)),
    figure("Stopped early", String(figures.stopped)),
    figure("Failed", String(figures.failed), figures.infeasible > 0 && element("span.quiet",
      {title: "Ended well, but without a value that the search can use"}, ` ${figures.infeasible} infeasible`)),
    figures.confirming > 0 && figure("Confirming", String(figures.confirming)),
    timeFigures(store));
}

function title(store) {
  const {held} = store.status, reason = reasonWords(store.status);
  return [
    element("h1", {}, titleWords(store.job)),
    element("p.row", {},
      stateChip(store.status),
      reason && !held && element("span.quiet", {}, reason))];
}

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
  const actions = element("div"), ranges = element("div"), body = element("div");
  let endTab = null;

  // The tab is made once the study is known, and then follows it by itself.
  function showTab() {
    settleAddress(parts[1], store);
    const offered = TABS.filter(tab => tab.has(store));
    const chosen = parts[2] === undefined ? offered[0] : offered.find(tab => tab.name === parts[2]);
    replace(root, heading, trouble, banner, figures, actions, tabs, ranges, body);
    if (chosen) {
      readView(query, selection, store, chosen.name);
      const ends = [followTabs(tabs, store, selection, offered, chosen), studyBanner(banner, store), actionsBar(actions, store), rangesBar(ranges, store, selection),
        chosen.show(body, store, selection)];
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
    renew(heading, title(store));
    replace(trouble, complaint(store));
    renew(figures, figureList(store));
    if (endTab === null) showTab();
  }

  const clock = setInterval(() => {
    if (store.job !== null && !store.status.endTimeMs && !document.hidden) renew(figures, figureList(store));
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
