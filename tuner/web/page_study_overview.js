// page_study_overview.js - the first tab of a study: how the search goes.
import {showPlots} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {historyPlot} from "./plot_history.js";
import {importancesPlot} from "./plot_importances.js";
import {paretoPlot} from "./plot_pareto.js";

export function overviewTab(root, store, selection) {
  const several = dimensionsOf(store).metrics.length > 1;
  return showPlots(root, store, selection, [historyPlot, importancesPlot, ...several ? [paretoPlot] : []]);
}
