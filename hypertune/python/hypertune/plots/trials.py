"""Pictures of a study's trials, one by one."""
import collections
import math
import sys
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Mapping,
                    Optional, Sequence, Tuple)

from hypertune import show
from hypertune.plots.marks import (BEST, FAINT, LOST, POINT, Axis, Picture,
                                   Plot, fit_all, shade, spans_decades)

if TYPE_CHECKING:
    from hypertune.study import Curve
    from hypertune.trial import Trial

MOST_CURVES = 200
_MOST_LINES = 1000  # of trials across axes; more are only a stain
_LEAST_GAP = 90  # pixels between two axes of parameters
COUNTED = ("SUCCEEDED", "STOPPED")  # states in which a result counts


def value_of(trial: "Trial", metric: Optional[str] = None) -> float:
    """Its result in a metric, by default the objective; NaN without one."""
    if metric in (None, trial.study.metric):
        return math.nan if trial.value is None else trial.value
    return trial.metrics.get(str(metric), math.nan)


def is_finite(value: float) -> bool:
    """Can it be drawn? Half of the largest float and more has no range."""
    return abs(value) < sys.float_info.max / 2.5


def counts(trial: "Trial", metric: Optional[str] = None) -> bool:
    """Has it ended with a result that can be drawn?"""
    return trial.state in COUNTED and is_finite(value_of(trial, metric))


def tip_of(trial: "Trial", metric: Optional[str] = None) -> str:
    return "trial %d: %s=%s\n%s" % (trial.id, metric or trial.study.metric,
                                    show.number(value_of(trial, metric)),
                                    show.params(trial.params))


def no_result(trials: Sequence["Trial"]) -> str:
    """Why there is nothing to draw, with what most trials ended of."""
    ended = [trial for trial in trials if not trial.is_open]
    if not ended:
        return "no trial has a result yet"
    reasons = collections.Counter(trial.reason for trial in ended)
    return "no trial has a result yet, %d ended without\n%s" % (
        len(ended), reasons.most_common(1)[0][0].partition("\n")[0])


# --- the pictures ---


def _best_so_far(trials: Sequence["Trial"], maximize: bool,
                 metric: Optional[str] = None) -> List[Tuple[int, float]]:
    """The corners of the stairs, up to the last trial."""
    better: Callable[[float, float], float] = max if maximize else min
    stairs: List[Tuple[int, float]] = []
    for trial in trials:
        value = value_of(trial, metric)
        if stairs:
            stairs.append((trial.id, stairs[-1][1]))
            value = better(value, stairs[-1][1])
        stairs.append((trial.id, value))
    return stairs


def history(name: str, metric: str, maximize: Optional[bool],
            trials: Sequence["Trial"]) -> Plot:
    """A metric by trial, and the best so far (not of one that is no goal:
    None); what has no value at the bottom."""
    valued = [trial for trial in trials
              if is_finite(value_of(trial, metric))]
    counted = [trial for trial in valued if trial.state in COUNTED]
    lost = [trial for trial in trials if not trial.is_open and
            not is_finite(value_of(trial, metric))]
    values = [value_of(trial, metric) for trial in valued]
    picture = Picture(name, metric + " by trial", Axis("trial", whole=True),
                      Axis(metric, log=spans_decades(values)))
    if not valued:
        return picture.empty(no_result(trials))
    if lost:
        picture.add("points", [trial.id for trial in lost],
                    [min(values)] * len(lost), LOST, 2.0, tips=[
                        "trial %d: %s" % (trial.id, trial.reason or
                                          trial.state) for trial in lost])
    stairs = [] if maximize is None else _best_so_far(counted, maximize,
                                                      metric)
    picture.add("line", [n for n, _ in stairs], [value for _, value in stairs],
                BEST)
    for color, some in ((LOST, [t for t in valued if t not in counted]),
                        (POINT, counted)):
        picture.add("points", [trial.id for trial in some],
                    [value_of(trial, metric) for trial in some], color, 3.0,
                    tips=[tip_of(trial, metric) for trial in some])
    picture.legend = [("trials", POINT)] + (
        [("best so far", BEST)] if stairs else []) + (
        [("no result", LOST)] if lost else [])
    return picture.draw()


