// page_study_overview.js - the first tab of a study: how the search goes.
import {showPlots} from "./plot_card.js";
import {historyPlot} from "./plot_history.js";

export function overviewTab(root, store, selection) {
  root.className = "plots";
  return showPlots(root, store, selection, [historyPlot]);
}
