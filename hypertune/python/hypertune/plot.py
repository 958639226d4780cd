"""Pictures of a study's trials as SVG text: no library and no script."""
import collections
import math
import sys
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Mapping,
                    Optional, Sequence, Tuple)

from hypertune import show
from hypertune.axis import Axis, Ruler, axis
from hypertune.canvas import (BEST, BOTTOM, FAINT, HEIGHT, INK, LEFT, LOST,
                              POINT, RIGHT, TOP, WIDTH, Canvas, Plot, fit,
                              fit_all, shade)

if TYPE_CHECKING:
    from hypertune.study import Curve
    from hypertune.trial import Trial

MOST_CURVES = 200
_LEAST_GAP = 64.0  # between two axes of parameters
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


def _best_so_far(trials: Sequence["Trial"],
                 maximize: bool) -> List[Tuple[int, float]]:
    """The corners of the stairs, up to the last trial."""
    better: Callable[[float, float], float] = max if maximize else min
    stairs: List[Tuple[int, float]] = []
    for trial in trials:
        value = value_of(trial)
        if stairs:
            stairs.append((trial.id, stairs[-1][1]))
            value = better(value, stairs[-1][1])
        stairs.append((trial.id, value))
    return stairs


def history(name: str, metric: str, maximize: bool,
            trials: Sequence["Trial"]) -> Plot:
    """Objective by trial, with the best so far; what has none on the axis."""
    canvas = Canvas(name, metric + " by trial")
    valued = [trial for trial in trials if is_finite(value_of(trial))]
    counted = [trial for trial in valued if trial.state in COUNTED]
    lost = [trial for trial in trials if not trial.is_open and
            not is_finite(value_of(trial))]
    if not valued:
        return canvas.empty(no_result(trials))
    bottom = HEIGHT - BOTTOM
    x = axis([0, max(trial.id for trial in trials) + 1], LEFT,
             WIDTH - RIGHT, whole=True)
    y = axis([value_of(trial) for trial in valued], bottom, TOP)
    canvas.frame(x, y, "trial", metric)
    for trial in lost:
        at = x.at(trial.id)
        canvas.path([(at, bottom - 6.0), (at, float(bottom))], LOST, 2,
                    "trial %d: %s" % (trial.id, trial.reason or trial.state))
    canvas.path([(x.at(n), y.at(value))
                 for n, value in _best_so_far(counted, maximize)], BEST, 1.5)
    for trial in valued:
        canvas.add("circle", tip_of(trial), cx=x.at(trial.id),
                   cy=y.at(value_of(trial)), r=3.0,
                   fill=POINT if trial in counted else LOST)
    canvas.legend([("trials", POINT), ("best so far", BEST)] +
                  ([("no result", LOST)] if lost else []))
    return canvas.finish()


def curves(name: str, metric: str, reported: Mapping[int, "Curve"],
           best: Optional[int]) -> Plot:
    """One line for each trial, the best one on top."""
    canvas = Canvas(name, metric + " by step")
    lines: Dict[int, List[Tuple[int, float]]] = {
        trial: [(step, value) for step, value, _ in curve if is_finite(value)]
        for trial, curve in reported.items()}
    numbers = sorted(trial for trial, line in lines.items() if line)
    if not numbers:
        return canvas.empty("no trial has reported %s yet" % metric)
    # The newest ones when there are more than an eye can tell apart.
    numbers = [n for n in numbers[-MOST_CURVES:] if n != best] + (
        [best] if best in numbers else [])
    shown = [point for n in numbers for point in lines[n]]
    x = axis([step for step, _ in shown], LEFT, WIDTH - RIGHT, log=False,
             whole=True)
    y = axis([value for _, value in shown], HEIGHT - BOTTOM, TOP)
    canvas.frame(x, y, "step", metric)
    faint = max(0.25, 0.8 - len(numbers) / 100)
    for n in numbers:
        points = [(x.at(step), y.at(value)) for step, value in lines[n]]
        tip = "trial %d" % n
        color, opacity = (BEST, 1.0) if n == best else (POINT, faint)
        if len(points) == 1:
            canvas.add("circle", tip, cx=points[0][0], cy=points[0][1], r=3.0,
                       fill=color, fill_opacity="%.2f" % opacity)
        else:
            canvas.path(points, color, 2.5 if n == best else 1.2, tip,
                        opacity)
    canvas.legend([("trials", POINT)] + (
        [("best, trial %d" % best, BEST)] if best in numbers else []))
    return canvas.finish()


def _draw_column(canvas: Canvas, scale: Axis, name: str, x: float,
                 gap: float) -> None:
    """One of several upright axes, which stand `gap` apart."""
    canvas.line(x, scale.start, x, scale.end, FAINT)
    canvas.text(x, scale.end - 10, fit(name, gap - 6), "middle", fill=INK)
    for (value, _), label in zip(scale.ticks, fit_all(
            [label for _, label in scale.ticks], gap - 12)):
        canvas.text(x - 5, scale.at(value) + 4, label, "end", fill=INK)


def parallel(name: str, metric: str, maximize: bool,
             specs: Sequence[Mapping[str, Any]],
             trials: Sequence["Trial"]) -> Plot:
    """A line for each trial across one axis for each parameter, then one for
    the objective; the best on top."""
    done = sorted((trial for trial in trials if trial.state == "SUCCEEDED"
                   and is_finite(value_of(trial))),
                  key=value_of, reverse=not maximize)
    bottom, top = float(HEIGHT - 24), TOP + 20.0
    rulers = [Ruler(spec, [trial.params[spec["parameterId"]]
                           for trial in done
                           if spec["parameterId"] in trial.params],
                    bottom, top) for spec in specs]
    last = axis([value_of(trial) for trial in done], bottom, top)
    gap = max(_LEAST_GAP, (WIDTH - LEFT - 60) / max(len(rulers), 1))
    canvas = Canvas(name, "parameters and " + metric,
                    width=int(LEFT + gap * len(rulers) + 60))
    if not done:
        return canvas.empty(no_result(trials))
    for rank, trial in enumerate(done):
        share = rank / (len(done) - 1) if len(done) > 1 else 1.0
        points = [(LEFT + gap * i, ruler.at(trial.params[ruler.name]))
                  for i, ruler in enumerate(rulers)
                  if ruler.name in trial.params]
        points.append((LEFT + gap * len(rulers), last.at(value_of(trial))))
        canvas.path(points, shade(share), 1.0 + 1.2 * (share == 1.0),
                    tip_of(trial), 0.85)
    columns = [(ruler.axis, ruler.name) for ruler in rulers]
    for i, (scale, title) in enumerate(columns + [(last, metric)]):
        _draw_column(canvas, scale, title, LEFT + gap * i, gap)
    return canvas.finish()
