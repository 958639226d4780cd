// page_study_timeline.js - the tab that shows what ran where, and when.
import {showPlots} from "./plot_card.js";
import {timelinePlot} from "./plot_timeline.js";

export function timelineTab(root, store, selection) {
  return showPlots(root, store, selection, [timelinePlot]);
}
