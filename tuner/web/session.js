// session.js - what the reader of the page may do.

const known = {auth: "", roles: [], name: "", project: "", study: ""};

export function setSession({auth, roles, name, project = "", study = ""}) {
  Object.assign(known, {auth, roles, name, project, study});
}

// Whether there is a login that one can leave.
export const canLeave = () => known.auth === "token";
// Whether the server asks who the reader is; its proxy's login is not ours to leave.
export const isKnown = () => known.auth !== "none";
// Whether the reader may see more than one project, and so the server's pages.
export const seesAll = () => known.project === "" && known.study === "";
// The number of the only study that the reader may see, and not all of it; or "".
export const onlyStudy = () => known.study;
// Who that is, in a word or two.
export const whoReads = () => [known.name, known.project && `project ${known.project}`,
  known.study && `study ${known.study}`,
  !may("submit") && "read only"].filter(Boolean).join(", ");
// `role`: "read" or "submit".
export const may = role => known.roles.includes(role);
