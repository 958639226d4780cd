// trial_files.js - what a trial has left: its outputs, which its runner sends when
// they are asked for, and its checkpoints. Each file can be downloaded, and shown
// where it is a text or an image.
import {element, notice, renew, replace} from "./dom.js";
import {ApiError, get, getBegin, post} from "./api.js";
import {copy} from "./copy.js";
import {may, onlyStudy} from "./session.js";
import * as format from "./format.js";

const PAUSE_MS = 3000, POLL_MS = 1000;  // between two questions: for what there is, for how far a runner is
const SHOWN = 200, MORE = 1000, FILTERED = 20; // rows at first, at a click, and before there is a filter
const TEXT_BYTES = 65536, IMAGE_BYTES = 20_000_000;
const TEXT = /(^|\/)(readme|license|makefile|dockerfile|stdout|stderr)$|\.(txt|csv|tsv|jsonl?|ndjson|ya?ml|toml|ini|cfg|conf|log|out|err|md|rst|tex|bib|py|ipynb|r|jl|lua|sh|c|h|cc|cpp|hpp|cu|rs|go|java|js|ts|css|html?|xml|svg|sql|diff|patch|pbtxt|prototxt|properties|env)$/i;
const IMAGE = /\.(png|jpe?g|gif|webp)$/i;

const titleOf = ({kind, attempt, step}) => kind === "OUTPUTS" ? `Outputs of attempt ${attempt}`
  : step === undefined ? `Checkpoint of attempt ${attempt}` : `Checkpoint at step ${step}`;

// --- what is in a file ---

async function textOf(address, bytes) {
  const text = bytes === 0 ? "" : await getBegin(address, TEXT_BYTES);
  if (text.includes("\0")) return element("p.quiet.note", {}, "This is no text: download it.");
  const cut = bytes > TEXT_BYTES;
  return [cut && element("p.quiet.note", {}, `The first ${TEXT_BYTES / 1024} KiB of ${format.bytes(bytes)}:`),
    text === "" ? element("p.quiet.note", {}, "The file is empty.")
      : element("pre", {tabIndex: 0, ariaLabel: "Text of the file"}, cut ? text.replace(/\ufffd+$/, "") : text)];
}

function imageOf(address, {path, bytes}) {
  if (bytes > IMAGE_BYTES) return element("p.quiet.note", {}, `With ${format.bytes(bytes)} it is too large to be shown here: download it.`);
  const image = element("img", {alt: path, src: address,
    onerror: () => image.replaceWith(element("p.error", {}, "The browser cannot show this image."))});
  return image;
}

async function contentOf(address, file) {
  try {
    return IMAGE.test(file.path) ? imageOf(address, file) : await textOf(address, file.bytes);
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    return element("p.error", {role: "alert"}, problem.message);
  }
}

// One entry of a tree; a file that can be shown opens and closes by its name.
function fileRow(tree, file) {
  const {path, bytes, link} = file;
  if (bytes === undefined) return element("li", {}, element("span.name", {}, path), element("span.quiet", {}, link ? `link to ${link}` : "empty folder"));
  const address = `${tree}/file?path=${encodeURIComponent(path)}`, content = element("div.content", {hidden: true});
  const name = !TEXT.test(path) && !IMAGE.test(path) ? element("span.name", {}, path)
    : element("button.plain.name", {ariaExpanded: "false", title: `Show ${path}`, async onclick() {
      const opens = content.hidden;
      content.hidden = !opens;
      name.ariaExpanded = String(opens);
      if (!opens || content.firstChild) return;
      replace(content, element("p.quiet.note", {}, "Asking for it …"));
      replace(content, await contentOf(address, file));
    }}, path);
  return element("li", {}, name, element("span.quiet", {}, format.bytes(bytes)),
    element("a", {href: address, download: "", ariaLabel: `Download ${path}`}, "Download"), content);
}

// --- the files of a tree ---

// Fills `root` with the files of the tree at that address, all of them on demand.
async function listFiles(root, tree) {
  const files = [], list = element("ul.files"), complaint = element("p.error", {role: "alert"});
  const wanted = element("input", {type: "search", placeholder: "Filter", ariaLabel: "Filter the files", hidden: true, oninput: () => draw(SHOWN)});
  const more = element("button", {hidden: true, onclick: () => draw(list.children.length + MORE)});
  const further = element("button", {hidden: true, onclick: load}, "Load more files");
  const found = element("span.quiet", {role: "status"});
  let next = 0;
  replace(root, element("div.row.tools", {}, wanted, found), complaint, list, element("div.row", {}, more, further));

  function draw(most) {
    const word = wanted.value.toLowerCase(), fit = files.filter(({path}) => path.toLowerCase().includes(word));
    replace(list, fit.slice(0, most).map(file => fileRow(tree, file)));
    wanted.hidden = files.length < FILTERED;
    further.hidden = next === undefined;
    more.hidden = fit.length <= most;
    more.textContent = `Show ${Math.min(MORE, fit.length - most)} more`;
    found.textContent = wanted.hidden ? "" : `${Math.min(most, fit.length)} of ${format.plural(files.length, "file")}${next === undefined ? "" : " that are loaded"}`;
  }

  async function load() {
    further.disabled = true;
    try {
      const page = await get(`${tree}/files?after=${next}`);
      files.push(...page.files);
      next = page.next;
      replace(complaint);
      draw(Math.max(SHOWN, list.children.length));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      replace(complaint, problem.message);
    }
    further.disabled = false;
  }
  await load();
}

