"""The pictures of a study: what each needs to know, asked for and drawn."""
import time
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional

from hypertune import plot, plot_model, plot_results
from hypertune.canvas import Plot
from hypertune.errors import FailedPrecondition

if TYPE_CHECKING:
    from hypertune.study import Study
    from hypertune.trial import Trial


class Pictures:
    """The part of a Study that draws. Every picture is an SVG image that a
    notebook shows; where there is nothing to draw it says why."""

    def plot_history(self: "Study") -> Plot:
        """Every trial's objective in the order of the trials, and the best so
        far."""
        return plot.history(self.name, self.metric, self.maximize,
                            self.trials())

    def plot_curves(self: "Study", metric: Optional[str] = None) -> Plot:
        """What the trials reported step by step, the best trial on top; the
        newest 200 when there are more."""
        metric = metric or self.metric
        best = self.summary().best
        return plot.curves(self.name, metric, self._all_curves(metric, {}),
                           None if best is None else best.id)

    def plot_parallel(self: "Study") -> Plot:
        """One line for each succeeded trial through its parameters to its
        objective, the best ones on top."""
        return plot.parallel(self.name, self.metric, self.maximize,
                             self._specs(), self.trials())

    def plot_distribution(self: "Study") -> Plot:
        """Which share of the results is at most that large (EDF)."""
        return plot_results.distribution(self.name, self.metric,
                                         self.maximize, self.trials())

    def plot_timeline(self: "Study") -> Plot:
        """When each trial ran, in lanes of one at a time."""
        return plot_results.timeline(self.name, self.metric, self.trials(),
                                     time.time())

    def plot_pareto(self: "Study", first: Optional[str] = None,
                    second: Optional[str] = None) -> Plot:
        """Two goals of every trial (by default the first two) against each
        other, and the trials that none beats in all goals. ValueError for a
        study with one goal."""
        goals = self.goals()
        if len(goals) < 2:
            raise ValueError("%s has one goal, %s" % (self.name, self.metric))
        names = list(goals)
        pair = [first or names[0], second or names[1]]
        for name in pair:
            if name not in goals:
                raise ValueError("no goal %r; there are %s" %
                                 (name, ", ".join(names)))
        return plot_results.pareto(
            self.name, [(name, goals[name]) for name in pair], self.trials(),
            {trial.id for trial in self.best_trials()})

    def plot_importances(self: "Study",
                         metric: Optional[str] = None) -> Plot:
        """How much each parameter matters."""
        return plot_model.importances(self.name, self._importances(metric))

    def plot_slice(self: "Study", parameter: str,
                   metric: Optional[str] = None) -> Plot:
        """What the server's model expects along one parameter, the others as
        in the best trial. ValueError when there is no such parameter."""
        spec = self._spec_of(parameter)
        return self._of_model(
            [parameter], {"x": parameter}, metric,
            lambda answer: plot_model.slices(self.name, spec, answer,
                                             self._trials_with(metric)))

    def plot_contour(self: "Study", x: str, y: str,
                     metric: Optional[str] = None) -> Plot:
        """What the server's model expects over two parameters, the others as
        in the best trial. ValueError when there is no such parameter."""
        specs = [self._spec_of(x), self._spec_of(y)]
        best = self.summary().best
        grows = self.goals().get(metric or self.metric, self.maximize)
        return self._of_model(
            [x, y], {"x": x, "y": y}, metric,
            lambda answer: plot_model.contour(
                self.name, grows, specs, answer, self.trials(),
                None if best is None else best.id))

    def _of_model(self: "Study", parameters: List[str],
                  query: Mapping[str, str], metric: Optional[str],
                  draw: Callable[[Any], Plot]) -> Plot:
        """A picture of the model, or of why there is none yet."""
        if metric is not None:
            query = {**query, "metric": metric}
        try:
            answer = self._transport.call("GET", self._ours("/slice"),
                                          query=query)
        except FailedPrecondition as refusal:
            return plot_model.no_model(self.name, parameters, str(refusal))
        return draw(answer)

    def _trials_with(self: "Study", metric: Optional[str]) -> List["Trial"]:
        """Trials to stand beside a model; it is drawn against one metric."""
        return self.trials() if metric in (None, self.metric) else []
