// copy.js - texts for the clipboard.
import {element, notice} from "./dom.js";

// A word as a POSIX shell reads it.
export function shellWord(word) {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// A number or text as YAML: a JSON text is a YAML text, too.
export function yamlScalar(value) {
  const plain = typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_./-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}

// A flat map.
export function yamlOf(map) {
  return Object.entries(map).map(([key, value]) => `${yamlScalar(key)}: ${yamlScalar(value)}\n`).join("");
}

// Where the browser keeps pages from the clipboard, the text is shown.
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notice(`Copied ${what}`);
  } catch {
    showText(text, what);
  }
}

function showText(text, what) {
  const area = element("textarea", {readOnly: true, rows: 6, ariaLabel: what, value: text});
  const dialog = element("dialog", {onclose: () => dialog.remove()}, element("h2", {}, what), area,
    element("div.row.end", {}, element("button", {onclick: () => dialog.close()}, "Close")));
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}
