// page_studies.js - all studies, newest first, with their progress.
import {element, replace} from "./dom.js";
import {all, OURS} from "./api.js";
import {listen} from "./live.js";
import * as format from "./format.js";

const REDRAW_MS = 1000;
const STATES = ["RUNNING", "PAUSED", "STOPPING", "CANCELLING", "SUCCEEDED", "STOPPED", "FAILED", "CANCELLED"];
const MASK = "name,displayName,maxTrialCount,studySpec.metrics,studySpec.studyStoppingConfig,hypertuneStatus";

const ended = counts => counts.succeeded + counts.stopped + counts.failed + counts.infeasible + counts.cancelled;

function progress(job) {
  const counts = job.hypertuneStatus.counts;
  const most = Number(job.maxTrialCount ?? job.studySpec?.studyStoppingConfig?.maxNumTrials ?? 0);
  const n = ended(counts);
  return element("td.progress", {},
    most > 0 && element("progress", {max: most, value: Math.min(n, most), ariaLabel: "Trials ended"}),
    element("span", {}, most > 0 ? `${n}/${most}` : String(n)));
}

function best(job) {
  const trial = job.hypertuneStatus.best;
  const metric = trial?.finalMeasurement?.metrics?.find(
    ({metricId}) => metricId === job.studySpec.metrics[0].metricId);
  return metric ? `${metric.metricId} = ${format.number(metric.value)}` : "";
}

function row(job) {
  const status = job.hypertuneStatus;
  return element("tr", {},
    element("td", {}, element("a", {href: `#/studies/${job.name.split("/").pop()}`}, status.name)),
    element("td", {}, element(`span.state.${status.state.toLowerCase()}`, {title: status.reason ?? ""},
      format.state(status.state))),
    element("td", {}, format.state(status.algorithm ?? status.kind)),
    element("td", {}, best(job)),
    progress(job),
    element("td.number", {}, status.counts.active + status.counts.stopping),
    element("td.number", {}, status.counts.failed + status.counts.infeasible),
    element("td", {title: format.moment(status.createTimeMs)}, format.age(status.createTimeMs)));
}

function noStudies() {
  return element("section.empty", {},
    element("h2", {}, "No study yet"),
    element("p", {}, "Describe what to tune in a file and submit it:"),
    element("pre", {}, "hypertune init > spec.yaml\nhypertune submit spec.yaml"),
    element("a.button.primary", {href: "#/new"}, "New study"));
}

function table(jobs) {
  const heads = ["Name", "State", "Algorithm", "Best", "Trials", "Running", "Failed", "Created"];
  return element("div.scroll", {}, element("table", {},
    element("thead", {}, element("tr", {}, heads.map(head => element("th", {scope: "col"}, head)))),
    element("tbody", {}, jobs.map(row))));
}

export function studiesPage(root) {
  let jobs = null, complaint = "", timer = 0, asking = false;
  const search = element("input", {type: "search", placeholder: "Search by name", ariaLabel: "Search by name",
    oninput: () => draw()});
  const chosen = element("select", {ariaLabel: "State", onchange: () => draw()},
    element("option", {value: ""}, "All states"),
    STATES.map(value => element("option", {value}, format.state(value))));
  const list = element("div");
  replace(root, element("div.row.between", {},
    element("h1", {}, "Studies"),
    element("div.row", {}, search, chosen, element("a.button.primary", {href: "#/new"}, "New study"))), list);

  const isShown = job => job.hypertuneStatus.name.toLowerCase().includes(search.value.toLowerCase()) &&
    (chosen.value === "" || chosen.value === job.hypertuneStatus.state);

  function draw() {
    if (complaint) return replace(list, element("section.empty", {}, element("p.error", {role: "alert"}, complaint)));
    if (jobs === null) return replace(list, element("p.quiet", {}, "Loading …"));
    if (jobs.length === 0) return replace(list, noStudies());
    const shown = jobs.filter(isShown);
    replace(list, shown.length > 0 ? table(shown) : element("section.empty", {}, "No study is like that."));
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
  };
}
