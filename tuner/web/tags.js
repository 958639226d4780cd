// tags.js - tags of studies and trials as the page shows them. A favourite has
// the tag of that name.
import {element} from "./dom.js";

export const FAVOURITE = "favourite";

export const tagChips = tags => element("span", {}, tags.map(tag =>
  element("span.tag", {}, tag === FAVOURITE ? "★ favourite" : tag)));

// The words of a text.
export const wordsOf = text => text.split(/[\s,]+/).filter(Boolean);
