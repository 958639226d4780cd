// page_new.js - a new study: its spec, checked by the server while it is typed,
// and what it would do.
import {element, replace, pairList} from "./dom.js";
import {ApiError, get, post, OURS} from "./api.js";
import {problemList} from "./dialog.js";
import {shellWord} from "./copy.js";
import {SpecEditor} from "./spec_editor.js";
import {simpleForm} from "./simple_form.js";
import {may} from "./session.js";
import * as format from "./format.js";

const TYPE_MS = 300;

function findingItem(finding, editor) {
  const {severity, line, column, path, message, hint} = finding;
  const place = line > 0 && element("button.plain.place", {onclick: () => editor.goTo(line, column)}, `${line}:${column}`);
  return element(`li.${severity.toLowerCase()}`, {}, place, " ", element("strong", {}, format.state(severity)), " ",
    path && element("code", {}, path), path && " ", element("bdi", {}, message), hint && element("div.quiet", {}, element("bdi", {}, hint)));
}

function planList(plan) {
  const pairs = [["Name", plan.name], ["Goal", plan.goal], ["Keeps", plan.safety], ["Search", plan.search], ["Image", plan.image],
    ["Folder", plan.folder]];
  return [pairList(pairs),
  plan.parameters?.length > 0 && element("div.scroll", {}, element("table", {},
    element("thead", {}, element("tr", {}, ["Parameter", "Type", "Range", "Condition"].map(head => element("th", {scope: "col"}, head)))),
    element("tbody", {}, plan.parameters.map(({name, type, range, when}) => element("tr", {},
      [name, format.state(type), range, when].map(text => element("td", {}, element("bdi", {}, text)))))))),
  plan.examples.length > 0 && [element("h3", {}, "For example"),
    element("pre.command", {}, plan.examples.map(words => words.map(shellWord).join(" ")).join("\n"))]];
}

export function newPage(root) {
  const editor = new SpecEditor(() => later());
  const verdict = element("p", {role: "status"}), list = element("ul.findings"), plan = element("div"), refusal = element("div.error", {role: "alert"});
  const create = element("button.primary", {disabled: true, onclick: submit}, "Create the study");
  const file = element("input", {type: "file", ariaLabel: "Spec file", accept: ".yaml,.yml,.json", onchange: openFile});
  const helper = element("details.card", {}, element("summary", {}, "Fill in a form instead"), simpleForm(yaml => {
    editor.text = yaml;
    helper.open = false;
    editor.area.focus();
  }));
  let timer = 0, round = 0, checked = null, ended = false;

  replace(root, element("h1", {}, "New study"),
    element("p.quiet", {}, "A spec of hypertune as YAML or JSON, a Vertex AI job, or an AI Platform job. Commands run in the folder ",
      "that workdir names on the machine that runs them; to take a folder from this computer, use \"hypertune submit\" there."),
    helper,
    element("div.halves", {},
      element("section.card", {ariaLabel: "Spec"},
        element("div.row.between", {}, element("h2", {}, "Spec"), element("div.row", {}, file, element("button", {onclick: begin}, "Template"))),
        editor.element),
      element("section.card", {ariaLabel: "Check"}, element("div.row.between", {}, element("h2", {}, "Check"), create),
        verdict, refusal, list, plan)));

  function later() {
    checked = null;
    create.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(check, TYPE_MS);
  }

  async function check() {
    const mine = ++round, {text} = editor;
    if (text.trim() === "") return show({ok: false, findings: []}, "Nothing is written yet.");
    try {
      const answer = await post(`${OURS}/specs:check`, {text});
      if (mine === round && text === editor.text) show(answer);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (mine === round) show({ok: false, findings: []}, problem.message);
    }
  }

  function show(answer, words) {
    const count = kind => answer.findings.filter(({severity}) => severity === kind).length;
    const warnings = count("WARNING");
    checked = answer.ok ? answer : null;
    create.disabled = checked === null || !may("submit");
    create.title = may("submit") ? "" : "You may look, but not create.";
    verdict.className = answer.ok && warnings === 0 ? "good" : "";
    replace(verdict, words ?? (answer.ok ? "The spec is valid." : format.plural(count("ERROR"), "error")),
      warnings > 0 && ` ${format.plural(warnings, "warning")}.`);
    replace(refusal);
    editor.showFindings(answer.findings);
    replace(list, answer.findings.map(finding => findingItem(finding, editor)));
    replace(plan, answer.ok && planList(answer.plan));
  }

  async function submit() {
    const {collection, resource} = checked;
    create.disabled = true;
    try {
      const made = await post(collection, resource);
      location.hash = `#/studies/${made.name.split("/").pop()}`;
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      replace(refusal, problemList(problem));
      create.disabled = false;
    }
  }

  async function begin() {
    try {
      const {yaml} = await get(`${OURS}/specs:template`);
      if (!ended) editor.text = yaml;
    } catch (problem) {
      replace(refusal, problemList(problem));
    }
  }

  async function openFile() {
    if (file.files.length > 0) editor.text = await file.files[0].text();
  }

  begin();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
