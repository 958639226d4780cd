"""Pictures of what the server's model of a study says."""
from typing import (TYPE_CHECKING, Any, List, Mapping, Optional,
                    Sequence)

from hypertune.axis import Axis, Ruler, axis, spans_decades
from hypertune.canvas import (BEST, BOTTOM, FAINT, GRID, HEIGHT, INK, LEFT,
                              POINT, RIGHT, TOP, WIDTH, Canvas, Plot, fit,
                              shade, width_of)
from hypertune.plot import counts, tip_of, value_of

if TYPE_CHECKING:
    from hypertune.trial import Trial

BAR = 26  # the height of a row
_PALE = "#c3d3e4"
_NAMES = 190  # where bars begin, behind the parameters' names
_SCALE = 86   # the room of a colour scale
_MOST_LEFT = 170  # of a margin with the names of categories
_UNCERTAIN = "-"  # cannot be told from no effect
_NOTHING = "the model says nothing here yet"


def importances(name: str, answer: Mapping[str, Any]) -> Plot:
    """A bar for the importance of each parameter, the largest on top."""
    rows = answer["importances"]
    canvas = Canvas(name, "what matters for " + answer["metric"],
                    TOP + max(3, len(rows)) * BAR + BOTTOM)
    if not rows:
        return canvas.empty("not enough results yet: %d of %d" %
                            (answer["trials"], answer["least"]))
    bottom = canvas.height - BOTTOM
    scale = Axis(0.0, max(row["importance"] for row in rows) or 1.0, _NAMES,
                 WIDTH - RIGHT - 50, False, [])
    for i, row in enumerate(rows):
        middle = TOP + i * BAR + BAR / 2
        canvas.text(_NAMES - 8, middle + 4, fit(row["parameter"],
                                                  _NAMES - 16),
                    "end", fill=INK)
        canvas.add("rect", "%s: %.1f %%" % (row["parameter"],
                                            100 * row["importance"]),
                   x=_NAMES, y=middle - 9,
                   width=max(1.0, scale.at(row["importance"]) - _NAMES),
                   height=18, fill=BEST if i == 0 else POINT)
        canvas.text(scale.at(row["importance"]) + 6, middle + 4,
                    "%.0f %%" % (100 * row["importance"])
                    if row["certain"] else _UNCERTAIN, fill=INK)
    canvas.line(_NAMES, TOP, _NAMES, bottom, FAINT)
    canvas.text(WIDTH / 2, canvas.height - 14,
                "share of the variation that it explains, from %d results" %
                answer["trials"], "middle")
    return canvas.finish()


def no_model(name: str, parameters: Sequence[str], why: str) -> Plot:
    """In place of a slice or a contour when there is no model."""
    return Canvas(name, "expected by " + " and ".join(parameters)).empty(why)


def _shown(trials: Sequence["Trial"], metric: str,
           names: Sequence[str]) -> List["Trial"]:
    """Those with a result in the metric and all these parameters."""
    return [trial for trial in trials if counts(trial, metric) and
            all(name in trial.params for name in names)]


def _result_axis(found: Sequence[float], expected: Sequence[float],
                 bottom: float) -> Axis:
    """For results and what a model, which knows no logarithms, expects."""
    if spans_decades(found):
        return axis(list(found) + [value for value in expected if value > 0],
                    bottom, TOP, log=True)
    return axis(list(found) + list(expected), bottom, TOP, log=False)


def slices(name: str, spec: Mapping[str, Any], answer: Mapping[str, Any],
           trials: Sequence["Trial"]) -> Plot:
    """The expected result along one parameter, the others standing as in one
    trial, with the range of two thirds of all results; and the trials."""
    along = answer["axes"][0]
    metric = answer["metric"]
    canvas = Canvas(name, "%s by %s" % (metric, along["parameter"]))
    known = [(value, low, median, high) for value, low, median, high in zip(
        along["values"], answer["low"], answer["median"], answer["high"])
        if median is not None]
    if not known:
        return canvas.empty(_NOTHING)
    trials = _shown(trials, metric, [along["parameter"]])
    bottom = HEIGHT - BOTTOM
    x = Ruler(spec, along["values"], LEFT, WIDTH - RIGHT)
    y = _result_axis([value_of(trial, metric) for trial in trials],
                     [row[i] for row in known for i in (1, 2, 3)], bottom)
    canvas.frame(x.axis, y, along["parameter"], metric)
    if x.has_order:
        band = ([(x.at(v), y.at(high)) for v, _, _, high in known] +
                [(x.at(v), y.at(low)) for v, low, _, _ in reversed(known)])
        canvas.area(band, _PALE)
        canvas.path([(x.at(v), y.at(median)) for v, _, median, _ in known],
                    BEST, 2.0)
    else:
        for value, low, median, high in known:
            canvas.path([(x.at(value), y.at(low)), (x.at(value), y.at(high))],
                        _PALE, 14)
            canvas.path([(x.at(value) - 12, y.at(median)),
                         (x.at(value) + 12, y.at(median))], BEST, 2.5)
    for trial in trials:
        canvas.add("circle", tip_of(trial, metric), r=2.5, fill=POINT,
                   cx=x.at(trial.params[along["parameter"]]),
                   cy=y.at(value_of(trial, metric)), fill_opacity="0.55")
    canvas.legend([("trials", POINT),
                   ("expected as in trial %s" % answer["trial"], BEST)])
    return canvas.finish()


def contour(name: str, maximize: bool, specs: Sequence[Mapping[str, Any]],
            answer: Mapping[str, Any], trials: Sequence["Trial"],
            best: Optional[int]) -> Plot:
    """The expected result over two parameters as colours, from pale to that of
    the best, the others standing as in one trial; and where the trials are."""
    across, up = answer["axes"]
    names = [across["parameter"], up["parameter"]]
    metric = answer["metric"]
    canvas = Canvas(name, "expected " + metric)
    known = [value for row in answer["median"] for value in row
             if value is not None]
    if not known:
        return canvas.empty(_NOTHING)
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT - _SCALE
    y = Ruler(specs[1], up["values"], bottom, TOP)
    left = max([float(LEFT)] + [min(width_of(label) + 32, _MOST_LEFT)
                                for _, label in y.axis.ticks])
    x = Ruler(specs[0], across["values"], left, right)
    colours = axis(known, *((0.0, 1.0) if maximize else (1.0, 0.0)),
                   tight=True)
    canvas.frame(x.axis, y.axis, *names)
    for (x1, x2), row in zip(x.cells(across["values"]), answer["median"]):
        for (y1, y2), value in zip(y.cells(up["values"]), row):
            canvas.add("rect", x=x1, y=y2, width=x2 - x1 + 0.4,
                       height=y1 - y2 + 0.4,
                       fill=GRID if value is None
                       else shade(colours.at(value)),
                       shape_rendering="crispEdges")
    for trial in _shown(trials, metric, names):
        is_best = trial.id == best
        canvas.add("circle", tip_of(trial, metric),
                   cx=x.at(trial.params[names[0]]),
                   cy=y.at(trial.params[names[1]]), r=6.0 if is_best else 3.0,
                   fill=BEST if is_best else "white",
                   stroke="white" if is_best else INK,
                   stroke_width=2 if is_best else 1)
    canvas.scale(right + 24, colours)
    if best is not None:
        canvas.legend([("trials", FAINT), ("the best", BEST)])
    return canvas.finish()
