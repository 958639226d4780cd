// dom.js - elements made from data. Foreign text only ever becomes text nodes and
// what properties tell, both without signs that would turn the line.
import {number, visible} from "./format.js";

const TOLD = ["title", "ariaLabel", "alt", "placeholder"];

// What `children` give: nodes as they are, texts as they may be seen.
function contents(children) {
  return children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false && child !== "")
    .map(child => child instanceof Node ? child : visible(String(child)));
}

// element("a.button", {href: "#/"}, "text", child, ...): "tag.class.class".
// Properties that begin with "on" are listeners, "data" and "style" are maps,
// null and false are left out.
export function element(kind, properties, ...children) {
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag);
  if (classes.length > 0) made.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(made.dataset, value);
    else if (name === "style")
      for (const [key, setting] of Object.entries(value))
        made.style.setProperty(key, setting);
    else if (TOLD.includes(name)) made[name] = visible(String(value));
    else if (name in made && name !== "list" && name !== "form") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...contents(children));
  return made;
}

// Makes `children` all there is in `parent`.
export function replace(parent, ...children) {
  parent.replaceChildren(...contents(children));
}

// The same where much of what is there may be as it should be already: that is not
// touched, so that no click is lost, and the link or button that has the focus keeps it.
export function renew(parent, ...children) {
  const made = [...element("div", {}, ...children).childNodes];
  const at = [...parent.querySelectorAll("a, button")].indexOf(document.activeElement);
  made.forEach((child, i) => {
    const old = parent.childNodes[i];
    if (!old) parent.append(child);
    else if (!child.isEqualNode(old)) old.replaceWith(child);
  });
  while (parent.childNodes.length > made.length) parent.lastChild.remove();
  if (at >= 0 && !parent.contains(document.activeElement))
    parent.querySelectorAll("a, button")[at]?.focus({preventScroll: true});
}

// A short message at the edge of the page that goes away by itself.
export function notice(text, kind = "info") {
  const box = element(`div.notice.${kind}`, {},
    element("span", {}, text),
    element("button.plain", {onclick: () => box.remove(), ariaLabel: "Close"}, "×"));
  document.getElementById("notices").append(box);
  setTimeout(() => box.remove(), kind === "error" ? 12000 : 5000);
}

// A value of a parameter or metric as people read it; the whole of it under the
// pointer.
export function exact(value) {
  const shown = number(value), whole = String(value ?? "");
  return element("bdi", {title: shown === whole ? null : whole}, shown);
}

// Labels with what they tell, [label, text or element]; pairs without a value are
// left out.
export function pairList(pairs) {
  return element("dl.pairs", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([label, value]) => [element("dt", {}, element("bdi", {}, label)),
      element("dd", {}, value instanceof Node ? value : element("bdi", {}, String(value)))]));
}
