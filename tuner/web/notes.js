// notes.js - the card with what people write about a study or a trial: a note in
// Markdown, tags, and the star of a favourite.
import {element, renew} from "./dom.js";
import {ApiError, get, patch} from "./api.js";
import {actDialog, field} from "./dialog.js";
import {markdown} from "./markdown.js";
import {may, onlyStudy} from "./session.js";
import {FAVOURITE, setFavourite, tagChips, withoutFavourite, wordsOf} from "./tags.js";

const PAUSE_MS = 3000; // between two questions: a study that runs has many revisions

function edit(path, {note, tags}) {
  const text = element("textarea", {ariaLabel: "Note", rows: 14, value: note, spellcheck: true});
  const words = element("input", {value: tags.join(" "), autocomplete: "off"});
  return actDialog({title: "Edit the notes", label: "Save", body: [
    field("Tags", words, "Words apart by blanks: letters, digits and _ . -"),
    text, element("p.quiet.note", {}, "Markdown: # heading, - list, **bold**, `code`, [label](https://…)")],
  act() {
    const wanted = wordsOf(words.value), written = text.value;
    return patch(path, {addTags: wanted.filter(tag => !tags.includes(tag)), removeTags: tags.filter(tag => !wanted.includes(tag)),
      ...written === note.replace(/\r\n?/g, "\n") ? {} : {note: written, expect: note}});
  }});
}

// Appends the card to `root` and follows the store; `path` of the study or trial.
// A share has none. Returns the function that ends it.
export function notesCard(root, store, path) {
  if (onlyStudy()) return () => {};
  const body = element("div"), address = `${path}/notes`;
  root.append(element("section.card.notes", {ariaLabel: "Notes"}, element("h2", {}, "Notes"), body));
  let seen = -1, timer = 0, ended = false;

  function draw(notes) {
    const {note, tags} = notes, isFavourite = tags.includes(FAVOURITE);
    renew(body, element("div.row", {},
      may("submit") && element("button", {ariaPressed: String(isFavourite), onclick: () => setFavourite(path, !isFavourite).then(load)}, isFavourite ? "★ Favourite" : "☆ Favourite"),
      may("submit") && element("button", {onclick: () => edit(address, notes).then(load)}, "Edit notes"),
      tagChips(may("submit") ? withoutFavourite(tags) : tags)),
    note ? markdown(note) : element("p.quiet.note", {}, "No note yet."));
  }

  async function load() {
    if (store.isEnding || store.isDeleted) return;
    seen = store.revision;
    try {
      const notes = await get(address);
      if (!ended) draw(notes);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
    }
  }

  const unwatch = store.watch(() => {
    if (store.revision !== seen) timer ||= setTimeout(() => { timer = 0; load(); }, PAUSE_MS);
  });
  load();
  return () => {
    ended = true;
    unwatch();
    clearTimeout(timer);
  };
}
