// page_server.js - the server, its disk, and the machines that run trials.
import {element, replace, pairList} from "./dom.js";
import {get, OURS} from "./api.js";
import {Table} from "./table.js";
import * as format from "./format.js";

const PERIOD_MS = 3000;

function diskOf({disk}) {
  if (!disk) return null;
  const share = disk.freeBytes / disk.totalBytes;
  return element(disk.alarm ? "span.error" : "span", {},
    element("meter", {min: 0, max: 1, value: 1 - share, high: 0.9, ariaLabel: "Disk in use"}), " ",
    `${format.bytes(disk.freeBytes)} of ${format.bytes(disk.totalBytes)} free`);
}

function serverCard(server) {
  return element("section.card", {ariaLabel: "The server"},
    server.readOnly && element("p.error", {role: "alert"}, `Read-only: ${server.readOnlyReason}`),
    server.disk?.alarm && element("p.error", {role: "alert"}, server.disk.alarm),
    pairList([["Version", server.version], ["Runs for", format.duration(server.uptimeMs)],
      ["Open studies", String(server.studies)], ["HTTP", server.http], ["Reports", server.report], ["Control", server.control],
      ["Data folder", server.folder], ["Database", format.bytes(server.databaseBytes)], ["Disk", diskOf(server)],
      ["Server id", server.server]]));
}

// --- runners ---

// Each with its model and what trials have of it: "0 A100-SXM4-80GB 50 %".
function gpusOf({rules, trials}) {
  const used = new Map();
  for (const trial of trials)
    for (const {gpus, part} of trial.gpus ?? [])
      for (const id of gpus) used.set(id, (used.get(id) ?? 0) + part);
  return (rules.gpus ?? []).map((name) => {
    const model = rules.gpuModels?.[name];
    const share = used.get(model?.uuid ?? name) ?? 0;
    return [name, model?.name.replace("NVIDIA ", ""), `${Math.round(100 * share)} %`].filter(Boolean).join(" ");
  }).join(", ");
}

function stateOf({state, drain}) {
  return state === "ONLINE" && drain !== "SERVES" ? "DRAINING" : state;
}

const LOOKS = {LOST: "failed", DRAINING: "paused"};

function labelsOf({rules}) {
  return Object.entries(rules.labels ?? {}).map(([name, value]) => `${name}=${value}`).join(", ");
}

function skewOf({rules}) {
  return rules.skewMs === undefined ? null : rules.skewMs / 1000;
}

// What it may do beyond the usual, in words.
function rulesOf({rules}) {
  return [rules.images ? "images" : "commands", ...rules.allow ?? [],
    rules.volumeRoots?.length > 0 && `volumes below ${rules.volumeRoots.join(", ")}`, rules.gcsRoot && `gs:// at ${rules.gcsRoot}`,
    rules.gcsCredentials && "gs:// credentials", rules.secrets?.length > 0 && `secrets ${rules.secrets.join(", ")}`,
    rules.credentials?.length > 0 && `accounts ${rules.credentials.join(", ")}`, rules.shareGpus && "shares GPUs"].filter(Boolean).join("; ");
}

const nameOf = ({study, trial}) => `${study}/${trial}`;

const COLUMNS = [
  {key: "runner", label: "Runner", value: ({runner}) => runner},
  {key: "state", label: "State", value: (runner) => format.state(stateOf(runner)), letters: 9,
    show: (runner) => element(`span.state.${LOOKS[stateOf(runner)] ?? "succeeded"}`, {}, format.state(stateOf(runner)))},
  {key: "engine", label: "Engine", value: ({engine}) => engine},
  {key: "host", label: "Host", value: ({host}) => host},
  {key: "busy", label: "Busy slots", number: true, value: ({busy}) => busy, show: ({busy, slots}) => `${busy} / ${slots}`, letters: 9},
  {key: "seen", label: "Last heard", value: ({lastSeenMs}) => lastSeenMs, show: ({lastSeenMs}) => format.age(lastSeenMs), letters: 11},
  {key: "cpus", label: "CPUs", number: true, value: ({rules}) => rules.cpus ?? null},
  {key: "memory", label: "Memory", number: true, value: ({rules}) => rules.memory ?? null,
    show: ({rules}) => rules.memory ? format.bytes(rules.memory) : "", letters: 9},
  {key: "gpus", label: "GPUs", value: gpusOf},
  {key: "trials", label: "Trials", value: ({trials}) => trials.map(nameOf).join(", "), show: ({trials}) => element("span", {},
    trials.flatMap((one, i) => [i > 0 && ", ", element("a", {href: `#/studies/${encodeURIComponent(one.study)}/trials/${one.trial}`}, nameOf(one))]))},
  {key: "labels", label: "Labels", value: labelsOf},
  {key: "machine", label: "Machine", value: ({rules}) => (rules.machine ?? "").slice(0, 12)},
  {key: "version", label: "Version", value: ({rules}) => rules.version ?? ""},
  {key: "skew", label: "Clock ahead", number: true, value: skewOf, letters: 9,
    show: (runner) => skewOf(runner) === null ? "" : `${skewOf(runner).toFixed(1)} s`},
  {key: "rules", label: "Runs", value: rulesOf}];

export function serverPage(root) {
  const card = element("div"), complaint = element("p.error", {role: "alert"});
  const table = new Table({name: "runners", label: "Runners", columns: COLUMNS, key: ({runner}) => runner,
    empty: "No runner is here; \"hypertune runner\" on a machine offers it."});
  let timer = 0, ended = false;
  replace(root, element("h1", {}, "Server"), complaint, card,
    element("div.row.between.part", {}, element("h2", {}, "Runners"), table.chooser), table.element);

  async function load() {
    try {
      const [server, {runners}] = document.hidden ? [null, {}] : await Promise.all([get(`${OURS}/server`), get(`${OURS}/runners`)]);
      if (ended) return;
      if (server !== null) {
        replace(complaint);
        replace(card, serverCard(server));
        table.show(runners);
      }
    } catch (problem) {
      replace(complaint, problem.message);
    }
    if (!ended) timer = setTimeout(load, PERIOD_MS);
  }

  load();
  return () => {
    ended = true;
    clearTimeout(timer);
    table.end();
  };
}
