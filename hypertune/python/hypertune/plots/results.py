"""Pictures of the results of a study and of when they came."""
from typing import TYPE_CHECKING, List, Optional, Sequence, Set, Tuple

from hypertune import show
from hypertune.plots.marks import (BEST, LOST, POINT, Axis, Picture, Plot,
                                   spans_decades)
from hypertune.plots.trials import (counts, is_finite, no_result, tip_of,
                                    value_of)

if TYPE_CHECKING:
    from hypertune.trial import Trial

_LANE = 24  # its most height; many lanes share ten times as much
_OTHER = ("other", LOST)
_STATES = {"SUCCEEDED": ("succeeded", POINT), "ACTIVE": ("runs", BEST),
           "STOPPED": ("stopped", "#7fb3d5"), "FAILED": ("failed", "#b03a2e"),
           "INFEASIBLE": ("infeasible", "#7d5ba6")}
_UNITS = ((2 * 86400.0, 86400.0, "days"), (2 * 3600.0, 3600.0, "hours"),
          (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))


def pareto(name: str, goals: Sequence[Tuple[str, Optional[bool]]],
           trials: Sequence["Trial"], optimal: Set[int]) -> Plot:
    """Two metrics of each trial against each other. Each comes with whether
    more is better, None if it is no goal; of two goals the trials that no
    other one beats are joined."""
    (first, _), (second, _) = goals
    shown = sorted((trial for trial in trials if
                    is_finite(value_of(trial, first)) and
                    is_finite(value_of(trial, second))),
                   key=lambda trial: value_of(trial, first))
    values = [[value_of(trial, metric) for trial in shown]
              for metric in (first, second)]
    better = {None: "", True: " (more is better)", False: " (less is better)"}
    x, y = (Axis(metric + better[grows], log=spans_decades(found))
            for (metric, grows), found in zip(goals, values))
    joined = all(grows is not None for _, grows in goals)
    picture = Picture(name, "%s against %s" % (second, first), x, y)
    if not shown:
        return picture.empty("no trial has both results yet")
    front = [trial for trial in shown if trial.id in optimal]
    if joined:
        picture.add("line", [value_of(trial, first) for trial in front],
                    [value_of(trial, second) for trial in front], BEST, 1.2)
    for color, size, some in (
            (POINT, 3.0, [t for t in shown if t.id not in optimal]),
            (BEST, 4.0, front)):
        picture.add("points", [value_of(trial, first) for trial in some],
                    [value_of(trial, second) for trial in some], color, size,
                    tips=["trial %d: %s" % (trial.id,
                                            show.params(trial.metrics))
                          for trial in some])
    picture.legend = [("trials", POINT),
                      ("none is better in both" if joined else "the best",
                       BEST)]
    return picture.draw()


def distribution(name: str, metric: str, maximize: Optional[bool],
                 trials: Sequence["Trial"]) -> Plot:
    """Which share of all results is at most that large (EDF)."""
    values = sorted(value_of(trial, metric) for trial in trials
                    if counts(trial, metric))
    picture = Picture(
        name, "distribution of " + metric,
        Axis(metric, log=spans_decades(values)),
        Axis("results up to there",
             ticks=[(i / 4, "%d %%" % (25 * i)) for i in range(5)]))
    if not values:
        return picture.empty(no_result(trials))
    stairs = [(values[0], 0.0)]
    for i, value in enumerate(values):
        stairs += [(value, stairs[-1][1]), (value, (i + 1) / len(values))]
    picture.add("line", [x for x, _ in stairs], [y for _, y in stairs], POINT,
                2.0)
    picture.legend = [("result" if len(values) == 1 else
                       "%d results" % len(values), POINT)]
    if maximize is not None:
        best = values[-1] if maximize else values[0]
        picture.add("line", [best, best], [0.0, 1.0], BEST, 1.2,
                    tips=["best: %s" % show.number(best)])
        picture.legend.append(("the best", BEST))
    return picture.draw()


def _lanes(spans: Sequence[Tuple[float, float, "Trial"]]) -> List[int]:
    """The lane of each span: the first that is free when it starts."""
    free: List[float] = []
    lanes = []
    for start, end, _ in spans:
        lane = next((i for i, until in enumerate(free) if until <= start),
                    len(free))
        free[lane:lane + 1] = [end]
        lanes.append(lane)
    return lanes


def timeline(name: str, trials: Sequence["Trial"], now: float) -> Plot:
    """When each trial ran, those at one time below each other. `now` in
    seconds since 1970 is where running ones end."""
    spans = sorted(
        ((trial.start.timestamp(),
          trial.end.timestamp() if trial.end else now, trial)
         for trial in trials if trial.start is not None),
        key=lambda span: span[:2])
    lanes = _lanes(spans)
    count = max(lanes, default=0) + 1
    if not spans:
        return Picture(name, "trials over time").empty(
            "no trial has started yet")
    begin = spans[0][0]
    length = max(max(end for _, end, _ in spans) - begin, 0.001)
    unit, word = next((unit, word) for least, unit, word in _UNITS
                      if length >= least)
    picture = Picture(
        name, "trials over time",
        Axis(word + " since the first trial started"),
        Axis(ticks=[(-n, "slot %d" % n) for n in sorted({1, count})]))
    picture.height = 120 + min(10, count) * _LANE
    for lane, (start, end, trial) in zip(lanes, spans):
        picture.add("box", [(start - begin) / unit, (end - begin) / unit],
                    [-lane - 1.4, -lane - 0.6],
                    _STATES.get(trial.state, _OTHER)[1],
                    tips=["%s\n%s" % (trial.state, tip_of(trial))])
    present = {trial.state for _, _, trial in spans}
    picture.legend = [entry for state, entry in _STATES.items()
                      if state in present] + (
                          [_OTHER] if present - set(_STATES) else [])
    return picture.draw()
