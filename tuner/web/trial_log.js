// trial_log.js - what a trial printed: its end at first, more of it on demand,
// followed while the trial runs.
import {element, replace} from "./dom.js";
import {get, trialPath} from "./api.js";
import {download} from "./table.js";
import * as format from "./format.js";

const TAIL = 65536, PIECE = 262144; // bytes
const MOST = 2_000_000;             // letters that are kept in the page
const PERIOD_MS = 1500;
const STREAMS = ["stdout", "stderr", "runner"];

// Escapes for colours and what else a terminal would do.
const ESCAPES = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;

// A text as a terminal leaves it: of a line that is written over, the last.
function settle(text) {
  return text.replace(ESCAPES, "").replace(/\r\n/g, "\n").replace(/[^\n]*\r(?!$)/g, "");
}

function menu(label, values, changed) {
  return element("select", {ariaLabel: label, onchange: changed}, values.map(([value, text]) => element("option", {value}, text)));
}

// `trial()`: the newest resource of it. {follow(), end()}: follow() is called when
// it changed.
export function trialLog(root, study, id, trial) {
  const stream = menu("Stream", STREAMS.map(name => [name, name]), restart);
  const replica = element("select", {ariaLabel: "Replica", onchange: restart});
  const attempt = element("select", {ariaLabel: "Attempt", onchange: restart});
  const search = element("input", {type: "search", placeholder: "Search", ariaLabel: "Search in the log", oninput: draw});
  const follows = element("input", {type: "checkbox", checked: true, onchange: draw});
  const earlier = element("button", {hidden: true, onclick: loadEarlier}, "Earlier output");
  const pane = element("pre.log", {tabIndex: 0, ariaLabel: "Output"}), found = element("span.quiet", {role: "status"});
  const complaint = element("p.error", {role: "alert"});
  let pieces = [];  // [{offset, data}] without gaps
  let least = 0;    // where what the server has kept begins
  let next = null, timer = 0, round = 0, over = false;
  const text = () => pieces.map(({data}) => data).join("");

  replace(root, element("div.row.between", {}, element("h2", {}, "Output"),
    element("div.row.tools", {}, attempt, replica, stream, search, found, earlier, element("label.choice", {}, follows, " Follow"),
      element("button", {onclick: () => download(`trial-${id}-${stream.value}.log`, "text/plain", text())}, "Download"))), complaint, pane);

  function setOptions(select, values) {
    const chosen = select.value;
    if ([...select.options].map(({value}) => value).join() === values.map(([value]) => value).join()) return;
    replace(select, values.map(([value, label]) => element("option", {value}, label)));
    if (values.some(([value]) => value === chosen)) select.value = chosen;
    select.hidden = values.length < 2;
  }

  function offer() {
    const {attempts = [], commands = []} = trial().hypertune;
    const newest = attempt.selectedIndex <= 0;
    setOptions(attempt, attempts.map(one => one.attempt).reverse().map(n => [String(n), `attempt ${n}`]));
    if (newest && attempt.options.length > 0) attempt.selectedIndex = 0;
    setOptions(replica, commands.flatMap(({type, replicas}) => Array.from({length: replicas}, (_, i) => `${type}-${i}`))
      .map(name => [name, name]));
  }

  const path = query => `${trialPath(study, id)}/logs?stream=${stream.value}` +
    (replica.value ? `&replica=${replica.value}` : "") + (attempt.value ? `&attempt=${attempt.value}` : "") + query;

  // Lines with the text that is looked for are all that is shown then.
  function draw() {
    const wanted = search.value.toLowerCase();
    const settled = settle(text());
    const lines = wanted ? settled.split("\n").filter(line => line.toLowerCase().includes(wanted)) : null;
    found.textContent = lines ? format.plural(lines.length, "line") : "";
    replace(pane, lines ? lines.join("\n") : settled || (over ? "Nothing was printed here." : "Nothing was printed here yet."));
    earlier.hidden = pieces.length === 0 || pieces[0].offset <= least;
    if (follows.checked && !wanted) pane.scrollTop = pane.scrollHeight;
  }

  // A page that follows for days keeps the newest pieces.
  function add({offset, data}) {
    if (data.length > 0) pieces.push({offset, data});
    let letters = pieces.reduce((sum, piece) => sum + piece.data.length, 0);
    while (letters > MOST && pieces.length > 1) letters -= pieces.shift().data.length;
  }

  async function load() {
    const mine = round;
    try {
      const answer = await get(path(next === null ? `&tail=${TAIL}` : `&offset=${next}&limit=${PIECE}`));
      if (mine !== round) return;
      const grown = answer.data.length > 0 || next === null || over !== answer.ended;
      [next, over] = [answer.next, answer.ended];
      add(answer);
      replace(complaint);
      if (grown) draw();
    } catch (problem) {
      if (mine !== round) return;
      replace(complaint, problem.status === 404 ? "" : problem.message);
      if (next === null) draw();
    }
    if (!over) timer = setTimeout(load, PERIOD_MS);
  }

  async function loadEarlier() {
    const mine = round, end = pieces[0].offset, from = Math.max(0, end - PIECE);
    try {
      const answer = await get(path(`&offset=${from}&limit=${end - from}`));
      if (mine !== round) return;
      if (answer.offset > from) least = answer.offset;
      follows.checked = false;
      pieces.unshift({offset: answer.offset, data: answer.data});
      draw();
    } catch (problem) {
      replace(complaint, problem.message);
    }
  }

  function restart() {
    round++;
    clearTimeout(timer);
    [pieces, least, next, over] = [[], 0, null, false];
    load();
  }

  if (trial().hypertune.state === "FAILED") stream.value = "stderr"; // where most say why
  let known = "";
  return {
    follow() {
      offer();
      const n = trial().hypertune.attempts?.length ?? 0;
      if (n === 0) return draw(); // there is no output to ask for
      const now = `${attempt.value} ${n}`;
      if (now !== known) restart();
      known = now;
    },
    end() {
      round++;
      clearTimeout(timer);
    },
  };
}
