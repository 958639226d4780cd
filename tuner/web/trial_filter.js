// trial_filter.js - the text filter of trials: conditions by blanks, all of
// which hold, such as: dropout<0.3 optimizer=adam state=failed

const CONDITION = /^([^<>=!~]+)(<=|>=|!=|<|>|=|~)(.*)$/;

// Words by blanks; what is in double quotes is of one word.
function words(text) {
  return (text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map(word => word.replaceAll('"', ""));
}

// By its own words, and as a number where both are.
function compare(value, how, wanted) {
  if (how === "~") return String(value).toLowerCase().includes(wanted.toLowerCase());
  const number = Number(wanted);
  const asNumbers = wanted.trim() !== "" && typeof value === "number" && !Number.isNaN(number);
  if (how === "=" || how === "!=") {
    const equal = asNumbers ? value === number : String(value).toLowerCase() === wanted.toLowerCase();
    return equal === (how === "=");
  }
  if (!asNumbers) return false;
  return how === "<" ? value < number : how === ">" ? value > number : how === "<=" ? value <= number : value >= number;
}

function readCondition(word, columns) {
  const [, name, how, wanted] = CONDITION.exec(word) ?? [];
  if (name === undefined) throw new Error(`"${word}" is no condition; one is like lr<0.1 or state=failed`);
  const column = columns.find(({key}) => key === name) ?? columns.find(({label}) => label === name);
  if (!column) throw new Error(`There is no column "${name}"; there are ${columns.slice(0, 12).map(({label}) => label).join(", ")}`);
  if (wanted === "") throw new Error(`"${word}" lacks a value`);
  if (/[<>]/.test(how) && !Number.isFinite(Number(wanted))) throw new Error(`"${wanted}" is no number to compare ${name} with`);
  return row => {
    const value = column.value(row), other = column.also?.(row) ?? value; // an infeasible trial has failed, too
    const holds = [value, other].map(one => compare(one, how, wanted));
    return value !== null && value !== undefined && value !== "" && (how === "!=" ? holds.every(Boolean) : holds.some(Boolean));
  };
}

// A function (row) that returns whether all conditions hold. Throws an Error with
// the words for the reader.
export function readFilter(text, columns) {
  const conditions = words(text).map(word => readCondition(word, columns));
  return row => conditions.every(holds => holds(row));
}
