// trial_words.js - a trial's codes from the server, as sentences.
import * as format from "./format.js";

const KINDS = {
  DRAWN: "Drawn by chance or from a grid; no model is behind it.",
  DESIGN: "One of the first points, which are spread over the space.",
  EXPLOITS: "The model expects a good value there.",
  EXPLORES: "Little is known there.",
  REPEATS: "Measured again, since results differ by chance.",
  SEED: "A good point of a study that this one starts from.",
};

// Pairs [label, text] that explain why the search chose the point.
export function whyPairs(why) {
  const {predicted, nearest, context} = why;
  const given = Object.entries(context?.parameters ?? {}).map(([name, value]) => `${name} = ${format.number(value)}`).join(", ");
  return [["Chosen because", KINDS[why.kind] ?? why.kind],
    ...(predicted ?? []).map(({metric, low, median, high}) => [`Expected ${metric}`,
      `${format.number(median)} (${format.number(low)} to ${format.number(high)} in two of three cases)`]),
    ...(why.earlier ?? []).map(({study, trials}) => ["Known before", `${format.plural(trials, "trial")} of ${study}, counted as its own`]),
    nearest && ["Nearest before it", `trial ${nearest.trial}${nearest.study === undefined ? "" : ` of ${nearest.study}`}, ${format.number(nearest.distance)} lengths of the model away`],
    why.pending?.length > 0 && ["Ran then", `${why.pending.length === 1 ? "trial" : "trials"} ${why.pending.join(", ")}`],
    context && ["Asked for", [given, context.description].filter(Boolean).join("; ")]].filter(Boolean);
}

const RULES = {median: "median rule", decay: "decay curve rule", convex: "convex rule", asha: "ASHA", hyperband: "Hyperband"};

// Pairs that explain why it was stopped early or paused.
export function stopPairs(stop) {
  const at = stop.by === "time" ? format.duration(1000 * Number(stop.at)) : `step ${stop.at}`;
  const {predicted} = stop;
  return [["Rule", RULES[stop.rule] ?? stop.rule], ["At", at],
    stop.rung !== undefined && ["Rung", String(stop.rung)],
    stop.value !== undefined && [`${stop.metric ?? "Value"} then`, format.number(stop.value)],
    stop.threshold !== undefined && ["Had to reach", format.number(stop.threshold)
      + (stop.trials !== undefined ? `, by ${format.plural(Number(stop.trials), "trial")}` : "")],
    ...(Array.isArray(predicted) ? predicted : predicted ? [predicted] : []).map(({metric, value, deviation}) =>
      [`Predicted ${metric ?? "result"}`, `${format.number(value)} ± ${format.number(deviation)}`]),
    stop.end !== undefined && ["Would have ended at", stop.by === "time" ? format.duration(1000 * Number(stop.end)) : `step ${stop.end}`],
    stop.probability !== undefined && ["Chance that none is better", `${format.number(Math.round(1000 * stop.probability) / 10)} %`]].filter(Boolean);
}

const SIGNALS = {1: "hang-up", 2: "interrupt", 6: "abort", 7: "bus error", 8: "arithmetic error", 9: "killed, often for want of memory",
  11: "segmentation fault", 13: "broken pipe", 15: "told to end"};

// What an exit code means, where that is known; "" otherwise.
export function exitWords(code) {
  if (code === 125) return "the container was not started";
  if (code === 126) return "the command cannot be run";
  if (code === 127) return "the command was not found";
  return code > 128 ? SIGNALS[code - 128] ?? `signal ${code - 128}` : "";
}

// Pairs that show what an attempt ran, and on what.
export function factPairs(facts) {
  const {spec, host, gpus = [], git, images = {}, python} = facts ?? {};
  const {changes} = git ?? {};
  return [["Spec", spec?.slice(0, 12)], ["Host", host], ["GPUs", gpus.join(", ")],
    ["Git", git && [git.commit.slice(0, 12), git.branch].filter(Boolean).join(" of ")],
    ["Not committed", git?.dirty && (changes ? `${format.plural(changes.bytes, "byte")}${changes.more ? " and more" : ""}, ${changes.sha256.slice(0, 12)}` : "changes")],
    ["Python", python && `${python.version}, ${python.program}`],
    ...Object.entries(python?.packages ?? {}),
    ...Object.entries(images).map(([name, digest]) => [`Image of ${name}`, digest])].filter(([, value]) => value);
}

// Pairs that show which metrics a trial reported that ended without its objective,
// and where: what `doctor` of the server says. Count 0 is the heading of a column.
export function doctorPairs({seen = [], hints = []}) {
  const shown = text => Number.isFinite(Number(text)) ? format.number(Number(text)) : text;
  return [...seen.map(({name, replica, count, first, last, file, line}) => [name, [
    Number(count) === 0 ? "a column" : shown(first) + (last === first ? "" : ` … ${shown(last)}`),
    Number(count) > 1 && `${count} times`,
    [replica, file, Number(line) > 0 && `line ${line}`].filter(Boolean).join(" ")].filter(Boolean).join(", ")]),
  ...hints.map(hint => ["Hint", hint])];
}
