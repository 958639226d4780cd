// api.js - the server's HTTP API (docs/http.md): one function a verb.

export class ApiError extends Error {
  // status: HTTP status, 0 when the server was not reached.
  // violations: [{field, description}] of a wrong document.
  constructor(status, message, violations = []) {
    super(message);
    this.status = status;
    this.violations = violations;
  }
}

const TIMEOUT_MS = 30000;
let onLoginNeeded = () => {};

// Calls `handler` whenever the server refuses for lack of a valid token.
export function whenLoginNeeded(handler) {
  onLoginNeeded = handler;
}

async function send(method, path, body, type = "application/json", read = JSON.parse, headers = {}) {
  const options = {method, headers: {...headers}, signal: AbortSignal.timeout(TIMEOUT_MS)};
  if (method !== "GET") {
    options.headers["Content-Type"] = type;
    options.body = body === undefined ? "{}" : typeof body === "string" ? body : JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (problem) {
    throw new ApiError(0, "the server does not answer");
  }
  const answer = await response.text().then(response.ok ? text => read(text) : JSON.parse).catch(() => null);
  if (response.ok && answer !== null) return answer;
  const error = answer?.error;
  if (response.status === 401 && !path.endsWith("/login")) onLoginNeeded();
  throw new ApiError(response.status, error?.message ?? `the server answered ${response.status}`,
    (error?.details ?? []).flatMap(detail => detail.fieldViolations ?? []));
}

// `read` makes the answer of its text.
export const get = (path, read) => send("GET", path, undefined, undefined, read);
// The first bytes of what is no JSON, as a text.
export const getBegin = (path, bytes) => send("GET", path, undefined, undefined, text => text, {Range: `bytes=0-${bytes - 1}`});
export const post = (path, body) => send("POST", path, body);
export const patch = (path, body) => send("PATCH", path, body);
export const remove = path => send("DELETE", path);

export const OURS = "/hypertune/v1";
// The path of a study by its number or name, of one of its trials.
export const studyPath = study => `${OURS}/studies/${encodeURIComponent(study)}`;
export const trialPath = (study, trial) => `${studyPath(study)}/trials/${trial}`;

// All pages of a list.
export async function all(path, key, read) {
  const items = [];
  for (let token = ""; ;) {
    const join = path.includes("?") ? "&" : "?";
    const page = await get(path + (token ? `${join}pageToken=${encodeURIComponent(token)}` : ""), read);
    items.push(...page[key]);
    token = page.nextPageToken;
    if (!token) return items;
  }
}
