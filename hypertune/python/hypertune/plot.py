"""Pictures of a study's trials as SVG text: no library and no script."""
import math
import sys
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Mapping,
                    NamedTuple, Optional, Sequence, Tuple)

from hypertune import show
from hypertune.canvas import (BEST, BOTTOM, FAINT, HEIGHT, INK, LEFT, LOG,
                              LOST, POINT, RIGHT, TOP, WIDTH, Axis, Canvas,
                              Plot, axis, shade, short)

if TYPE_CHECKING:
    from hypertune.study import Curve
    from hypertune.trial import Trial

MOST_CURVES = 200


def value_of(trial: "Trial") -> float:
    """Its objective; NaN without one."""
    return math.nan if trial.value is None else trial.value


def is_finite(value: float) -> bool:
    """Can it be drawn? Half of the largest float and more has no range."""
    return abs(value) < sys.float_info.max / 2.5


def tip_of(trial: "Trial", metric: str) -> str:
    return "trial %d: %s=%s\n%s" % (trial.id, metric,
                                    show.number(value_of(trial)),
                                    show.params(trial.params))


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
    canvas = Canvas("%s: %s by trial" % (short(name, 40),
                                          short(metric, 24)))
    valued = [trial for trial in trials if is_finite(value_of(trial))]
    counted = [trial for trial in valued
               if trial.state in ("SUCCEEDED", "STOPPED")]
    lost = [trial for trial in trials if trial.state in
            ("FAILED", "INFEASIBLE", "CANCELLED") and trial not in valued]
    if not valued:
        return canvas.empty("no trial has a result yet")
    bottom = HEIGHT - BOTTOM
    x = axis([0, max(trial.id for trial in trials) + 1], LEFT,
              WIDTH - RIGHT, whole=True, count=10)
    y = axis([value_of(trial) for trial in valued], bottom, TOP)
    canvas.frame(x, y, "trial", metric)
    for trial in lost:
        at = x.at(trial.id)
        canvas.path([(at, bottom - 6.0), (at, float(bottom))], LOST, 2,
                    "trial %d: %s" % (trial.id, trial.reason or trial.state))
    canvas.path([(x.at(n), y.at(value))
                 for n, value in _best_so_far(counted, maximize)], BEST, 1.5)
    for trial in valued:
        canvas.add("circle", tip_of(trial, metric), cx=x.at(trial.id),
                   cy=y.at(value_of(trial)), r=3.0,
                   fill=POINT if trial in counted else LOST)
    canvas.legend([("trials", POINT), ("best so far", BEST)] +
                  ([("no result", LOST)] if lost else []))
    return canvas.finish()


def curves(name: str, metric: str, reported: Mapping[int, "Curve"],
           best: Optional[int]) -> Plot:
    """One line for each trial, the best one on top."""
    canvas = Canvas("%s: %s by step" % (short(name, 40),
                                         short(metric, 24)))
    lines: Dict[int, List[Tuple[int, float]]] = {
        trial: [(step, value) for step, value, _ in curve if is_finite(value)]
        for trial, curve in reported.items()}
    numbers = sorted(trial for trial, line in lines.items() if line)
    if not numbers:
        return canvas.empty("no trial has reported %s yet" % short(metric))
    # The newest ones when there are more than an eye can tell apart.
    numbers = [n for n in numbers[-MOST_CURVES:] if n != best] + (
        [best] if best in numbers else [])
    shown = [point for n in numbers for point in lines[n]]
    x = axis([step for step, _ in shown], LEFT, WIDTH - RIGHT, whole=True,
              count=8)
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


class Column(NamedTuple):
    """One vertical axis: a parameter, or the objective."""
    name: str
    axis: Axis
    place: Callable[[Any], float]


def column_of(spec: Mapping[str, Any], values: Sequence[Any],
            bottom: float) -> Column:
    name = spec["parameterId"]
    if "categoricalValueSpec" in spec:
        labels = spec["categoricalValueSpec"]["values"]
        ticks = [(float(i), short(label)) for i, label in enumerate(labels)]
        rows = Axis(-0.5, len(labels) - 0.5, bottom, TOP + 20, False, ticks)
        return Column(name, rows,
                       lambda value: rows.at(labels.index(value)))
    numbers = [float(value) for value in values]
    scale = axis(numbers, bottom, TOP + 20,
                 whole="integerValueSpec" in spec,
                 log=spec.get("scaleType") == LOG, count=5)
    return Column(name, scale, lambda value: scale.at(float(value)))


def parallel(name: str, metric: str, maximize: bool,
             specs: Sequence[Mapping[str, Any]],
             trials: Sequence["Trial"]) -> Plot:
    """A line for each trial across one axis for each parameter."""
    canvas = Canvas("%s: parameters and %s" % (short(name, 36),
                                                short(metric, 24)))
    done = sorted((trial for trial in trials if trial.state == "SUCCEEDED"
                   and is_finite(value_of(trial))),
                  key=value_of, reverse=not maximize)
    if not done:
        return canvas.empty("no trial has succeeded yet")
    bottom = float(HEIGHT - 24)
    columns = [column_of(spec, [trial.params[spec["parameterId"]]
                              for trial in done
                              if spec["parameterId"] in trial.params], bottom)
               for spec in specs]
    last = axis([value_of(trial) for trial in done], bottom, TOP + 20)
    columns.append(Column(metric, last, last.at))
    left, right = LEFT, WIDTH - 60
    gap = (right - left) / (len(columns) - 1)
    xs = [left + gap * i for i in range(len(columns))]
    for rank, trial in enumerate(done):
        share = rank / (len(done) - 1) if len(done) > 1 else 1.0
        points = [(x, column.place(trial.params[column.name]))
                  for x, column in zip(xs, columns[:-1])
                  if column.name in trial.params]
        points.append((xs[-1], last.at(value_of(trial))))
        canvas.path(points, shade(share), 1.0 + 1.2 * (share == 1.0),
                    tip_of(trial, metric), 0.85)
    letters = max(6, int(gap / 6.2))
    for x, column in zip(xs, columns):
        canvas.line(x, TOP + 20, x, bottom, FAINT)
        canvas.text(x, TOP + 10, short(column.name, letters), "middle",
                    fill=INK)
        for value, label in column.axis.ticks:
            canvas.text(x - 5, column.axis.at(value) + 4, label, "end",
                        fill=INK)
    return canvas.finish()
