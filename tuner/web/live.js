// live.js - which studies changed, reported by the server as it happens.
//
// One event stream serves the page; it is closed while no one looks, since a
// browser has only six connections to a host. Where the stream breaks, it is
// opened again, and the first thing it sends is the revision of every study,
// so that nothing is missed.
import {OURS} from "./api.js";

const RETRY_MS = 2000;
const listeners = new Set();
const connection = {stream: null, timer: 0, heardMs: 0, away: false, newest: 0};

// `changed(study, revision, isNew)`, revision: Infinity of one that is deleted,
// isNew: none with a number as high came before; `presence(away)` when the
// server goes or comes. Returns the function that ends it.
export function listen({changed, presence = () => {}}) {
  const listener = {changed, presence};
  listeners.add(listener);
  open();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) close();
  };
}

// When the server was last heard, in ms.
export const lastHeard = () => connection.heardMs;

function tellPresence(away) {
  if (connection.away === away) return;
  connection.away = away;
  for (const {presence} of listeners) presence(away);
}

function open() {
  if (connection.stream || document.hidden || listeners.size === 0) return;
  clearTimeout(connection.timer);
  const stream = connection.stream = new EventSource(`${OURS}/events`);
  stream.addEventListener("open", () => {
    connection.heardMs = Date.now();
    tellPresence(false);
  });
  stream.addEventListener("revision", event => {
    const {study, revision, deleted} = JSON.parse(event.data);
    connection.heardMs = Date.now();
    const isNew = study > connection.newest;
    connection.newest = Math.max(study, connection.newest);
    for (const {changed} of listeners) changed(study, deleted ? Infinity : revision, isNew);
  });
  stream.addEventListener("error", () => {
    close();
    tellPresence(true);
    connection.timer = setTimeout(open, RETRY_MS);
  });
}

function close() {
  clearTimeout(connection.timer);
  connection.stream?.close();
  connection.stream = null;
}

document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
