"""Pictures of a study as SVG text: no library, no script, no style sheet."""
import math
import sys
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Mapping,
                    NamedTuple, Optional, Sequence, Tuple)
from xml.sax.saxutils import escape, quoteattr

from hypertune import show

if TYPE_CHECKING:
    from hypertune.study import Curve
    from hypertune.trial import Trial

WIDTH, HEIGHT = 680, 340
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 48  # margins around the plotted area
INK, FAINT, GRID = "#222222", "#666666", "#e4e4e4"
POINT, BEST, LOST = "#3b75af", "#d1660f", "#b0b0b0"
LABEL_LETTERS = 14  # of a category's name on an axis
MOST_CURVES = 200

Tick = Tuple[float, str]
_LOG = "UNIT_LOG_SCALE"


class Plot:
    """An SVG image that a notebook shows; str() is its text."""

    def __init__(self, title: str, svg: str):
        self.title = title
        self._svg = svg

    def _repr_svg_(self) -> str:
        return self._svg

    def __str__(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        return "<Plot: %s>" % self.title

    def save(self, path: str) -> None:
        """Writes the image to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._svg)


# --- axes ---


def _step(span: float, count: int) -> float:
    """A round step (1, 2 or 5 of some power of ten) for about `count` ticks."""
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    return power * next(m for m in (1, 2, 5, 10) if raw <= m * power * 1.001)


def _linear_ticks(low: float, high: float, whole: bool,
                  count: int) -> List[Tick]:
    step = _step(high - low, count)
    if whole:
        step = max(1.0, round(step))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    form = "%.4g" if step >= 1e6 or decimals > 5 else "%%.%df" % decimals
    return [(k * step, form % (k * step)) for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> List[Tick]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    if last - first < 1:
        return [(value, show.number(value)) for value in (low, high)]
    stride = (last - first) // 6 + 1
    return [(10.0 ** k, "%g" % 10.0 ** k)
            for k in range(first, last + 1, stride)]


class Axis(NamedTuple):
    """From values to pixels, and the values that are written at it."""
    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: List[Tick]

    def at(self, value: float) -> float:
        """The pixel of a value."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low)
        return self.start + share * (self.end - self.start)


def _axis(values: Sequence[float], start: float, end: float,
          whole: bool = False, log: bool = False, count: int = 5) -> Axis:
    """An axis on which all values have a place."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if log and low > 0 and low < high:
        return Axis(low, high, start, end, True, _log_ticks(low, high))
    if low == high:
        room = abs(low) * 0.1 or 1.0
        low, high = low - room, high + room
    elif not whole:
        room = (high - low) * 0.04
        low, high = low - room, high + room
    return Axis(low, high, start, end, False,
                _linear_ticks(low, high, whole, count))


# --- drawing ---


def _short(text: str, letters: int = LABEL_LETTERS) -> str:
    return text if len(text) <= letters else text[:letters - 1] + "\u2026"


class _Canvas:
    """Collects elements; everything written on it is escaped."""

    def __init__(self, title: str, height: int = HEIGHT):
        self.title = title
        self.height = height
        self._parts: List[str] = []
        self.text(LEFT, 22, title, size=14, fill=INK, weight="bold")

    def add(self, element: str, tip: str = "", **attributes: Any) -> None:
        words = " ".join("%s=%s" % (
            name.replace("_", "-"),
            quoteattr("%.1f" % value if isinstance(value, float)
                      else str(value)))
            for name, value in attributes.items())
        inside = "<title>%s</title>" % escape(tip) if tip else ""
        self._parts.append("<%s %s>%s</%s>" % (element, words, inside,
                                               element))

    def line(self, x1: float, y1: float, x2: float, y2: float,
             color: str) -> None:
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=color)

    def path(self, points: Sequence[Tuple[float, float]], color: str,
             width: float, tip: str = "", opacity: float = 1.0) -> None:
        self.add("polyline", tip, points=" ".join("%.1f,%.1f" % point
                                                  for point in points),
                 fill="none", stroke=color, stroke_width=width,
                 stroke_opacity="%.2f" % opacity, stroke_linejoin="round")

    def text(self, x: float, y: float, text: str, anchor: str = "start",
             size: int = 11, fill: str = FAINT, weight: str = "normal",
             turned: bool = False) -> None:
        turn = ' transform="rotate(-90 %.1f %.1f)"' % (x, y) if turned else ""
        # The white rim keeps a text readable on top of lines.
        self._parts.append(
            '<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" '
            'font-weight="%s" fill="%s" stroke="white" stroke-width="3" '
            'paint-order="stroke"%s>%s</text>' %
            (x, y, anchor, size, weight, fill, turn, escape(text)))

    def frame(self, x: Axis, y: Axis, x_name: str, y_name: str) -> None:
        """Grid, ticks and names of both axes."""
        bottom, right = self.height - BOTTOM, WIDTH - RIGHT
        for value, label in y.ticks:
            self.line(LEFT, y.at(value), right, y.at(value), GRID)
            self.text(LEFT - 8, y.at(value) + 4, label, "end")
        for value, label in x.ticks:
            self.line(x.at(value), bottom, x.at(value), bottom + 4, FAINT)
            self.text(x.at(value), bottom + 17, label, "middle")
        self.line(LEFT, bottom, right, bottom, FAINT)
        self.text((LEFT + right) / 2, self.height - 10, x_name, "middle")
        self.text(16, (TOP + bottom) / 2, _short(y_name, 40), "middle",
                  turned=True)

    def legend(self, entries: Sequence[Tuple[str, str]]) -> None:
        """Coloured words at the top right, the last one rightmost."""
        x = float(WIDTH - RIGHT)
        for name, color in reversed(entries):
            self.text(x, 22, name, "end", fill=color, weight="bold")
            x -= 6.6 * len(name) + 14

    def finish(self) -> Plot:
        svg = ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" '
               'height="%d" viewBox="0 0 %d %d" font-family="sans-serif">'
               '<rect width="100%%" height="100%%" fill="white"/>\n%s\n'
               '</svg>' % (WIDTH, self.height, WIDTH, self.height,
                           "\n".join(self._parts)))
        return Plot(self.title, svg)

    def empty(self, why: str) -> Plot:
        self.text(WIDTH / 2, self.height / 2, why, "middle", size=13)
        return self.finish()


def _value(trial: "Trial") -> float:
    """Its objective; NaN without one."""
    return math.nan if trial.value is None else trial.value


def _finite(value: float) -> bool:
    """Can it be drawn? Half of the largest float and more has no range."""
    return abs(value) < sys.float_info.max / 2.5


def _tip(trial: "Trial", metric: str) -> str:
    return "trial %d: %s=%s\n%s" % (trial.id, metric,
                                    show.number(_value(trial)),
                                    show.params(trial.params))


# --- the pictures ---


def _best_so_far(trials: Sequence["Trial"],
                 maximize: bool) -> List[Tuple[int, float]]:
    """The corners of the stairs, up to the last trial."""
    better: Callable[[float, float], float] = max if maximize else min
    stairs: List[Tuple[int, float]] = []
    for trial in trials:
        value = _value(trial)
        if stairs:
            stairs.append((trial.id, stairs[-1][1]))
            value = better(value, stairs[-1][1])
        stairs.append((trial.id, value))
    return stairs


def history(name: str, metric: str, maximize: bool,
            trials: Sequence["Trial"]) -> Plot:
    """Objective by trial, with the best so far; what has none on the axis."""
    canvas = _Canvas("%s: %s by trial" % (_short(name, 40),
                                          _short(metric, 24)))
    valued = [trial for trial in trials if _finite(_value(trial))]
    counted = [trial for trial in valued
               if trial.state in ("SUCCEEDED", "STOPPED")]
    lost = [trial for trial in trials if trial.state in
            ("FAILED", "INFEASIBLE", "CANCELLED") and trial not in valued]
    if not valued:
        return canvas.empty("no trial has a result yet")
    bottom = HEIGHT - BOTTOM
    x = _axis([0, max(trial.id for trial in trials) + 1], LEFT,
              WIDTH - RIGHT, whole=True, count=10)
    y = _axis([_value(trial) for trial in valued], bottom, TOP)
    canvas.frame(x, y, "trial", metric)
    for trial in lost:
        at = x.at(trial.id)
        canvas.path([(at, bottom - 6.0), (at, float(bottom))], LOST, 2,
                    "trial %d: %s" % (trial.id, trial.reason or trial.state))
    canvas.path([(x.at(n), y.at(value))
                 for n, value in _best_so_far(counted, maximize)], BEST, 1.5)
    for trial in valued:
        canvas.add("circle", _tip(trial, metric), cx=x.at(trial.id),
                   cy=y.at(_value(trial)), r=3.0,
                   fill=POINT if trial in counted else LOST)
    canvas.legend([("trials", POINT), ("best so far", BEST)] +
                  ([("no result", LOST)] if lost else []))
    return canvas.finish()


def curves(name: str, metric: str, reported: Mapping[int, "Curve"],
           best: Optional[int]) -> Plot:
    """One line for each trial, the best one on top."""
    canvas = _Canvas("%s: %s by step" % (_short(name, 40),
                                         _short(metric, 24)))
    lines: Dict[int, List[Tuple[int, float]]] = {
        trial: [(step, value) for step, value, _ in curve if _finite(value)]
        for trial, curve in reported.items()}
    numbers = sorted(trial for trial, line in lines.items() if line)
    if not numbers:
        return canvas.empty("no trial has reported %s yet" % _short(metric))
    # The newest ones when there are more than an eye can tell apart.
    numbers = [n for n in numbers[-MOST_CURVES:] if n != best] + (
        [best] if best in numbers else [])
    shown = [point for n in numbers for point in lines[n]]
    x = _axis([step for step, _ in shown], LEFT, WIDTH - RIGHT, whole=True,
              count=8)
    y = _axis([value for _, value in shown], HEIGHT - BOTTOM, TOP)
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


class _Column(NamedTuple):
    """One vertical axis: a parameter, or the objective."""
    name: str
    axis: Axis
    place: Callable[[Any], float]


def _column(spec: Mapping[str, Any], values: Sequence[Any],
            bottom: float) -> _Column:
    name = spec["parameterId"]
    if "categoricalValueSpec" in spec:
        labels = spec["categoricalValueSpec"]["values"]
        ticks = [(float(i), _short(label)) for i, label in enumerate(labels)]
        axis = Axis(-0.5, len(labels) - 0.5, bottom, TOP + 20, False, ticks)
        return _Column(name, axis,
                       lambda value: axis.at(labels.index(value)))
    numbers = [float(value) for value in values]
    axis = _axis(numbers, bottom, TOP + 20,
                 whole="integerValueSpec" in spec,
                 log=spec.get("scaleType") == _LOG, count=5)
    return _Column(name, axis, lambda value: axis.at(float(value)))


def _shade(share: float) -> str:
    """From a light grey blue (0, worst) to the best's colour (1)."""
    pale, full = (0xc3, 0xd3, 0xe4), (0xd1, 0x66, 0x0f)
    middle = (0x3b, 0x75, 0xaf)
    low, high, t = ((pale, middle, share * 2) if share < 0.5
                    else (middle, full, share * 2 - 1))
    return "#%02x%02x%02x" % tuple(
        round(a + (b - a) * t) for a, b in zip(low, high))


def parallel(name: str, metric: str, maximize: bool,
             specs: Sequence[Mapping[str, Any]],
             trials: Sequence["Trial"]) -> Plot:
    """A line for each trial across one axis for each parameter."""
    canvas = _Canvas("%s: parameters and %s" % (_short(name, 36),
                                                _short(metric, 24)))
    done = sorted((trial for trial in trials if trial.state == "SUCCEEDED"
                   and _finite(_value(trial))),
                  key=_value, reverse=not maximize)
    if not done:
        return canvas.empty("no trial has succeeded yet")
    bottom = float(HEIGHT - 24)
    columns = [_column(spec, [trial.params[spec["parameterId"]]
                              for trial in done
                              if spec["parameterId"] in trial.params], bottom)
               for spec in specs]
    last = _axis([_value(trial) for trial in done], bottom, TOP + 20)
    columns.append(_Column(metric, last, last.at))
    left, right = LEFT, WIDTH - 60
    gap = (right - left) / (len(columns) - 1)
    xs = [left + gap * i for i in range(len(columns))]
    for rank, trial in enumerate(done):
        share = rank / (len(done) - 1) if len(done) > 1 else 1.0
        points = [(x, column.place(trial.params[column.name]))
                  for x, column in zip(xs, columns[:-1])
                  if column.name in trial.params]
        points.append((xs[-1], last.at(_value(trial))))
        canvas.path(points, _shade(share), 1.0 + 1.2 * (share == 1.0),
                    _tip(trial, metric), 0.85)
    letters = max(6, int(gap / 6.2))
    for x, column in zip(xs, columns):
        canvas.line(x, TOP + 20, x, bottom, FAINT)
        canvas.text(x, TOP + 10, _short(column.name, letters), "middle",
                    fill=INK)
        for value, label in column.axis.ticks:
            canvas.text(x - 5, column.axis.at(value) + 4, label, "end",
                        fill=INK)
    return canvas.finish()