def curves(name: str, metric: str, reported: Mapping[int, "Curve"],
           best: Optional[int]) -> Plot:
    """One line for each trial, the best one on top."""
    lines: Dict[int, List[Tuple[int, float]]] = {
        trial: [(step, value) for step, value, _ in curve if is_finite(value)]
        for trial, curve in reported.items()}
    numbers = sorted(trial for trial, line in lines.items() if line)
    # The newest ones when there are more than an eye can distinguish.
    numbers = [n for n in numbers[-MOST_CURVES:] if n != best] + (
        [best] if best in numbers else [])
    picture = Picture(name, metric + " by step", Axis("step", whole=True),
                      Axis(metric, log=spans_decades(
                          [value for n in numbers for _, value in lines[n]])))
    if not numbers:
        return picture.empty("no trial has reported %s yet" % metric)
    faint = max(0.25, 0.8 - len(numbers) / 100)
    for n in numbers:
        color, width, opacity = ((BEST, 2.5, 1.0) if n == best else
                                 (POINT, 1.2, faint))
        picture.add("points" if len(lines[n]) == 1 else "line",
                    [step for step, _ in lines[n]],
                    [value for _, value in lines[n]], color, width, opacity,
                    ["trial %d" % n])
    picture.legend = [("trials", POINT)] + (
        [("best, trial %d" % best, BEST)] if best in numbers else [])
    return picture.draw()


def _add_column(picture: Picture, x: int, axis: Axis,
                values: Sequence[float]) -> Callable[[float], float]:
    """One of several upright axes, from 0 to 1; returns where values are."""
    ends = sorted({axis.linear(value) for value in values}) or [0.0]
    low, high = ends[0], ends[-1]
    ticks = axis.ticks or [(value, show.number(value))
                           for value in sorted({min(values, default=0.0),
                                                max(values, default=0.0)})]

    def place(value: float) -> float:
        return (axis.linear(value) - low) / (high - low) if high > low else 0.5
    picture.add("line", [x, x], [0.0, 1.0], FAINT, 1.0)
    for value, label in ticks:
        if low <= axis.linear(value) <= high:
            picture.text(x, place(value), label)
    return place


def parallel(name: str, metric: str, maximize: bool,
             specs: Sequence[Mapping[str, Any]],
             trials: Sequence["Trial"]) -> Plot:
    """A line for each trial across one axis for each parameter, then one for
    the metric; the best on top, and no others where there are many."""
    def score(trial: "Trial") -> float:
        return value_of(trial, metric)
    done = sorted((trial for trial in trials if trial.state == "SUCCEEDED"
                   and is_finite(score(trial))),
                  key=score, reverse=not maximize)[-_MOST_LINES:]
    values = [[trial.params[spec["parameterId"]] for trial in done
               if spec["parameterId"] in trial.params] for spec in specs]
    axes = [Axis.of(spec, found) for spec, found in zip(specs, values)]
    results = [score(trial) for trial in done]
    last = Axis(metric, log=spans_decades(results))
    names = fit_all([axis.name for axis in axes] + [metric])
    picture = Picture(name, "parameters and " + metric,
                      Axis("the first %d by %s" % (_MOST_LINES, metric)
                           if len(done) == _MOST_LINES else "",
                           ticks=list(enumerate(names))))
    picture.width = max(picture.width, _LEAST_GAP * len(names))
    if not done:
        return picture.empty(no_result(trials))
    columns = Picture(name, "")  # drawn on top of the lines
    places = [_add_column(columns, i, axis, [axis.at(value) for value in
                                             found])
              for i, (axis, found) in enumerate(zip(axes, values))]
    end = _add_column(columns, len(axes), last, results)
    for rank, trial in enumerate(done):
        share = rank / (len(done) - 1) if len(done) > 1 else 1.0
        points = [(i, place(axis.at(trial.params[spec["parameterId"]])))
                  for i, (spec, axis, place) in
                  enumerate(zip(specs, axes, places))
                  if spec["parameterId"] in trial.params]
        points.append((len(axes), end(score(trial))))
        picture.add("line", [x for x, _ in points], [y for _, y in points],
                    shade(share), 1.0 + 1.2 * (share == 1.0), 0.85,
                    [tip_of(trial, metric)])
    picture.marks += columns.marks
    return picture.draw()
