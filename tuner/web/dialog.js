// dialog.js - dialogs that do something: what the server refuses is shown in
// them, with the fields it is about, and they stay open.
import {element, replace} from "./dom.js";
import {ApiError} from "./api.js";

// What the server found wrong, for the reader.
export function problemList(problem) {
  const isShown = ({field, description}) => [description, `${field}: ${description}`].includes(problem.message);
  const about = problem.violations.filter(violation => violation.description && !isShown(violation));
  return [element("p", {}, problem.message), about.length > 0 && element("ul", {}, about.map(({field, description}) =>
    element("li", {}, field && element("code", {}, field), field && ": ", description)))];
}

// Shows `body` with a button called `label`; `act()` does it and throws the
// ApiError of a refusal. Resolves to whether it was done.
export function actDialog({title, body, label, kind = "primary", act, ready = () => true}) {
  return new Promise(resolve => {
    let done = false;
    const complaint = element("div.error", {role: "alert"});
    const button = element(`button.${kind}`, {disabled: !ready()}, label);
    const dialog = element("dialog", {ariaLabel: title, onclose: () => {
      dialog.remove();
      resolve(done);
    }},
      element("form", {onsubmit: submit, oninput: () => button.disabled = !ready()},
        element("h2", {}, title), body, complaint,
        element("div.row.end", {}, element("button", {type: "button", onclick: () => dialog.close()}, "Back"), button)));

    async function submit(event) {
      event.preventDefault();
      button.disabled = true;
      replace(complaint);
      try {
        await act();
        done = true;
        dialog.close();
      } catch (problem) {
        if (!(problem instanceof ApiError)) throw problem;
        replace(complaint, problemList(problem));
        button.disabled = !ready();
      }
    }

    document.body.append(dialog);
    dialog.showModal();
  });
}

// A labelled input; `note` is below it.
export function field(label, input, note = "") {
  return element("label.field", {}, element("span", {}, element("bdi", {}, label)), input,
    note && element("span.quiet", {}, note));
}
