// main.js - the frame of the dashboard: login, header, and which page is shown.
//
// Pages live behind the hash, so that the server has one page only. A page
// is a function (root, parts) that fills `root` and returns the function that
// ends it, or nothing.
import {element, replace, notice} from "./dom.js";
import {get, post, whenLoginNeeded, OURS} from "./api.js";
import {listen, lastHeard} from "./live.js";
import {duration} from "./format.js";
import {studiesPage} from "./page_studies.js";
import {studyPage} from "./page_study.js";
import {trialPage} from "./page_trial.js";
import {comparePage} from "./page_compare.js";
import {serverPage} from "./page_server.js";
import {clonePage, editPage, newPage} from "./page_new.js";
import {copy} from "./copy.js";
import {themeSwitch} from "./theme.js";
import {canLeave, isKnown, may, onlyStudy, seesAll, setSession, whoReads} from "./session.js";

const DISK_MS = 10000; // between two looks at the server's disk

const top = document.getElementById("top");
const main = document.getElementById("main");
let endPage = null;

// A part of an address as it is meant, which may have been typed by hand.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// "#/studies/7/trials?x=lr" -> its parts, decoded, and its query.
function readPlace() {
  const [path, ...query] = location.hash.replace(/^#\/?/, "").split("?");
  return {parts: path.split("/").filter(part => part).map(decoded),
    query: new URLSearchParams(query.join("?"))};
}

function findPage([first, study, tab, trial]) {
  if (first === undefined || (first === "studies" && study === undefined)) return studiesPage;
  if (first === "studies" && tab === "edit" && !onlyStudy()) return editPage;
  if (first === "studies" && tab === "clone" && !onlyStudy()) return clonePage;
  if (first === "studies") return tab === "trials" && trial !== undefined ? trialPage : studyPage;
  if (first === "compare" && seesAll()) return comparePage;
  if (first === "server") return serverPage;
  if (first === "new") return newPage;
  return root => replace(root, element("section.empty", {},
    element("h1", {}, "There is no such page"),
    element("a.button", {href: "#/"}, "All studies")));
}

function showPage() {
  const place = readPlace();
  if (onlyStudy() && place.parts[1] !== onlyStudy())
    return location.replace(`#/studies/${onlyStudy()}`);
  endPage?.();
  replace(main);
  window.scrollTo(0, 0);
  for (const link of top.querySelectorAll("nav a"))
    link.ariaCurrent = link.hash.split("/")[1] === (place.parts[0] ?? "studies") ? "page" : null;
  endPage = findPage(place.parts)(main, place) ?? null;
}

// --- the header ---

function showTop() {
  const presence = element("span.presence", {role: "status"}), alarm = element("p.error", {role: "alert"});
  replace(top,
    element("a.brand", {href: "#/"}, element("img", {src: "/web/icon.svg", alt: "", width: 24, height: 24}), "hypertune"),
    element("nav", {ariaLabel: "Pages"},
      element("a", {href: "#/studies"}, onlyStudy() ? "Study" : "Studies"),
      seesAll() && element("a", {href: "#/server"}, "Server"),
      seesAll() && may("submit") && element("a", {href: "#/new"}, "New study")),
    presence, alarm,
    isKnown() && element("span.quiet.who", {}, whoReads()),
    element("button.plain", {ariaLabel: "Copy link", title: "Copy the link to this view",
      onclick: () => copy(location.href, "the link to this view")}, "Link"),
    themeSwitch(),
    canLeave() && element("button.plain", {onclick: leave}, "Log out"));
  followPresence(presence);
  followDisk(alarm);
}

// Tells while the server's disk is nearly full.
let diskTimer = 0;
function followDisk(box) {
  clearInterval(diskTimer);
  if (!seesAll()) return;
  const look = async () => {
    if (document.hidden) return;
    const server = await get(`${OURS}/server`).catch(() => null);
    if (server && box.textContent !== (server.disk?.alarm ?? "")) box.textContent = server.disk?.alarm ?? "";
  };
  diskTimer = setInterval(look, DISK_MS);
  look();
}

// Tells that the server is away, and for how long.
function followPresence(box) {
  let timer = 0;
  const tell = () => box.textContent =
    `No answer from the server for ${duration(Date.now() - lastHeard())}; trying again`;
  listen({changed() {}, presence(away) {
    clearInterval(timer);
    box.textContent = "";
    if (!away) return;
    tell();
    timer = setInterval(tell, 1000);
  }});
}

// --- login ---

async function leave() {
  await post(`${OURS}/logout`);
  location.hash = "";
  location.reload();
}

function showLogin(reason = "") {
  endPage?.();
  endPage = null;
  const token = element("input", {type: "password", autocomplete: "current-password", required: true,
    ariaLabel: "Token", placeholder: "Token"});
  const complaint = element("p.error", {role: "alert"}, reason);
  replace(top);
  replace(main, element("section.login", {},
    element("h1", {}, "hypertune"),
    element("p", {}, "Open the link that this command prints:"),
    element("pre", {}, "hypertune ui"),
    element("p", {}, "Or give your token (",  element("code", {}, "hypertune token create"),
      ", or the file ", element("code", {}, "token"), " in the server's data folder):"),
    element("form.row", {onsubmit: async event => {
      event.preventDefault();
      try {
        await post(`${OURS}/login`, {token: token.value.trim()});
        start();
      } catch (problem) {
        replace(complaint, problem.message);
      }
    }}, token, element("button.primary", {}, "Log in")),
    complaint));
  token.focus();
}

const LINK = /^#(login|token)=(\w+)(?:&to=(.*))?$/;

// "#login=CODE" is what a link of `hypertune ui` ends with, "#token=SECRET" that
// of `hypertune share`; "&to=..." is the page that it leads to. A reader who sees
// all already keeps that session.
async function useLink() {
  const [found, kind, secret, to] = LINK.exec(location.hash) ?? [];
  if (!found) return;
  history.replaceState(null, "", `#/${to ?? ""}`);
  try {
    if (kind === "token" && await isInside()) return;
    await post(`${OURS}/login`, kind === "login" ? {code: secret} : {token: secret});
  } catch (problem) {
    notice(problem.message, "error");
  }
}

async function isInside() {
  return fetch(`${OURS}/session`).then(answer => answer.ok && answer.json())
    .then(session => session && !session.project && !session.study, () => false);
}

async function start() {
  await useLink();
  try {
    setSession(await get(`${OURS}/session`));
  } catch (problem) {
    if (problem.status !== 401) showLogin(problem.message);
    return;
  }
  showTop();
  showPage();
}

// The hash names pages, so the link to the content only moves the focus.
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault();
  main.focus();
});

// --- menus, which close when one is done with them ---

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== except) menu.open = false;
}

document.addEventListener("click", event => {
  const chosen = event.target.closest("details.menu button");
  closeMenus(chosen ? null : event.target.closest("details.menu"));
});
document.addEventListener("keydown", event => {
  const menu = event.key === "Escape" && event.target.closest?.("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

whenLoginNeeded(() => showLogin());
window.addEventListener("hashchange", () => {
  if (LINK.test(location.hash)) start();
  else if (top.firstChild) showPage();
});
start();
