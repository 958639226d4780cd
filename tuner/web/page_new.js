// page_new.js - a spec that becomes a study, a copy of one or a change of one:
// checked by the server while it is typed, and what it would do.
import {element, replace, pairList} from "./dom.js";
import {ApiError, get, patch, post, studyPath, OURS} from "./api.js";
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

// In the form that it was sent in, with `clone` as that of a new study.
async function specOf(study, clone = "") {
  const {hypertune, hypertuneStatus: {name}} = await get(studyPath(study));
  const form = hypertune?.form === "native" ? "native" : "vertex";
  const query = clone ? `form=${form}&clone=${encodeURIComponent(name + clone)}` : `form=${form}`;
  return (await get(`${studyPath(study)}/spec?${query}`)).yaml;
}

const openStudy = study => location.hash = `#/studies/${study}`;

// What is written: how it begins, what else its check has to know, and what is
// done with it.
const NEW = {
  title: "New study", label: "Create the study",
  words: ["A spec of hypertune as YAML or JSON, a Vertex AI job, or an AI Platform job. Commands run in the folder ",
    "that workdir names on the machine that runs them; to take a folder from this computer, use \"hypertune submit\" there."],
  begin: () => get(`${OURS}/specs:template`).then(({yaml}) => yaml),
  send: async ({collection, resource}) => openStudy((await post(collection, resource)).name.split("/").pop()),
};

const cloneOf = study => ({...NEW,
  title: "Clone the study",
  words: ["A study of its own, with other ranges, types or goals. It begins with the results of the one that warmStart names; without that line it begins with none."],
  about: {cloneOf: study},
  begin: () => specOf(study, "-2"),
});

const changeOf = study => ({
  title: "Edit the study", label: "Change the study",
  about: {study},
  words: ["Ranges, values, steps, constraints, bounds, budgets and rules may change while it runs. Running trials finish; suggestions that have not started are withdrawn. ",
    "Trials outside the new space still teach the search. Names, types and scales of parameters stay: for others, clone the study."],
  begin: () => specOf(study),
  send: async ({resource}) => {
    await patch(studyPath(study), {job: resource});
    openStudy(study);
  },
});

function changeList(changes) {
  return changes && element("section", {ariaLabel: "Changes"}, element("h3", {}, changes.length > 0 ? "Changes" : "Nothing differs from the study as it is."),
    element("ul.findings", {}, changes.map(change => element("li", {}, element("bdi", {}, change)))));
}

function draftPage(root, purpose) {
  const editor = new SpecEditor(() => later());
  const verdict = element("p", {role: "status"}), list = element("ul.findings"), plan = element("div"), refusal = element("div.error", {role: "alert"});
  const send = element("button.primary", {disabled: true, onclick: submit}, purpose.label);
  const file = element("input", {type: "file", ariaLabel: "Spec file", accept: ".yaml,.yml,.json", onchange: openFile});
  const helper = purpose === NEW && element("details.card", {}, element("summary", {}, "Fill in a form instead"), simpleForm(yaml => {
    editor.text = yaml;
    helper.open = false;
    editor.area.focus();
  }));
  let timer = 0, round = 0, checked = null, ended = false;

  replace(root, element("h1", {}, purpose.title), element("p.quiet", {}, purpose.words), helper,
    element("div.halves", {},
      element("section.card", {ariaLabel: "Spec"},
        element("div.row.between", {}, element("h2", {}, "Spec"),
          element("div.row", {}, file, element("button", {onclick: begin}, purpose === NEW ? "Template" : "As it was"))),
        editor.element),
      element("section.card", {ariaLabel: "Check"}, element("div.row.between", {}, element("h2", {}, "Check"), send),
        verdict, refusal, list, plan)));

  function later() {
    checked = null;
    send.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(check, TYPE_MS);
  }

  async function check() {
    const mine = ++round, {text} = editor;
    if (text.trim() === "") return show({ok: false, findings: []}, "Nothing is written yet.");
    try {
      const answer = await post(`${OURS}/specs:check`, {text, ...purpose.about});
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
    send.disabled = checked === null || !may("submit") || answer.changes?.length === 0;
    send.title = may("submit") ? "" : "You may look, but not create.";
    verdict.className = answer.ok && warnings === 0 ? "good" : "";
    replace(verdict, words ?? (answer.ok ? "The spec is valid." : format.plural(count("ERROR"), "error")),
      warnings > 0 && ` ${format.plural(warnings, "warning")}.`);
    replace(refusal);
    editor.showFindings(answer.findings);
    replace(list, answer.findings.map(finding => findingItem(finding, editor)));
    replace(plan, answer.ok && [changeList(answer.changes), planList(answer.plan)]);
  }

  async function submit() {
    send.disabled = true;
    try {
      await purpose.send(checked);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      replace(refusal, problemList(problem));
      send.disabled = false;
    }
  }

  async function begin() {
    try {
      const yaml = await purpose.begin();
      if (!ended) editor.text = yaml;
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
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

export const newPage = root => draftPage(root, NEW);
export const clonePage = (root, {parts}) => draftPage(root, cloneOf(parts[1]));
export const editPage = (root, {parts}) => draftPage(root, changeOf(parts[1]));
