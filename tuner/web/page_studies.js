// page_studies.js - all studies, newest first, with their progress.
import {element, replace} from "./dom.js";
import {all, OURS, studyPath} from "./api.js";
import {listen} from "./live.js";
import {Table} from "./table.js";
import {markedBar} from "./marked_studies.js";
import {mostTrials} from "./study_figures.js";
import {namesOf, numberOf, reasonWords, stateChip, stateWords, titleWords} from "./study_title.js";
import {FAVOURITE, favouriteSwitch, setFavourite, tagChips, withoutFavourite} from "./tags.js";
import {may, seesAll} from "./session.js";
import * as format from "./format.js";

const REDRAW_MS = 1000;
const STATES = ["RUNNING", "PAUSED", "STOPPING", "CANCELLING", "SUCCEEDED", "STOPPED", "FAILED", "CANCELLED"];
const MASK = "name,displayName,maxTrialCount,studySpec.metrics,studySpec.studyStoppingConfig,hypertuneStatus";

const ended = counts => counts.succeeded + counts.stopped + counts.failed + counts.cancelled;

function progress(job) {
  const n = ended(job.hypertuneStatus.counts), most = mostTrials({job, spec: job.studySpec});
  return element("span.progress", {},
    most > 0 && element("progress", {max: most, value: Math.min(n, most), ariaLabel: "Trials ended"}),
    element("span", {}, most > 0 ? `${n}/${most}` : String(n)));
}

function best(job) {
  const trial = job.hypertuneStatus.best;
  const metric = trial?.finalMeasurement?.metrics?.find(
    ({metricId}) => metricId === job.studySpec.metrics[0].metricId);
  return metric ? [metric.metricId, format.number(metric.value)] : null;
}

function bestWords(job) {
  const [metric, value] = best(job) ?? [];
  return metric === undefined ? "" : element("span", {title: `${metric} = ${value}`}, element("bdi", {}, metric), ` = ${value}`);
}

const some = count => count > 0 ? String(count) : ""; // the eye finds what is not 0
const status = read => job => read(job.hypertuneStatus);

const tagsOf = status(({tags = []}) => tags);
const isFavourite = job => tagsOf(job).includes(FAVOURITE);

const COLUMNS = [
  {key: "name", label: "Name", value: job => [...namesOf(job), ...tagsOf(job)].join(" "), show: job => element("span", {}, titleWords(job), tagChips(withoutFavourite(tagsOf(job))))},
  {key: "state", label: "State", value: status(stateWords),
    show: status(one => stateChip(one, reasonWords(one))), letters: 11, brief: true},
  {key: "algorithm", label: "Algorithm", value: status(({algorithm, kind}) => format.state(algorithm ?? kind))},
  {key: "best", label: "Best", value: job => best(job)?.join(" = ") ?? "", show: bestWords, brief: true},
  {key: "trials", label: "Trials", value: status(({counts}) => ended(counts)), show: progress, letters: 21, down: true, brief: true},
  {key: "running", label: "Running", number: true, value: status(({counts}) => counts.active + counts.stopping), down: true,
    show: status(({counts}) => some(counts.active + counts.stopping))},
  {key: "failed", label: "Failed", number: true, value: status(({counts}) => counts.failed), down: true,
    show: status(({counts}) => some(counts.failed))},
  {key: "infeasible", label: "Of them infeasible", number: true, value: status(({counts}) => counts.infeasible), down: true,
    hidden: true},
  {key: "id", label: "Number", number: true, value: numberOf, down: true, hidden: true},
  {key: "created", label: "Created", value: status(({createTimeMs}) => createTimeMs), letters: 11, down: true,
    show: status(({createTimeMs}) => element("span", {title: format.moment(createTimeMs)}, format.age(createTimeMs)))}];

const newStudy = () => seesAll() && may("submit") && element("a.button.primary", {href: "#/new"}, "New study");

function noStudies() {
  return element("section.empty", {},
    element("h2", {}, "No study yet"),
    element("p", {}, "Describe what to tune in a file and submit it:"),
    element("pre", {}, "hypertune init > spec.yaml\nhypertune submit spec.yaml"),
    newStudy());
}

export function studiesPage(root) {
  let jobs = null, complaint = "", timer = 0, asking = false;
  const marked = new Set(), bar = element("div"); // numbers of studies, and what is done with them
  const search = element("input", {type: "search", placeholder: "Search by name", ariaLabel: "Search by name",
    oninput: () => draw()});
  const chosen = element("select", {ariaLabel: "State", onchange: () => draw()},
    element("option", {value: ""}, "All states"),
    STATES.map(value => element("option", {value}, format.state(value))));
  let onlyFavourites = false;
  const starred = favouriteSwitch(false, isOn => { onlyFavourites = isOn; draw(); });
  const table = new Table({name: "studies", label: "Studies", columns: COLUMNS, key: numberOf, sort: {key: "created", down: true},
    href: job => job && `#/studies/${numberOf(job)}`, marks: {has: key => marked.has(key), toggle: mark},
    stars: {has: isFavourite, toggle: may("submit") && (job => setFavourite(studyPath(numberOf(job)), !isFavourite(job)).then(load))},
    empty: "No study is like that."});
  const list = element("div.studies");
  replace(root, element("div.row.between", {},
    element("h1", {}, "Studies"),
    element("div.row", {}, search, chosen, starred, table.chooser, newStudy())), bar, list);

  function mark(key) {
    if (!marked.delete(key)) marked.add(key);
    draw();
  }

  const isShown = job => [...namesOf(job), ...tagsOf(job)].some(name => name.toLowerCase().includes(search.value.toLowerCase())) &&
    (!onlyFavourites || isFavourite(job)) && (chosen.value === "" || chosen.value === job.hypertuneStatus.state);

  function draw() {
    if (complaint) return replace(list, element("section.empty", {}, element("p.error", {role: "alert"}, complaint)));
    if (jobs === null) return replace(list, element("p.quiet", {}, "Loading …"));
    if (jobs.length === 0) return replace(list, noStudies());
    if (!table.element.isConnected) replace(list, table.element);
    table.show(jobs.filter(isShown));
    markedBar(bar, jobs.filter(job => marked.has(numberOf(job))), marked, load);
  }

  async function load() {
    if (asking) return;
    asking = true;
    try {
      jobs = await all(`${OURS}/studies?pageSize=500&readMask=${MASK}`, "studies");
      complaint = "";
    } catch (problem) {
      complaint = jobs === null ? problem.message : "";
    }
    asking = false;
    draw();
  }

  draw();
  load();
  const unlisten = listen({changed() {
    timer ||= setTimeout(() => { timer = 0; load(); }, REDRAW_MS);
  }});
  return () => {
    unlisten();
    clearTimeout(timer);
    table.end();
  };
}
