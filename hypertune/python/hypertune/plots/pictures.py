"""The pictures of a study: each asks for its data and is drawn."""
import time
from typing import (TYPE_CHECKING, Any, Callable, Dict, Optional, Sequence,
                    Tuple)

from hypertune.errors import FailedPrecondition
from hypertune.plots import model, results, trials
from hypertune.plots.marks import Plot

if TYPE_CHECKING:
    from hypertune.study import Study
    from hypertune.trial import Trial


def _of(study: "Study", found: Sequence["Trial"], metric: Optional[str]
        ) -> Tuple[str, Optional[bool]]:
    """The metric, by default the objective, and whether more is better; None
    of one that is no goal. ValueError when no trial measured it."""
    metric = metric or study.metric
    known = study._measured(found)
    if metric not in known:
        raise ValueError("no metric %r; there are %s" %
                         (metric, ", ".join(known)))
    return metric, study.goals().get(metric)


def plot_history(study: "Study", metric: Optional[str] = None) -> Plot:
    """Every trial's objective in the order of the trials, and the best so
    far; or another metric that trials measured."""
    found = study.trials()
    return trials.history(study.name, *_of(study, found, metric), found)


def plot_curves(study: "Study", metric: Optional[str] = None) -> Plot:
    """What the trials reported step by step, the best trial on top; the
    newest 200 when there are more."""
    metric = metric or study.metric
    best = study.summary().best
    return trials.curves(study.name, metric, study._all_curves(metric, {}),
                         None if best is None else best.id)


def plot_parallel(study: "Study", metric: Optional[str] = None) -> Plot:
    """One line for each succeeded trial through its parameters to its
    objective, the best ones on top, at most 1000; or to another metric, where
    less counts as better if it is no goal."""
    found = study.trials()
    name, grows = _of(study, found, metric)
    return trials.parallel(study.name, name, bool(grows), study._specs(),
                           found)


def plot_distribution(study: "Study", metric: Optional[str] = None) -> Plot:
    """Which share of the results is at most that large (EDF)."""
    found = study.trials()
    return results.distribution(study.name, *_of(study, found, metric), found)


def plot_timeline(study: "Study") -> Plot:
    """When each trial ran, in lanes of one at a time."""
    return results.timeline(study.name, study.trials(), time.time())


def plot_pareto(study: "Study", first: Optional[str] = None,
                second: Optional[str] = None) -> Plot:
    """Two metrics of every trial (by default the first two goals) against
    each other, and the trials that none beats in all goals. ValueError for a
    study with one goal when no second metric is named."""
    found, goals = study.trials(), list(study.goals())
    if second is None and len(goals) < 2:
        raise ValueError("%s has one goal, %s; plot_pareto(first, second) "
                         "takes any metrics: %s" % (
                             study.name, study.metric,
                             ", ".join(study._measured(found))))
    return results.pareto(
        study.name, [_of(study, found, first or goals[0]),
                     _of(study, found, second or goals[1])], found,
        {trial.id for trial in study.best_trials()})


def plot_importances(study: "Study",
                     metric: Optional[str] = None) -> Plot:
    """How much each parameter matters."""
    return model.importances(study.name, study._importances(metric))


def plot_slice(study: "Study", parameter: str,
               metric: Optional[str] = None) -> Plot:
    """What the server's model expects along one parameter, the others as
    in the best trial. ValueError when there is no such parameter."""
    spec = study._spec_of(parameter)
    return _of_model(
        study, {"x": parameter}, metric,
        lambda answer: model.slices(study.name, spec, answer,
                                    study.trials()))


def plot_contour(study: "Study", x: str, y: str,
                 metric: Optional[str] = None) -> Plot:
    """What the server's model expects over two parameters, the others as
    in the best trial. ValueError when there is no such parameter."""
    specs = [study._spec_of(x), study._spec_of(y)]
    best = study.summary().best
    grows = study.goals().get(metric or study.metric, study.maximize)
    return _of_model(
        study, {"x": x, "y": y}, metric,
        lambda answer: model.contour(
            study.name, grows, specs, answer, study.trials(),
            None if best is None else best.id))


def _of_model(study: "Study", parameters: Dict[str, str],
              metric: Optional[str], draw: Callable[[Any], Plot]) -> Plot:
    """A picture of the model, or of why there is none yet."""
    query = dict(parameters, **({"metric": metric} if metric else {}))
    try:
        answer = study._transport.call("GET", study._ours("/slice"),
                                       query=query)
    except FailedPrecondition as refusal:
        return model.no_model(study.name, list(parameters.values()),
                              str(refusal))
    return draw(answer)
