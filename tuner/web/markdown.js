// markdown.js - a text in Markdown as elements: headings, lists, quotes, code,
// emphasis and links. All else is text; nothing of it becomes markup, and links
// lead to http and https alone.
import {element} from "./dom.js";

const MOST_LINE = 2000; // a longer one is shown as it is: the patterns take its square
const FENCE = /^ {0,3}(```|~~~)/, HEADING = /^ {0,3}(#{1,6})\s+(.*)$/, QUOTE = /^ {0,3}> ?(.*)$/;
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^\s*][^*]*)\*|\[([^\][]+)\]\(([^()\s]+)\)|(https?:\/\/[^\s<>()"]*[^\s<>()".,;:!?'])/g;

function link(address, label) {
  let url = null;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  return ["http:", "https:"].includes(url.protocol)
    ? element("a", {href: url.href, target: "_blank", rel: "noopener noreferrer", title: url.href}, label) : null;
}

function piece([whole, code, strong, emphasis, label, address, bare]) {
  if (code !== undefined) return element("code", {}, code);
  if (strong !== undefined) return element("strong", {}, inline(strong));
  if (emphasis !== undefined) return element("em", {}, inline(emphasis));
  return link(address ?? bare, label ?? bare) ?? whole;
}

function inline(text) {
  if (text.length > MOST_LINE) return [text];
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    pieces.push(text.slice(at, found.index), piece(found));
    at = found.index + found[0].length;
  }
  return [...pieces, text.slice(at)];
}

// How many lines from `begin` on are like the first.
function count(lines, begin, isLike) {
  let n = 0;
  while (begin + n < lines.length && isLike(lines[begin + n])) n++;
  return n;
}

const isPlain = line => line.trim() !== "" && ![FENCE, HEADING, QUOTE, ITEM].some(form => form.test(line));

// One block from line `i` on, [element or null, its number of lines].
function block(lines, i) {
  const line = lines[i], heading = HEADING.exec(line), item = ITEM.exec(line);
  if (FENCE.test(line)) {
    const n = count(lines, i + 1, one => !FENCE.test(one));
    return [element("pre", {}, lines.slice(i + 1, i + 1 + n).join("\n")), n + 2];
  }
  if (heading) return [element(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2])), 1];
  if (QUOTE.test(line)) {
    const n = count(lines, i, one => QUOTE.test(one));
    return [element("blockquote", {}, lines.slice(i, i + n).flatMap(one => [inline(QUOTE.exec(one)[1]), element("br")])), n];
  }
  if (item) {
    const isNumbered = item[1] !== undefined;
    const n = count(lines, i, one => ITEM.test(one) && (ITEM.exec(one)[1] !== undefined) === isNumbered);
    return [element(isNumbered ? "ol" : "ul", isNumbered ? {start: Number(item[1])} : {},
      lines.slice(i, i + n).map(one => element("li", {}, inline(ITEM.exec(one)[2])))), n];
  }
  const n = Math.max(1, count(lines, i, isPlain));
  return [line.trim() === "" ? null : element("p", {}, lines.slice(i, i + n).flatMap((one, k) => [k > 0 && element("br"), inline(one)])), n];
}

export function markdown(text) {
  const lines = text.split(/\r\n?|\n/), blocks = [];
  for (let i = 0; i < lines.length;) {
    const [made, n] = block(lines, i);
    blocks.push(made);
    i += n;
  }
  return blocks;
}
