"""Pictures of what the server's model of a study says."""
from typing import (TYPE_CHECKING, Any, List, Mapping, Optional, Sequence,
                    Tuple)

from hypertune.canvas import (BEST, BOTTOM, FAINT, GRID, HEIGHT, INK, LEFT,
                              LOG, POINT, RIGHT, TOP, WIDTH, Axis, Canvas,
                              Plot, axis, shade, short)
from hypertune.plot import is_finite, tip_of, value_of

if TYPE_CHECKING:
    from hypertune.trial import Trial

BAR = 26  # the height of a row
_PALE = "#c3d3e4"
_NAMES = 190  # where bars begin, behind the parameters' names
_SCALE = 86   # the room of a colour scale


def importances(name: str, answer: Mapping[str, Any]) -> Plot:
    """A bar for the share of each parameter, the largest on top."""
    rows = answer["importances"]
    canvas = Canvas("%s: what matters for %s" % (
        short(name, 36), short(answer["metric"], 24)),
        TOP + max(3, len(rows)) * BAR + BOTTOM)
    if not rows:
        return canvas.empty("%d results are not enough yet, it takes %d" %
                            (answer["trials"], answer["least"]))
    bottom = canvas.height - BOTTOM
    scale = Axis(0.0, max(row["share"] for row in rows) or 1.0, _NAMES,
                 WIDTH - RIGHT - 50, False, [])
    for i, row in enumerate(rows):
        middle = TOP + i * BAR + BAR / 2
        canvas.text(_NAMES - 8, middle + 4, short(row["parameter"], 26),
                    "end", fill=INK)
        canvas.add("rect", "%s: %.1f %%" % (row["parameter"],
                                            100 * row["share"]),
                   x=_NAMES, y=middle - 9,
                   width=max(1.0, scale.at(row["share"]) - _NAMES),
                   height=18, fill=BEST if i == 0 else POINT)
        canvas.text(scale.at(row["share"]) + 6, middle + 4,
                    "%.0f %%" % (100 * row["share"]), fill=INK)
    canvas.line(_NAMES, TOP, _NAMES, bottom, FAINT)
    canvas.text(WIDTH / 2, canvas.height - 14,
                "share in telling the best tenth of %d results from the rest" %
                answer["trials"], "middle")
    return canvas.finish()


# --- axes of parameters ---


class _Ruler:
    """An axis of one parameter, numbers or categories."""

    def __init__(self, spec: Mapping[str, Any], values: Sequence[Any],
                 start: float, end: float):
        self.name: str = spec["parameterId"]
        self._labels: List[Any] = []
        if "categoricalValueSpec" in spec:
            self._labels = list(spec["categoricalValueSpec"]["values"])
            count = len(self._labels)
            self.axis = Axis(-0.5, count - 0.5, start, end, False, [
                (float(i), short(str(label), max(4, 84 // count)))
                for i, label in enumerate(self._labels)])
        else:
            self.axis = axis([float(value) for value in values], start, end,
                             log=spec.get("scaleType") == LOG)

    @property
    def has_order(self) -> bool:
        """Is there something between two values?"""
        return not self._labels

    def at(self, value: Any) -> float:
        """The pixel of a value."""
        if self._labels:
            return self.axis.at(float(self._labels.index(value)))
        return self.axis.at(min(max(float(value), self.axis.low),
                                self.axis.high))

    def edges(self, values: Sequence[Any]) -> List[Tuple[float, float]]:
        """The cell of each value, up to the middles between neighbours."""
        at = [self.at(value) for value in values]
        middles = [(a + b) / 2 for a, b in zip(at, at[1:])]
        first, last = self.axis.start, self.axis.end
        if not middles:
            return [(first, last)]
        if self._labels:
            half = abs(last - first) / len(self._labels) / 2
            return [(a - half, a + half) for a in at]
        bounds = [at[0]] + middles + [at[-1]]
        return list(zip(bounds, bounds[1:]))


def _shown(trials: Sequence["Trial"], names: Sequence[str]) -> List["Trial"]:
    """Those with a result and all these parameters."""
    return [trial for trial in trials
            if trial.state in ("SUCCEEDED", "STOPPED") and
            is_finite(value_of(trial)) and
            all(name in trial.params for name in names)]


def slices(name: str, spec: Mapping[str, Any], answer: Mapping[str, Any],
           trials: Sequence["Trial"]) -> Plot:
    """The expected result along one parameter, the others standing as in one
    trial, with the range of two thirds of all results; and the trials."""
    along = answer["axes"][0]
    metric = answer["metric"]
    canvas = Canvas("%s: %s by %s" % (short(name, 30), short(metric, 20),
                                      short(along["parameter"], 20)))
    known = [(value, low, median, high) for value, low, median, high in zip(
        along["values"], answer["low"], answer["median"], answer["high"])
        if median is not None]
    if not known:
        return canvas.empty("the model says nothing here yet")
    trials = _shown(trials, [along["parameter"]])
    bottom = HEIGHT - BOTTOM
    x = _Ruler(spec, along["values"], LEFT, WIDTH - RIGHT)
    y = axis([row[i] for row in known for i in (1, 3)] +
             [value_of(trial) for trial in trials], bottom, TOP)
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
                   cy=y.at(value_of(trial)), fill_opacity="0.55")
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
    canvas = Canvas("%s: expected %s" % (short(name, 36), short(metric, 24)))
    known = [value for row in answer["median"] for value in row
             if value is not None]
    if not known:
        return canvas.empty("the model says nothing here yet")
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT - _SCALE
    x = _Ruler(specs[0], across["values"], LEFT, right)
    y = _Ruler(specs[1], up["values"], bottom, TOP)
    low, high = min(known), max(known)
    worst, top = (0.0, 1.0) if maximize else (1.0, 0.0)
    colours = Axis(low, high if high > low else low + 1.0, worst, top, False,
                   [])
    for (x1, x2), row in zip(x.edges(across["values"]), answer["median"]):
        for (y1, y2), value in zip(y.edges(up["values"]), row):
            canvas.add("rect", x=x1, y=min(y1, y2), width=x2 - x1 + 0.4,
                       height=abs(y2 - y1) + 0.4,
                       fill=GRID if value is None
                       else shade(colours.at(value)),
                       shape_rendering="crispEdges")
    for trial in _shown(trials, names):
        is_best = trial.id == best
        canvas.add("circle", tip_of(trial, metric),
                   cx=x.at(trial.params[names[0]]),
                   cy=y.at(trial.params[names[1]]), r=6.0 if is_best else 3.0,
                   fill=INK if is_best else "white",
                   stroke="white" if is_best else INK,
                   stroke_width=2 if is_best else 1)
    canvas.ticks(x.axis, y.axis, right, names[0], names[1])
    canvas.scale(right + 24, colours)
    if best is not None:
        canvas.legend([("trials", FAINT), ("the best", INK)])
    return canvas.finish()
