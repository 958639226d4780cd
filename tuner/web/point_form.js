// point_form.js - a form for a point of a search space, or a part of one: a field
// for each parameter, those with conditions only while they hold; an empty one
// gives no value. What cannot be a value of a parameter is reported by the browser,
// before anything is sent.
import {element} from "./dom.js";
import {field} from "./dialog.js";

const LEFT = "left to the search";
const numbers = {doubleValueSpec: "a number", integerValueSpec: "a whole number"};

function options(spec) {
  return spec.categoricalValueSpec?.values ?? spec.discreteValueSpec?.values ?? null;
}

function note(spec, step) {
  for (const [kind, words] of Object.entries(numbers))
    if (spec[kind]) return `${words} from ${spec[kind].minValue ?? 0} to ${spec[kind].maxValue ?? 0}${step ? ` in steps of ${step}` : ""}`;
  return "";
}

function control(spec, step, value) {
  const values = options(spec);
  if (values)
    return element("select", {}, element("option", {value: ""}, LEFT),
      values.map(one => element("option", {value: String(one), selected: value !== undefined && String(one) === String(value)}, String(one))));
  const {minValue = 0, maxValue = 0} = spec.doubleValueSpec ?? spec.integerValueSpec;
  return element("input", {type: "number", min: minValue, max: maxValue, step: step ?? (spec.integerValueSpec ? 1 : "any"),
    value: value ?? "", placeholder: LEFT, autocomplete: "off"});
}

// The values of a parent that its child exists for.
function wanted(child) {
  const {parentCategoricalValues, parentDiscreteValues, parentIntValues} = child;
  return (parentCategoricalValues ?? parentDiscreteValues ?? parentIntValues).values;
}

class ParameterField {
  // `conditions`: [{parents(): fields, values}]; each has a parent with one of
  // the values where the parameter exists.
  constructor(spec, step, value, conditions) {
    this.name = spec.parameterId;
    this.options = options(spec);
    this.conditions = conditions;
    this.control = control(spec, step, value);
    this.children = element("div.children");
    this.element = element("div", {}, field(this.name, this.control, note(spec, step)), this.children);
  }

  get value() {
    if (this.options) return this.options[this.control.selectedIndex - 1];
    return this.control.value === "" ? undefined : Number(this.control.value);
  }

  clear() {
    if (this.options) this.control.selectedIndex = 0;
    else this.control.value = "";
  }

  get exists() {
    return this.conditions.every(({parents, values}) => parents().some(parent => parent.exists && parent.holds(values)));
  }

  holds(values) { return this.value !== undefined && values.some(value => String(value) === String(this.value)); }

  // What does not exist is neither shown nor asked for.
  follow() { this.element.hidden = this.control.disabled = !this.exists; }
}

// `extras`: {name: what a job says of a parameter beside its spec}; `values`: {name:
// value} that the form is filled with. {element, read(), clear(), name()}: read()
// gives what is filled in as the server takes it.
export function pointForm(specs, extras, values) {
  // A parameter may be called "constructor", which every object has.
  const extra = new Map(Object.entries(extras)), point = new Map(Object.entries(values));
  const fields = [];
  const named = wantedName => fields.filter(({name}) => name === wantedName);
  const follow = () => fields.forEach(one => one.follow());

  function add(spec, conditions) {
    const {step, when = []} = extra.get(spec.parameterId) ?? {};
    const made = new ParameterField(spec, step, point.get(spec.parameterId),
      [...conditions, ...when.map(({parent, values: some}) => ({parents: () => named(parent), values: some}))]);
    fields.push(made);
    for (const child of spec.conditionalParameterSpecs ?? [])
      made.children.append(add(child.parameterSpec, [{parents: () => [made], values: wanted(child)}]));
    return made.element;
  }

  const form = element("div.form", {oninput: follow}, specs.map(spec => add(spec, [])));
  follow();
  return {
    element: form,
    read: () => fields.filter(({exists, value}) => exists && value !== undefined).map(({name, value}) => ({parameterId: name, value})),
    clear() {
      fields.forEach(one => one.clear());
      follow();
    },
    // The words of the server about what was read, with the parameters' names.
    name: (text, read) => text.replace(/parameters\[(\d+)\](\.value)?/g, (place, i) => read[i]?.parameterId ?? place),
  };
}
