// session.js - what the reader of the page may do.

const known = {auth: "", roles: []};

export function setSession({auth, roles}) {
  Object.assign(known, {auth, roles});
}

// Whether there is a login that one can leave.
export const canLeave = () => known.auth !== "none";
// `role`: "read" or "submit".
export const may = role => known.roles.includes(role);