function treeSection(path, tree, opens) {
  const {files, bytes, storedTimeMs} = tree, address = `${path}/trees/${tree.tree}`, title = titleOf(tree);
  const content = element("div", {hidden: true});
  const shows = element("button", {ariaExpanded: "false", onclick: toggle}, "Show files");
  function toggle() {
    content.hidden = !content.hidden;
    shows.ariaExpanded = String(!content.hidden);
    shows.textContent = content.hidden ? "Show files" : "Hide files";
    if (!content.hidden && !content.firstChild) listFiles(content, address);
  }
  if (opens) toggle();
  return element("div.tree", {data: {tree: tree.tree}}, element("h3", {}, title),
    element("div.row", {}, element("span.quiet", {}, `${format.plural(files, "file")}, ${format.bytes(bytes)}, stored ${format.moment(storedTimeMs)}`),
      shows, element("a.button", {href: `${address}/archive`, download: "", ariaLabel: `Download all files of ${title} as one .tar`}, "Download all (.tar)")),
    content);
}

// --- the outputs that are still where the trial ran ---

const sleep = ms => new Promise(done => setTimeout(done, ms));

// Asks until the store has them; returns their tree, or null where that has ended.
async function bring(path, says, isOver) {
  for (let said = {}; !isOver();) {
    const answer = await post(`${path}:fetch`, said);
    if (answer.state === "READY") return answer.tree;
    said = {fetch: answer.fetch};
    says(answer.state === "SENDING" ? `Runner ${answer.runner} sends ${format.bytes(answer.bytes)} of ${format.bytes(answer.of)} …`
      : `Waiting for runner ${answer.runner} …`);
    await sleep(POLL_MS);
  }
  return null;
}

// Appends the card to `root` and follows the store; `path` of the trial, `isOver`
// whether that writes nothing more. A share has no card. Returns the function that
// ends it.
export function filesCard(root, store, path, isOver) {
  if (onlyStudy()) return () => {};
  const places = element("div"), trees = element("div"), status = element("p.quiet.note", {role: "status"});
  root.append(element("section.card", {ariaLabel: "Files"}, element("h2", {}, "Files"), places, status, trees));
  const sections = new Map(); // what is open stays open
  let seen = -1, timer = 0, ended = false, busy = false;

  // Then shows the files, or downloads all of them.
  async function fetchOutputs(downloads) {
    if (busy) return;
    busy = true;
    try {
      const tree = await bring(path, text => replace(status, text), () => ended);
      if (tree === null) return;
      replace(status);
      await load();
      if (downloads) trees.querySelector(`[data-tree="${tree}"] a.button`)?.click();
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      replace(status);
      notice(problem.message, "error");
    } finally {
      busy = false;
    }
  }

  function outputsPlace({runner, host, folder, problem}, has) {
    const where = [runner && `at runner ${runner}`, host && `on ${host}`].filter(Boolean).join(" ");
    return [
      folder && element("p", {}, "The outputs are ", where, " in ", element("code", {}, folder), " ",
        element("button", {onclick: () => copy(folder, "the folder"), ariaLabel: "Copy the folder of the outputs"}, "Copy")),
      problem && !has && element("p.quiet", {}, element("bdi", {}, problem)),
      runner && !problem && !(has && isOver()) && (may("submit") ? element("div.row", {},
        element(has ? "button" : "button.primary", {onclick: () => fetchOutputs(true)}, `Download the outputs ${has ? "as they are now " : ""}(.tar)`),
        element("button", {onclick: () => fetchOutputs(false)}, has ? "Show them as they are now" : "Show the files of the outputs"))
        : !has && element("p.quiet", {}, "Their files are shown here once a person with the role submit has asked for them."))];
  }

  function draw(answer) {
    const isFirst = sections.size === 0, now = answer.trees.map(tree => JSON.stringify(tree));
    renew(places, outputsPlace(answer.outputs, answer.trees.some(({kind}) => kind === "OUTPUTS")));
    if (now.join() === [...sections.keys()].join()) return;
    const made = answer.trees.map((tree, i) => sections.get(now[i]) ?? treeSection(path, tree, i === 0 && (isFirst || tree.kind === "OUTPUTS")));
    sections.clear();
    made.forEach((section, i) => sections.set(now[i], section));
    replace(trees, made);
  }

  async function load() {
    if (store.isEnding || store.isDeleted) return;
    seen = store.revision;
    try {
      const answer = await get(`${path}/files`);
      if (!ended) draw(answer);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (!ended) replace(status, problem.message);
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
