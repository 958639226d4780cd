// plot_controls.js - the switches and menus beside the title of a plot.
import {element, replace} from "./dom.js";

// A menu of dimensions (or of {key, name}), which is hidden while there is
// nothing to choose. `name`: of the selection's choice, a key; `at`: which one is
// chosen at first.
export function choice(selection, name, label, changed, at = 0) {
  const menu = element("select", {ariaLabel: label, onchange: () => {
    selection.choose(name, menu.value);
    changed();
  }});
  const made = {
    element: element("label.choice", {hidden: true}, `${label} `, menu),
    get isChosen() { return selection.choices.has(name); },
    // The chosen one of `items`, `first` until one is; undefined without any.
    pick(items, first = items[Math.min(at, items.length - 1)]) {
      const picked = items.find(item => item.key === selection.choices.get(name)) ?? first;
      const offered = [...menu.options].map(option => option.value);
      made.element.hidden = items.length < 2;
      if (offered.join("\n") !== items.map(item => item.key).join("\n"))
        replace(menu, items.map(({key, name}) => element("option", {value: key, title: name}, name)));
      if (picked) menu.value = picked.key;
      return picked;
    },
  };
  return made;
}

// The menu of metrics: the one in focus is the same in all plots of the page.
export function metricMenu(selection) {
  return choice(selection, "metric", "Metric", () => {});
}

// A switch that may be on or off.
export function toggle(label, changed, on = false) {
  const box = element("input", {type: "checkbox", checked: on, onchange: changed});
  return {
    element: element("label.choice", {}, box, ` ${label}`),
    get on() { return box.checked && !box.disabled; },
    box,
  };
}

const MANY_DECADES = 3;
const NEAR_ZERO = 0.05; // part of the values: some of those drawn evenly come near 0, too

function decadesOf(values) {
  const sorted = Float64Array.from(values).sort();
  return Math.log10(sorted[sorted.length - 1] / sorted[Math.floor(NEAR_ZERO * (sorted.length - 1))]);
}

// One for logarithmic axes of a dimension, which only positive values can have.
// Where they span many decades it is on until the reader says otherwise, and then
// on all of the page; a parameter that is searched on a logarithmic scale has no
// choice, and neither has one of hardly a decade.
export function logSwitch(label, selection) {
  let of = null;
  const made = toggle(label, () => selection.setLog(of, made.box.checked));
  made.offer = (dimension, values) => {
    const possible = !dimension.isCategory && values.length > 0 && values.every(value => value > 0);
    const decades = possible ? decadesOf(values) : 0;
    of = dimension;
    made.box.disabled = !possible;
    made.box.checked = possible && (dimension.log || (selection.logs.get(dimension.key) ?? decades >= MANY_DECADES));
    made.element.title = possible ? "" : "Some values are not positive";
    made.element.hidden = dimension.kind === "parameter" && (dimension.log || decades < 1);
  };
  return made;
}

// A menu of such switches, for a plot with an axis for each dimension.
export function logMenu(selection) {
  const list = element("div.card");
  const made = element("details.menu", {}, element("summary.button", {}, "Log"), list);
  let switches = new Map(); // by the key of their dimension
  return {
    element: made,
    offer(dimensions, valuesOf) {
      if ([...switches.keys()].join("\n") !== dimensions.map(({key}) => key).join("\n")) {
        switches = new Map(dimensions.map(({key, name}) => [key, logSwitch(name, selection)]));
        replace(list, [...switches.values()].map(one => one.element));
      }
      for (const dimension of dimensions) switches.get(dimension.key).offer(dimension, valuesOf(dimension));
      made.hidden = [...switches.values()].every(one => one.element.hidden || one.box.disabled);
    },
    isOn: dimension => switches.get(dimension.key).on,
  };
}
