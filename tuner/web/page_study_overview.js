// page_study_overview.js - the first tab of a study: how the search goes.
import {element} from "./dom.js";
import {showPlots} from "./plot_card.js";
import {studyPath} from "./api.js";
import {dimensionsOf} from "./dimension.js";
import {findingsCard} from "./findings.js";
import {notesCard} from "./notes.js";
import {attributesCard, bestCard, failuresCard} from "./page_study_lists.js";
import {curvesPlot} from "./plot_curves.js";
import {historyPlot} from "./plot_history.js";
import {importancesPlot} from "./plot_importances.js";
import {paretoPlot} from "./plot_pareto.js";

export function overviewTab(root, store, selection) {
  const several = dimensionsOf(store).metrics.length > 1;
  const plots = element("div"), lists = element("div.lists");
  root.append(plots, lists);

  // While there is nothing to plot, what went wrong comes first.
  function place() {
    const first = store.results.length === 0 ? lists : plots;
    if (root.firstChild !== first) root.prepend(first);
  }

  place();
  const ends = [store.watch(place),
    showPlots(plots, store, selection, [historyPlot, curvesPlot, ...several ? [paretoPlot] : [], importancesPlot]),
    findingsCard(lists, store), failuresCard(lists, store), bestCard(lists, store), attributesCard(lists, store), notesCard(lists, store, studyPath(store.key))];
  return () => ends.forEach(end => end());
}
