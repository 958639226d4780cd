// study_head.js - the head of a study in one line: what it is called and how it
// is, its best result and how it came to that, how far it is.
import {element} from "./dom.js";
import * as format from "./format.js";
import {figuresOf, timeLeft} from "./study_figures.js";
import {namesOf, reasonWords, slugWord, stateChip} from "./study_title.js";
import {trialLink} from "./trial_columns.js";

const SPARK = {width: 100, height: 34, edge: 3}; // pixels

// --- figures ---

// A label above what it is about, also for the head of a trial.
export function figure(label, ...content) {
  return element("div.figure", {}, element("dt", {}, label), element("dd", {}, content));
}

// The best so far over the results, from left to right.
function sparkline({results, direction}) {
  const steps = [];
  results.forEach(({objective}, i) => {
    if (steps.length === 0 || direction * (objective - steps[steps.length - 1].best) > 0) steps.push({i, best: objective});
  });
  if (steps.length < 2) return null;
  const {width, height, edge} = SPARK, first = steps[0].best, {best} = steps[steps.length - 1];
  const x = d3.scaleLinear([0, results.length - 1], [edge, width - edge]);
  const y = d3.scaleLinear(d3.extent([first, best]), [height - edge, edge]);
  const end = {i: results.length - 1, best};
  const svg = d3.create("svg").attr("class", "spark").attr("width", width).attr("height", height)
    .attr("role", "img").attr("aria-label", `Best so far: from ${format.number(first)} to ${format.number(best)}`);
  svg.append("path").attr("d", d3.line().x(({i}) => x(i)).y(step => y(step.best)).curve(d3.curveStepAfter)([...steps, end]));
  svg.append("circle").attr("cx", x(end.i)).attr("cy", y(best)).attr("r", edge);
  return svg.node();
}

function bestFigures(store, figures) {
  if (store.objective === null) return null;
  const label = `Best ${store.objective}`;
  if (figures.best === null) return figure(label, element("span.quiet", {}, "none yet"));
  const {trial, value} = figures.best, spark = sparkline(store);
  return element("div.figure.hero", {}, element("dt", {}, label), element("dd", {}, element("bdi", {}, format.number(value)), " ",
    trialLink(store, {id: trial}, `trial ${trial}`), spark));
}

// A bar of how the trials ended; what is left of the bound stays empty.
function segments({most, ended, running, stopped, failed, cancelled}) {
  const whole = Math.max(most, ended + running);
  const parts = [["succeeded", ended - stopped - failed - cancelled], ["stopped", stopped], ["failed", failed],
    ["cancelled", cancelled], ["running", running]].filter(([, n]) => n > 0);
  if (whole === 0) return null;
  return element("div.segments", {role: "img", ariaLabel: parts.map(([name, n]) => `${n} ${name}`).join(", ") || "none"},
    parts.map(([name, n]) => element(`span.${name}`, {title: `${n} ${name}`, style: {width: `${100 * n / whole}%`}})));
}

function timeFigures(store) {
  const {startTimeMs, endTimeMs} = store.status, left = timeLeft(store);
  return [
    startTimeMs > 0 && figure("Elapsed", format.duration((endTimeMs || Date.now()) - startTimeMs)),
    left !== null && figure("Left, about", format.duration(left))];
}

// Counts that are 0 say nothing.
export function headFigures(store) {
  const figures = figuresOf(store), {most, ended, running, stopped, failed, infeasible, confirming, optimal} = figures;
  return element("dl.figures", {},
    bestFigures(store, figures),
    optimal > 0 && figure("On the front", format.plural(optimal, "trial")),
    element("div.figure.far", {}, element("dt", {}, "Ended"),
      element("dd", {}, element("bdi", {}, most > 0 ? `${ended} / ${most}` : String(ended)), segments(figures))),
    running > 0 && figure("Running", String(running)),
    stopped > 0 && figure("Stopped early", String(stopped)),
    failed > 0 && figure("Failed", String(failed), infeasible > 0 && element("span.quiet",
      {title: "Ended well, but without a value that the search can use"}, infeasible === failed ? " infeasible" : ` ${infeasible} infeasible`)),
    confirming > 0 && figure("Confirming", String(confirming)),
    timeFigures(store));
}

// --- the title ---

export function headTitle(store) {
  const {held} = store.status, reason = reasonWords(store.status), [title, slug] = namesOf(store.job);
  return [
    element("h1", {}, element("bdi", {}, title)),
    element("p.row", {}, stateChip(store.status), slug && slugWord(slug), reason && !held && element("span.quiet", {}, reason))];
}
