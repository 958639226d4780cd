"""Pictures of what the server's model of a study says."""
from typing import (TYPE_CHECKING, Any, List, Mapping, Optional, Sequence,
                    Tuple)

from hypertune import show
from hypertune.plots.marks import (BEST, FAINT, GRID, INK, POINT, Axis,
                                   Picture, Plot, shade, spans_decades)
from hypertune.plots.trials import counts, tip_of, value_of

if TYPE_CHECKING:
    from hypertune.trial import Trial

BAR = 26  # the height of a row
_PALE = "#c3d3e4"
_UNCERTAIN = "-"  # may have no effect
_NOTHING = "the model says nothing here yet"


def importances(name: str, answer: Mapping[str, Any]) -> Plot:
    """A bar for the importance of each parameter, the largest on top."""
    rows = answer["importances"]
    picture = Picture(
        name, "what matters for " + answer["metric"],
        Axis("share of the variation, from %d results" % answer["trials"],
             ticks=[(i / 4, "%d %%" % (25 * i)) for i in range(5)]),
        Axis(ticks=[(-i, row["parameter"]) for i, row in enumerate(rows)]))
    picture.height = 120 + max(3, len(rows)) * BAR
    if not rows:
        return picture.empty("not enough results yet: %d of %d" %
                             (answer["trials"], answer["least"]))
    for i, row in enumerate(rows):
        share = row["importance"]
        picture.add("box", [0.0, share], [-i - 0.35, -i + 0.35],
                    BEST if i == 0 else POINT,
                    tips=["%s: %.1f %%" % (row["parameter"], 100 * share)])
        picture.text(share + 0.04, -i, "%.0f %%" % (100 * share)
                     if row["certain"] else _UNCERTAIN)
    return picture.draw()


def no_model(name: str, parameters: Sequence[str], why: str) -> Plot:
    """In place of a slice or a contour when there is no model."""
    return Picture(name, "expected by " + " and ".join(parameters)).empty(why)


def _shown(trials: Sequence["Trial"], metric: str,
           names: Sequence[str]) -> List["Trial"]:
    """Those with a result in the metric and all these parameters."""
    return [trial for trial in trials if counts(trial, metric) and
            all(name in trial.params for name in names)]


def slices(name: str, spec: Mapping[str, Any], answer: Mapping[str, Any],
           trials: Sequence["Trial"]) -> Plot:
    """The expected result along one parameter, the others standing as in one
    trial, with the range of two thirds of all results; and the trials."""
    along = answer["axes"][0]
    parameter, metric = along["parameter"], answer["metric"]
    known: List[Tuple[Any, ...]] = [
        row for row in zip(along["values"], answer["low"], answer["median"],
                           answer["high"]) if row[2] is not None]
    trials = _shown(trials, metric, [parameter])
    results = [value_of(trial, metric) for trial in trials]
    x = Axis.of(spec, along["values"])
    y = Axis(metric, log=spans_decades(results))
    picture = Picture(name, "%s by %s" % (metric, parameter), x, y)
    if not known:
        return picture.empty(_NOTHING)
    if y.log:  # the model has no logarithms and may expect less than 0
        least = min(results)
        known = [(value, *(max(least, one) for one in row))
                 for value, *row in known]
    at = [x.at(value) for value, *_ in known]
    _, lows, medians, highs = (list(column) for column in zip(*known))
    if x.labels:
        for place, low, median, high in zip(at, lows, medians, highs):
            picture.add("line", [place, place], [low, high], _PALE, 14.0)
            picture.add("points", [place], [median], BEST, 4.0)
    else:
        picture.add("area", at + at[::-1], highs + lows[::-1], _PALE,
                    opacity=0.6)
        picture.add("line", at, medians, BEST, 2.0)
    picture.add("points", [x.at(trial.params[parameter]) for trial in trials],
                results, POINT, 2.5, 0.55,
                [tip_of(trial, metric) for trial in trials])
    picture.legend = [("trials", POINT),
                      ("expected as in trial %s" % answer["trial"], BEST)]
    return picture.draw()


def contour(name: str, maximize: bool, specs: Sequence[Mapping[str, Any]],
            answer: Mapping[str, Any], trials: Sequence["Trial"],
            best: Optional[int]) -> Plot:
    """The expected result over two parameters as colours, from pale to that of
    the best, the others standing as in one trial; and where the trials are."""
    across, up = answer["axes"]
    names, metric = [across["parameter"], up["parameter"]], answer["metric"]
    x, y = Axis.of(specs[0], across["values"]), Axis.of(specs[1], up["values"])
    picture = Picture(name, "expected " + metric, x, y)
    known = [value for row in answer["median"] for value in row
             if value is not None]
    if not known:
        return picture.empty(_NOTHING)
    ends = sorted((min(known), max(known)), reverse=not maximize)
    span = (ends[1] - ends[0]) or 1.0
    for xs, row in zip(x.cells(across["values"]), answer["median"]):
        for ys, value in zip(y.cells(up["values"]), row):
            picture.add("box", xs, ys, GRID if value is None else
                        shade((value - ends[0]) / span))
    shown = _shown(trials, metric, names)
    for some, color, size in (
            ([t for t in shown if t.id != best], INK, 3.0),
            ([t for t in shown if t.id != best], "white", 2.0),
            ([t for t in shown if t.id == best], "white", 6.0),
            ([t for t in shown if t.id == best], BEST, 4.5)):
        picture.add("points",
                    [x.at(trial.params[names[0]]) for trial in some],
                    [y.at(trial.params[names[1]]) for trial in some], color,
                    size, tips=[tip_of(trial, metric) for trial in some])
    picture.legend = [(show.number(end), shade(share)) for share, end in
                      zip((0.0, 1.0), ends)]
    if best is not None:
        picture.legend += [("trials", FAINT), ("the best", BEST)]
    return picture.draw()
