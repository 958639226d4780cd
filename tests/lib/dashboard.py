"""dashboard - what the tests of the dashboard share: when a page is ready, and
what is asked of each of them."""

import json

import browser
import tap

TABS = ("overview", "parameters", "trials", "timeline", "config")

# What the page that is shown has still to do: a title, what it loads, plots
# in sight that have nothing drawn on them, are no text, and do not say why.
PENDING = """
  const inked = window.inkedByTest ??= new WeakSet();
  const isDrawn = plot => {
    if (plot.getBoundingClientRect().top > innerHeight) return true;
    const missing = plot.querySelector(".missing");
    if (!missing.hidden) return !/^Asking /.test(missing.textContent);
    if (!plot.querySelector(".as-text").hidden) return true;
    if (plot.querySelector("svg rect:not(.overlay, .selection, .handle)")) return true;
    const canvas = plot.querySelector("canvas");
    if (canvas.width === 0) return false;
    if (inked.has(canvas)) return true; // reading it takes as long as drawing
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    if (copy.getImageData(0, 0, canvas.width, canvas.height).data.every(byte => byte === 0)) return false;
    inked.add(canvas);
    return true;
  };
  return [document.querySelector("h1") ? "" : "title",
    ...document.getElementById("main").innerText.match(/Loading …/g) ?? [],
    ...[...document.querySelectorAll(".plot")].filter(plot => !isDrawn(plot)).map(plot => plot.ariaLabel)].filter(Boolean)"""

# What a screen reader could not name: controls without a name.
NAMELESS = """
  const nameOf = one => (one.ariaLabel || one.title || one.alt || (one.labels?.length > 0 ? one.labels[0].textContent : "") ||
    one.getAttribute("aria-labelledby") || (["INPUT", "SELECT", "TEXTAREA"].includes(one.tagName) ? "" : one.textContent)).trim();
  return [...document.querySelectorAll(
    "a, button, input, select, textarea, summary, table[role=grid], progress, meter, .ground, canvas, dialog, [tabindex='0']")]
    .filter(one => one.closest("[aria-hidden=true]") === null && one.closest("[hidden]") === null && nameOf(one) === "")
    .map(one => one.outerHTML.slice(0, 160))"""

# Texts whose colour is too near to their ground (WCAG 2, level AA).
FAINT = """
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const opacity = text => numbers(text)[3] ?? 1;
  const light = text => {
    const [r, g, b] = numbers(text).map(n => n / 255).map(n => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = one => {
    for (let at = one; at; at = at.parentElement) {
      const {backgroundColor} = getComputedStyle(at);
      if (opacity(backgroundColor) === 1) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement, style = getComputedStyle(one);
    if (!walk.currentNode.data.trim() || one.closest("[hidden], noscript, option") || one.closest(":disabled") ||
        one.getClientRects().length === 0 || style.visibility === "hidden") continue;
    const colour = one.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(colour), light(groundOf(one))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    const words = walk.currentNode.data.trim().slice(0, 40);
    if (ratio < (large ? 3 : 4.5)) faint.add(`${ratio.toFixed(2)} ${colour} on ${groundOf(one)}: ${words}`);
  }
  return [...faint]"""

WIDTH = """
  const root = document.documentElement;
  if (root.scrollWidth <= innerWidth) return "";
  const wide = [...document.querySelectorAll("#main *, #top *")].filter(one =>
    one.getBoundingClientRect().right > innerWidth + 1 && !one.parentElement.closest(".scroll, .editor, pre, svg, .unseen"));
  return `${root.scrollWidth}: ${wide.slice(0, 3).map(one => one.outerHTML.slice(0, 120)).join(" ; ")}`"""


def show(page, hash_, text=None):
    """Goes to a page of the dashboard that is loaded, made anew if it is shown
    already, until it is ready."""
    if page.run("return location.hash") == hash_:
        page.open(page.run("return location.href"))
    else:
        page.run("location.hash = arguments[0]", hash_)
    if text:
        page.wait_text(text, "#main")
    settle(page)


def settle(page):
    """Until the page that is shown has nothing left to do."""
    try:
        page.wait("(() => {%s})().length === 0" % PENDING)
    except AssertionError:
        raise AssertionError("%s still lacks %s" % (
            page.run("return location.hash"), page.run(PENDING))) from None


def act(page, label):
    """Chooses what can be done with the study that is shown, once it can: from
    the buttons of its head, or the menu of the rest."""
    page.wait("[...document.querySelectorAll('.actions button')].some("
              "one => one.textContent === %s)" % json.dumps(label), label)
    page.click(".actions button", label, before="""
        const menu = [...document.querySelectorAll('.actions button')].find(
          one => one.textContent === arguments[0])?.closest('.menu');
        if (menu) menu.open = true""")


def behaves(page, what):
    """Nothing has gone wrong on the pages that were shown."""
    tap.equal(page.complaints(), [], "complaints at " + what)


def study(number, tab="overview"):
    return "#/studies/%d/%s" % (number, tab)


browser.need()
