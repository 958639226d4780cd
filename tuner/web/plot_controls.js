// plot_controls.js - the switches and menus beside the title of a plot.
import {element, replace} from "./dom.js";

// A menu of dimensions (or of {key, name}), which is hidden while there is
// nothing to choose. `at`: which one is chosen at first.
export function choice(label, changed, at = 0) {
  const menu = element("select", {ariaLabel: label, onchange: () => {
    made.chosen = menu.value;
    changed();
  }});
  const made = {
    element: element("label.choice", {hidden: true}, `${label} `, menu),
    chosen: null, // key; null: nobody has chosen
    // The chosen one of `items`, undefined without any.
    pick(items) {
      const picked = items.find(item => item.key === made.chosen) ?? items[Math.min(at, items.length - 1)];
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
  const made = choice("Metric", () => selection.focus(made.chosen));
  const pick = made.pick;
  made.pick = metrics => {
    made.chosen = selection.metric;
    return pick(metrics);
  };
  return made;
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

// One for a logarithmic axis, which only positive values can have. Where they
// span many decades it is on until the reader says otherwise.
export function logSwitch(label, changed) {
  let chosen = false;
  const made = toggle(label, () => {
    chosen = true;
    changed();
  });
  made.offer = values => {
    const possible = values.every(value => value > 0), [least, most] = d3.extent(values);
    made.box.disabled = !possible;
    if (!chosen) made.box.checked = possible && Math.log10(most / least) >= MANY_DECADES;
    made.element.title = possible ? "" : "Some values are not positive";
  };
  return made;
}
