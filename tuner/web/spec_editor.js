// spec_editor.js - a text with line numbers, whose faults are marked where they
// are.
import {element, replace} from "./dom.js";

const LINE = 19; // pixels, as style.css has it

export class SpecEditor {
  // `changed()` is called when the text did.
  constructor(changed) {
    this.changed = changed;
    this.findings = [];
    this.numbers = element("div.numbers", {ariaHidden: "true"});
    this.area = element("textarea", {spellcheck: false, autocomplete: "off", wrap: "off", ariaLabel: "Spec", autocapitalize: "off",
      oninput: () => this.typed(), onkeydown: event => this.pressed(event),
      onscroll: () => this.numbers.scrollTop = this.area.scrollTop});
    this.element = element("div.editor", {}, this.numbers, this.area);
    this.lines = 0;
  }

  get text() { return this.area.value; }

  set text(text) {
    this.area.value = text;
    this.typed();
  }

  typed() {
    this.findings = [];
    this.showNumbers();
    this.changed();
  }

  // A tab is two blanks in YAML; Escape gives the tab key back to the page.
  pressed(event) {
    if (event.key === "Escape") this.leaving = true;
    else if (event.key === "Tab" && !event.shiftKey && !this.leaving) {
      event.preventDefault();
      const {selectionStart, selectionEnd} = this.area;
      this.area.setRangeText("  ", selectionStart, selectionEnd, "end");
      this.typed();
    } else if (event.key !== "Tab") this.leaving = false;
  }

  showNumbers() {
    const lines = this.text.split("\n").length;
    const worst = new Map();
    for (const {line, severity} of this.findings)
      if (line > 0 && worst.get(line) !== "ERROR") worst.set(line, severity);
    const key = `${lines} ${[...worst].join()}`;
    if (key === this.shown) return;
    this.shown = key;
    replace(this.numbers, Array.from({length: lines}, (_, i) => {
      const severity = worst.get(i + 1);
      return element(severity ? `span.${severity.toLowerCase()}` : "span", {}, String(i + 1));
    }));
    this.numbers.scrollTop = this.area.scrollTop;
  }

  showFindings(findings) {
    this.findings = findings;
    this.showNumbers();
  }

  // Puts the caret there; columns count characters.
  goTo(line, column) {
    const lines = this.text.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) +
      [...lines[line - 1] ?? ""].slice(0, Math.max(0, column - 1)).join("").length;
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 4) * LINE);
  }
}
