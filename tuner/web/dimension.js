// dimension.js - one parameter or metric of a study as an axis of plots and a
// column of tables: its type, its range, and what a trial has there.
import * as format from "./format.js";

export class Dimension {
  // kind: "parameter" or "metric"; at: its place in trial.parameters or
  // trial.metrics, -1: in trial.others. One made anew for the same study has an equal key.
  constructor(kind, name, at, settings) {
    this.kind = kind;
    this.name = name;
    this.at = at;
    this.key = `${kind}:${name}`;
    this.log = false;     // whether its own scale is logarithmic
    this.integer = false;
    this.values = null;   // of categories, texts as they came
    this.steps = null;    // of a list of numbers, as declared
    this.range = null;    // [least, most] as declared
    this.goal = null;     // of a metric: "MAXIMIZE", "MINIMIZE"
    this.bound = null;    // of a safety metric: the value it must keep
    Object.assign(this, settings);
  }

  get isCategory() { return this.values !== null; }

  // Of a metric: +1 where larger is better, -1 where smaller is.
  get sign() { return this.goal === "MINIMIZE" ? -1 : 1; }

  // What the trial has: a number or a text, null or undefined without one.
  of(trial) {
    if (this.at < 0) return trial.others.get(this.name);
    return this.kind === "parameter" ? trial.parameters[this.at] : trial.metrics[this.at];
  }

  // Finite numbers or texts only: what a plot can place.
  place(trial) {
    const value = this.of(trial);
    if (this.isCategory) return value ?? null;
    return Number.isFinite(value) ? value : null;
  }

  text(value) { return format.number(value); }
}

const ends = spec => [Number(spec.minValue ?? 0), Number(spec.maxValue ?? 0)];

// What a ParameterSpec says of the axis.
function readSpec(spec) {
  const log = /LOG_SCALE$/.test(spec.scaleType ?? "");
  if (spec.doubleValueSpec) return {range: ends(spec.doubleValueSpec), log};
  if (spec.integerValueSpec) return {range: ends(spec.integerValueSpec), log, integer: true};
  if (spec.discreteValueSpec) {
    const values = spec.discreteValueSpec.values.map(Number);
    const range = [Math.min(...values), Math.max(...values)];
    return {range, log, integer: values.every(Number.isInteger), steps: values};
  }
  return {values: spec.categoricalValueSpec.values.map(String)};
}

// Children of different parents may share a name: then one axis has them all.
function join(found, spec) {
  const read = readSpec(spec), known = found.get(spec.parameterId);
  if (!known) return found.set(spec.parameterId, read);
  if (known.values || read.values) {
    known.values = [...new Set([...known.values ?? [], ...read.values ?? []])];
    return found;
  }
  known.range = [Math.min(known.range[0], read.range[0]), Math.max(known.range[1], read.range[1])];
  known.log &&= read.log;
  known.integer &&= read.integer;
  known.steps = null;
  return found;
}

function readSpecs(specs, found = new Map()) {
  for (const spec of specs ?? []) {
    join(found, spec);
    readSpecs((spec.conditionalParameterSpecs ?? []).map(child => child.parameterSpec), found);
  }
  return found;
}

// Metrics with these names that are none of `metrics`: reported, but no goals.
export function otherMetrics(names, metrics) {
  const known = new Set(metrics.map(metric => metric.name));
  return names.filter(name => !known.has(name)).map(name => new Dimension("metric", name, -1));
}

// All of them, parameters first.
export function allDimensions(store) {
  const {parameters, metrics, others} = dimensionsOf(store);
  return [...parameters, ...metrics, ...others];
}

// The dimensions of the store's study, in the order of its table; made anew
// when its spec has come. `others`: metrics that are no goals.
export function dimensionsOf(store) {
  const specs = readSpecs(store.spec?.parameters);
  const goals = new Map((store.spec?.metrics ?? []).map(metric => [metric.metricId, metric]));
  const parameters = store.parameters.map((name, at) =>
    new Dimension("parameter", name, at, specs.get(name)));
  const metrics = store.metrics.map((name, at) => {
    const metric = goals.get(name);
    const safety = metric?.safetyConfig;
    return new Dimension("metric", name, at, {goal: metric?.goal ?? null,
      bound: safety ? Number(safety.safetyThreshold ?? 0) : null});
  });
  return {parameters, metrics, others: otherMetrics(store.others, metrics)};
}
