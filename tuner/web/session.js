// session.js - what the reader of the page may do.

const known = {auth: "", roles: [], name: "", project: ""};

export function setSession({auth, roles, name, project = ""}) {
  Object.assign(known, {auth, roles, name, project});
}

// Whether there is a login that one can leave.
export const canLeave = () => known.auth !== "none";
// Whether the reader may see more than one project, and so the server's pages.
export const seesAll = () => known.project === "";
// Who that is, in a word or two.
export const whoReads = () => [known.name, known.project && `project ${known.project}`,
  !may("submit") && "read only"].filter(Boolean).join(", ");
// `role`: "read" or "submit".
export const may = role => known.roles.includes(role);
