"""Pictures of the results of a study and of when they came."""
from typing import TYPE_CHECKING, List, Sequence, Set, Tuple

from hypertune import show
from hypertune.axis import Axis, axis
from hypertune.canvas import (BEST, BOTTOM, FAINT, GRID, HEIGHT, INK, LEFT,
                              LOST, POINT, RIGHT, TOP, WIDTH, Canvas, Plot)
from hypertune.plot import counts, is_finite, no_result, tip_of, value_of

if TYPE_CHECKING:
    from hypertune.trial import Trial

_LANE = 24.0  # its most height; many lanes share ten times as much
_OTHER = ("other", LOST)
_STATES = {"SUCCEEDED": ("succeeded", POINT), "ACTIVE": ("runs", BEST),
           "STOPPED": ("stopped", "#7fb3d5"), "FAILED": ("failed", "#b03a2e"),
           "INFEASIBLE": ("infeasible", "#7d5ba6")}
_UNITS = ((2 * 86400.0, 86400.0, "days"), (2 * 3600.0, 3600.0, "hours"),
          (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))


def pareto(name: str, goals: Sequence[Tuple[str, bool]],
           trials: Sequence["Trial"], optimal: Set[int]) -> Plot:
    """Two goals of each trial against each other; those that no other trial
    beats are joined. A goal is a metric and whether more is better."""
    (first, _), (second, _) = goals
    canvas = Canvas(name, "%s against %s" % (second, first))
    shown = [trial for trial in trials if
             is_finite(value_of(trial, first)) and
             is_finite(value_of(trial, second))]
    if not shown:
        return canvas.empty("no trial has both results yet")
    x = axis([value_of(trial, first) for trial in shown], LEFT,
             WIDTH - RIGHT)
    y = axis([value_of(trial, second) for trial in shown], HEIGHT - BOTTOM,
             TOP)
    canvas.frame(x, y, "%s (%s is better)" % (
        first, "more" if goals[0][1] else "less"), "%s (%s is better)" % (
        second, "more" if goals[1][1] else "less"))
    front = sorted((trial for trial in shown if trial.id in optimal),
                   key=lambda trial: value_of(trial, first))
    canvas.path([(x.at(value_of(trial, first)),
                  y.at(value_of(trial, second))) for trial in front],
                BEST, 1.2)
    for trial in [t for t in shown if t.id not in optimal] + front:
        best = trial.id in optimal
        canvas.add("circle", "trial %d: %s" % (
            trial.id, show.params(trial.metrics)),
            cx=x.at(value_of(trial, first)),
            cy=y.at(value_of(trial, second)), r=4.0 if best else 3.0,
            fill=BEST if best else POINT)
    canvas.legend([("trials", POINT), ("none is better in both", BEST)])
    return canvas.finish()


def distribution(name: str, metric: str, maximize: bool,
                 trials: Sequence["Trial"]) -> Plot:
    """Which share of all results is at most that large (EDF)."""
    canvas = Canvas(name, "distribution of " + metric)
    values = sorted(value_of(trial) for trial in trials if counts(trial))
    if not values:
        return canvas.empty(no_result(trials))
    x = axis(values, LEFT, WIDTH - RIGHT)
    y = Axis(0.0, 1.0, HEIGHT - BOTTOM, TOP, False,
             [(i / 4, "%d %%" % (25 * i)) for i in range(5)])
    canvas.frame(x, y, metric, "results up to there")
    stairs = [(x.start, y.at(0.0))]
    for i, value in enumerate(values):
        stairs += [(x.at(value), stairs[-1][1]),
                   (x.at(value), y.at((i + 1) / len(values)))]
    canvas.path(stairs + [(x.end, y.at(1.0))], POINT, 2.0)
    best = values[-1] if maximize else values[0]
    canvas.path([(x.at(best), y.start), (x.at(best), y.end)], BEST, 1.2,
                "best: %s" % show.number(best))
    canvas.legend([("result" if len(values) == 1 else
                    "%d results" % len(values), POINT), ("the best", BEST)])
    return canvas.finish()


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
    step = max(3.0, min(_LANE, 10 * _LANE / count))
    bottom = int(TOP + max(_LANE, count * step) + 6)
    canvas = Canvas(name, "trials over time", bottom + BOTTOM)
    if not spans:
        return canvas.empty("no trial has started yet")
    begin = spans[0][0]
    length = max(max(end for _, end, _ in spans) - begin, 0.001)
    unit, word = next((unit, word) for least, unit, word in _UNITS
                      if length >= least)
    x = axis([0.0, length / unit], LEFT, WIDTH - RIGHT, tight=True)
    for value, label in x.ticks:
        canvas.line(x.at(value), TOP, x.at(value), bottom + 4, GRID)
        canvas.text(x.at(value), bottom + 17, label, "middle")
    for lane, (start, end, trial) in zip(lanes, spans):
        left = x.at((start - begin) / unit)
        canvas.add("rect", "%s\n%s" % (trial.state, tip_of(trial)),
                   x=left, y=TOP + lane * step + 1, height=step - 2,
                   width=max(1.0, x.at((end - begin) / unit) - left - 0.5),
                   fill=_STATES.get(trial.state, _OTHER)[1])
    canvas.text((LEFT + WIDTH - RIGHT) / 2, canvas.height - 10,
                word + " since the first trial started", "middle")
    canvas.text(LEFT - 8, TOP + step / 2 + 4, "slot 1", "end", fill=INK)
    if count > 1:
        canvas.text(LEFT - 8, TOP + (count - 0.5) * step + 4,
                    "slot %d" % count, "end", fill=INK)
    canvas.line(LEFT, bottom, WIDTH - RIGHT, bottom, FAINT)
    present = {trial.state for _, _, trial in spans}
    canvas.legend([entry for state, entry in _STATES.items()
                   if state in present] +
                  ([_OTHER] if present - set(_STATES) else []))
    return canvas.finish()
