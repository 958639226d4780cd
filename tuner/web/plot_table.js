// plot_table.js - the text form of a plot.
import {element, replace} from "./dom.js";
import * as format from "./format.js";

const MOST_ROWS = 1000;

// Fills `root` with {heads, rows}, keeping where it was scrolled to.
export function showTable(root, {heads, rows}) {
  const {scrollTop, scrollLeft} = root;
  const looks = heads.map((_, i) => rows.some(row => typeof row[i] === "number") ? ".number" : "");
  const cell = (value, i) => element(`td${looks[i]}`, {}, element("bdi", {}, format.number(value)));
  replace(root,
    element("table", {},
      element("thead", {}, element("tr", {}, heads.map((head, i) => element(`th${looks[i]}`, {scope: "col"}, head)))),
      element("tbody", {}, rows.slice(0, MOST_ROWS).map(row => element("tr", {}, row.map(cell))))),
    rows.length > MOST_ROWS && element("p.quiet.note", {}, `The first ${MOST_ROWS} of ${rows.length} rows.`));
  root.scrollTo(scrollLeft, scrollTop);
}
