// tags.js - tags of studies and trials as the page shows them. A favourite has
// the tag of that name.
import {element, notice} from "./dom.js";
import {ApiError, patch} from "./api.js";

export const FAVOURITE = "favourite";

export const tagChips = tags => element("span", {}, tags.map(tag =>
  element("span.tag", {}, tag === FAVOURITE ? "★ favourite" : tag)));

// The tags but the favourite's, which has its star beside them.
export const withoutFavourite = tags => tags.filter(tag => tag !== FAVOURITE);

// Makes a study or a trial, whose path it is, a favourite, or no longer one.
export async function setFavourite(path, isFavourite) {
  try {
    await patch(`${path}/notes`, {[isFavourite ? "addTags" : "removeTags"]: [FAVOURITE]});
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    notice(problem.message, "error");
  }
}

// The switch that leaves only favourites in a table; `changed(isOn)`.
export function favouriteSwitch(isOn, changed) {
  const button = element("button", {ariaLabel: "Favourites only", title: "Favourites only", ariaPressed: String(isOn), onclick() {
    button.ariaPressed = String(button.ariaPressed !== "true");
    button.textContent = button.ariaPressed === "true" ? "★" : "☆";
    changed(button.ariaPressed === "true");
  }}, isOn ? "★" : "☆");
  return button;
}

// The words of a text.
export const wordsOf = text => text.split(/[\s,]+/).filter(Boolean);
