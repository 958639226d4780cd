// point_form.js - a form for one point of a search space: a field for each
// parameter, those with a condition only while it holds.
import {element} from "./dom.js";
import {field} from "./dialog.js";

const numbers = {doubleValueSpec: "a number", integerValueSpec: "a whole number"};

function options(spec) {
  return spec.categoricalValueSpec?.values ?? spec.discreteValueSpec?.values;
}

function note(spec) {
  for (const [kind, words] of Object.entries(numbers))
    if (spec[kind]) return `${words} from ${spec[kind].minValue ?? 0} to ${spec[kind].maxValue ?? 0}`;
  return "";
}

function control(spec, value) {
  const values = options(spec);
  const text = value === undefined || value === null ? "" : String(value);
  if (!values) return element("input", {type: "text", inputMode: "decimal", value: text, autocomplete: "off"});
  return element("select", {}, element("option", {value: ""}, "none"),
    values.map(one => element("option", {value: String(one), selected: String(one) === text}, String(one))));
}

// The values of a parent that its child exists for.
function wanted(child) {
  const {parentCategoricalValues, parentDiscreteValues, parentIntValues} = child;
  return (parentCategoricalValues ?? parentDiscreteValues ?? parentIntValues).values.map(String);
}

class ParameterField {
  constructor(spec, point) {
    this.spec = spec;
    this.control = control(spec, point.get(spec.parameterId));
    this.children = (spec.conditionalParameterSpecs ?? []).map(child =>
      ({values: wanted(child), field: new ParameterField(child.parameterSpec, point)}));
    this.inner = element("div.children", {}, this.children.map(child => child.field.element));
    this.element = element("div", {}, field(spec.parameterId, this.control, note(spec)), this.inner);
  }

  get text() { return this.control.value.trim(); }

  holds(values) {
    return values.includes(this.text) || (this.text !== "" && values.some(value => Number(value) === Number(this.text)));
  }

  follow() {
    for (const {values, field: child} of this.children) {
      child.element.hidden = !this.holds(values);
      child.follow();
    }
  }

  // What is typed wrongly is sent as a text, which the server refuses in words.
  read() {
    if (this.element.hidden || this.text === "") return [];
    const number = Number(this.text);
    const value = this.spec.categoricalValueSpec || Number.isNaN(number) ? this.text : number;
    return [{parameterId: this.spec.parameterId, value}, ...this.children.flatMap(child => child.field.read())];
  }
}

// `values`: {name: value} that it is filled with. {element, read(), name()}:
// read() gives the parameters as the server takes them.
export function pointForm(specs, values) {
  const point = new Map(Object.entries(values)); // a name may be "constructor"
  const fields = specs.map(spec => new ParameterField(spec, point));
  const follow = () => fields.forEach(one => one.follow());
  follow();
  return {
    element: element("div.form", {oninput: follow}, fields.map(one => one.element)),
    read: () => fields.flatMap(one => one.read()),
    // The words of the server about what was read, with the parameters' names.
    name: (text, point) => text.replace(/parameters\[(\d+)\](\.value)?/g, (place, i) => point[i]?.parameterId ?? place),
  };
}
