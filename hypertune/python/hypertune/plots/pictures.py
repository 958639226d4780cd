"""The pictures of a study: each asks for its data and is drawn."""
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional

from hypertune.errors import FailedPrecondition
from hypertune.plots import model, results, trials
from hypertune.plots.marks import Plot

if TYPE_CHECKING:
    from hypertune.study import Study


def plot_history(study: "Study") -> Plot:
    """Every trial's objective in the order of the trials, and the best so
    far."""
    return trials.history(study.name, study.metric, study.maximize,
                          study.trials())


def plot_curves(study: "Study", metric: Optional[str] = None) -> Plot:
    """What the trials reported step by step, the best trial on top; the
    newest 200 when there are more."""
    metric = metric or study.metric
    best = study.summary().best
    return trials.curves(study.name, metric, study._all_curves(metric, {}),
                         None if best is None else best.id)


def plot_parallel(study: "Study") -> Plot:
    """One line for each succeeded trial through its parameters to its
    objective, the best ones on top."""
    return trials.parallel(study.name, study.metric, study.maximize,
                           study._specs(), study.trials())


def plot_distribution(study: "Study") -> Plot:
    """Which share of the results is at most that large (EDF)."""
    return results.distribution(study.name, study.metric,
                                study.maximize, study.trials())


def plot_timeline(study: "Study") -> Plot:
    """When each trial ran, in lanes of one at a time."""
    return results.timeline(study.name, study.trials(), time.time())


def plot_pareto(study: "Study", first: Optional[str] = None,
                second: Optional[str] = None) -> Plot:
    """Two goals of every trial (by default the first two) against each
    other, and the trials that none beats in all goals. ValueError for a
    study with one goal."""
    goals = study.goals()
    if len(goals) < 2:
        raise ValueError("%s has one goal, %s" % (study.name, study.metric))
    names = list(goals)
    pair = [first or names[0], second or names[1]]
    for name in pair:
        if name not in goals:
            raise ValueError("no goal %r; there are %s" %
                             (name, ", ".join(names)))
    return results.pareto(
        study.name, [(name, goals[name]) for name in pair], study.trials(),
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
