// export.js - all trials of a study as files, as `hypertune export` writes them.
import {all, studyPath} from "./api.js";
import {csvLine} from "./table.js";

const TRIALS_PAGE = 1000, MEASUREMENTS_PAGE = 20000;
const stamp = ms => ms > 0 ? new Date(ms).toISOString() : null;

// A whole number beyond what a double holds stays as it was written.
const exact = (_, value, context) => typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) &&
  context?.source !== undefined && JSON.rawJSON !== undefined ? JSON.rawJSON(context.source) : value;
const read = text => JSON.parse(text, exact);
const plain = value => JSON.isRawJSON?.(value) ? value.rawJSON : value;

function row({id, state, finalMeasurement, clientId, hypertune: own}) {
  return {id: Number(id), state: own.state ?? state, value: own.objective, params: own.params,
    metrics: Object.fromEntries((finalMeasurement?.metrics ?? []).map(({metricId, value}) => [metricId, value])),
    confirms: own.confirms === undefined ? undefined : Number(own.confirms), client: clientId,
    step: own.step === undefined ? undefined : JSON.parse(own.step, exact), attempt: own.attempt, runner: own.runner,
    replicate: own.replicate, reason: own.reason, created: stamp(own.createTimeMs) ?? undefined,
    started: stamp(own.startTimeMs) ?? undefined, ended: stamp(own.endTimeMs) ?? undefined};
}

const readRows = async store => (await all(`${studyPath(store.id)}/trials?pageSize=${TRIALS_PAGE}`, "trials", read)).map(row);

export async function exportCsv(store) {
  const rows = await readRows(store), {parameters} = store;
  const goals = store.metrics.map(metric => metric.name ?? metric);
  const others = new Set(rows.flatMap(({metrics}) => Object.keys(metrics)));
  const metrics = [...goals, ...[...others].filter(name => !goals.includes(name)).sort()];
  const names = parameters.map(parameter => parameter.name ?? parameter);
  const lines = [["id", "state", "value", ...names.map(name => `params.${name}`), ...metrics.map(name => `metrics.${name}`),
    "step", "attempt", "runner", "created", "started", "ended", "reason"],
  ...rows.map(one => [one.id, one.state, one.value, ...names.map(name => one.params[name]),
    ...metrics.map(name => one.metrics[name]), one.step, one.attempt, one.runner, one.created, one.started, one.ended,
    one.reason])];
  return lines.map(line => csvLine(line.map(plain))).join("");
}

export async function exportJson(store) {
  const rows = await readRows(store), byId = new Map(rows.map(one => [one.id, one]));
  for (const one of rows) one.measurements = [];
  const measured = await all(`${studyPath(store.id)}/measurements?pageSize=${MEASUREMENTS_PAGE}`, "measurements", read);
  for (const {trial, step, ...rest} of measured)
    byId.get(trial)?.measurements.push({step: JSON.parse(step, exact), ...rest});
  return `${JSON.stringify(rows, null, 2)}\n`;
}
