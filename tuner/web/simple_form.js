// simple_form.js - the form that writes a spec for the simple case.
import {element, replace} from "./dom.js";
import {field} from "./dialog.js";
import {yamlScalar} from "./copy.js";

const TYPES = {
  "number": "numbers in a range", "log": "numbers in a range, by size (log)", "integer": "whole numbers in a range",
  "values": "a list of values",
};

const RULES = ["", "median", "decay", "convex", "asha", "hyperband"];

// A number where it is one.
const scalar = text => text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text.trim();
const list = text => text.split(",").filter(word => word.trim()).map(scalar);

// As people write it, unless YAML would read the metric as something else.
function goalOf(way, metric) {
  return yamlScalar(metric) === metric ? `${way} ${metric}` : yamlScalar(`${way} ${metric}`);
}

class ParameterRow {
  constructor(remove) {
    this.name = element("input", {ariaLabel: "Name of the parameter", placeholder: "lr"});
    this.type = element("select", {ariaLabel: "Kind", onchange: () => this.follow()},
      Object.entries(TYPES).map(([value, label]) => element("option", {value}, label)));
    this.low = element("input.short", {ariaLabel: "Least", placeholder: "from"});
    this.high = element("input.short", {ariaLabel: "Most", placeholder: "to"});
    this.values = element("input", {ariaLabel: "Values", placeholder: "adam, sgd"});
    this.element = element("div.row", {}, this.name, this.type, this.low, this.high, this.values,
      element("button.plain", {type: "button", ariaLabel: "Remove the parameter", onclick: () => remove(this)}, "×"));
    this.follow();
  }

  follow() {
    const listed = this.type.value === "values";
    this.low.hidden = this.high.hidden = listed;
    this.values.hidden = !listed;
  }

  write() {
    const name = yamlScalar(this.name.value.trim());
    if (this.type.value === "values") return `  ${name}: [${list(this.values.value).map(yamlScalar).join(", ")}]\n`;
    const type = this.type.value === "integer" ? "integer" : "double";
    const scale = this.type.value === "log" ? ", scale: log" : "";
    return `  ${name}: {type: ${type}, min: ${yamlScalar(scalar(this.low.value))}, max: ${yamlScalar(scalar(this.high.value))}${scale}}\n`;
  }
}

// `written(yaml)` is called with the spec.
export function simpleForm(written) {
  const name = element("input", {placeholder: "digits"}), metric = element("input", {ariaLabel: "Metric", placeholder: "accuracy"});
  const way = element("select", {ariaLabel: "Direction"}, ["maximize", "minimize"].map(value => element("option", {value}, value)));
  const trials = element("input.short", {type: "number", min: 1, value: 20}), parallel = element("input.short", {type: "number", min: 1, value: 2});
  const command = element("input.wide", {placeholder: "python3 train.py"}), image = element("input.wide", {placeholder: "registry/name:tag"});
  const workdir = element("input.wide", {placeholder: "/home/me/project"});
  const output = element("input.wide", {placeholder: "acc: {accuracy}"});
  const rule = element("select", {}, RULES.map(value => element("option", {value}, value || "none")));
  const rows = element("div.form");
  let parameters = [];

  function add() {
    parameters.push(new ParameterRow(gone => {
      parameters = parameters.filter(row => row !== gone);
      replace(rows, parameters.map(row => row.element));
    }));
    replace(rows, parameters.map(row => row.element));
  }

  function write() {
    const lines = [`spec: 1\nname: ${yamlScalar(name.value.trim())}\ngoal: ${goalOf(way.value, metric.value.trim())}\nparameters:\n`,
      ...parameters.map(row => row.write()), `trials: ${trials.value}\nparallel: ${parallel.value}\n`];
    if (command.value.trim()) lines.push(`command: ${yamlScalar(command.value.trim())}\n`);
    if (image.value.trim()) lines.push(`image: ${yamlScalar(image.value.trim())}\n`);
    if (output.value.trim()) lines.push(`metrics: {stdout: ${yamlScalar(output.value.trim())}}\n`);
    if (rule.value) lines.push(`earlyStopping: ${rule.value}\n`);
    if (workdir.value.trim()) lines.push(`workdir: ${yamlScalar(workdir.value.trim())}\n`);
    written(lines.join(""));
  }

  add();
  return element("form.form", {onsubmit: event => {
    event.preventDefault();
    write();
  }},
  field("Name", name), field("Goal", element("span.row", {}, way, metric)),
  element("fieldset", {}, element("legend", {}, "Parameters"), rows, element("button", {type: "button", onclick: add}, "Another parameter")),
  field("Trials", trials), field("At a time", parallel),
  field("Command", command, "What each trial runs; parameters are added as --name=value."),
  field("Metric in its output", output, "A line that the trainer prints, with {accuracy} where the value is; empty: it reports by itself."),
  field("Early stopping", rule),
  field("Image", image, "For containers. Without a command it runs its own entry point."),
  field("Folder", workdir, "Where commands run on the machine that runs them; needed without an image."),
  element("div.row.end", {}, element("button.primary", {}, "Write the spec")));
}
