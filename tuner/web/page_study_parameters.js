// page_study_parameters.js - the tab that shows what the parameters do.
import {element, replace} from "./dom.js";
import {showPlots} from "./plot_card.js";
import {dimensionsOf} from "./dimension.js";
import {contourPlot} from "./plot_contour.js";
import {edfPlot} from "./plot_edf.js";
import {parallelPlot} from "./plot_parallel.js";
import {scatterPlot} from "./plot_scatter.js";
import {slicePlot} from "./plot_slice.js";

export function parametersTab(root, store, selection) {
  const joint = element("div"), slices = element("div");
  replace(root, joint, element("h2.part", {}, "Slices"), slices);
  const ends = [showPlots(joint, store, selection, [parallelPlot, contourPlot, edfPlot, scatterPlot]),
    showPlots(slices, store, selection, dimensionsOf(store).parameters.map(parameter => slicePlot(parameter.key)))];
  slices.classList.add("small");
  return () => ends.forEach(end => end());
}
