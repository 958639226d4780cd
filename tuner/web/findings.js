// findings.js - what the server finds of the health of a study's model, in words.
import {copy} from "./copy.js";
import {element, renew} from "./dom.js";
import {studyPath} from "./api.js";
import {Question} from "./question.js";

const PAUSE_MS = 10000; // words change slowly

const row = ({severity, text, command}) => element("li", {}, severity === "WARNING" && "⚠ ", element("bdi", {}, text),
  command && element("div.row", {}, element("code.command", {}, command),
    element("button", {onclick: () => copy(command, "the command")}, "Copy")));

// Follows the store with a card that is there while something is found.
export function findingsCard(root, store) {
  const body = element("div");
  const card = element("section.card", {ariaLabel: "Findings", hidden: true}, element("h2", {}, "Findings"), body);
  root.append(card);
  let shown = null;
  const question = new Question(store, () => store.results.length > 0 ? `${studyPath(store.key)}/health` : null, draw,
    {pauseMs: PAUSE_MS});
  function draw() {
    const findings = question.look().answer?.findings ?? [];
    if (findings === shown) return;
    shown = findings;
    card.hidden = findings.length === 0;
    renew(body, element("ul.findings", {}, findings.map(row)));
  }
  draw();
  const end = store.watch(draw);
  return () => { end(); question.end(); };
}
