"""What pictures are drawn on: axes, and SVG text in which all is escaped.

A picture is a light card of its own, for nobody knows the colours around it: a
notebook shows an SVG as an image, which its theme does not reach.
"""
import math
from typing import Any, List, NamedTuple, Sequence, Tuple
from xml.sax.saxutils import escape, quoteattr

from hypertune import show

WIDTH, HEIGHT = 680, 340
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 48  # margins around the plotted area
INK, FAINT, GRID = "#222222", "#666666", "#e4e4e4"
POINT, BEST, LOST = "#3b75af", "#d1660f", "#b0b0b0"
LABEL_LETTERS = 14  # of a category's name on an axis
EDGE = "#d0d0d0"

Tick = Tuple[float, str]
LOG = "UNIT_LOG_SCALE"


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
    """A round step (1, 2 or 5 of a power of ten) for about `count` ticks."""
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


def axis(values: Sequence[float], start: float, end: float,
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


def short(text: str, letters: int = LABEL_LETTERS) -> str:
    return text if len(text) <= letters else text[:letters - 1] + "\u2026"


def shade(share: float) -> str:
    """From a light grey blue (0, worst) to the best's colour (1)."""
    pale, full = (0xc3, 0xd3, 0xe4), (0xd1, 0x66, 0x0f)
    middle = (0x3b, 0x75, 0xaf)
    low, high, t = ((pale, middle, share * 2) if share < 0.5
                    else (middle, full, share * 2 - 1))
    return "#%02x%02x%02x" % tuple(
        round(a + (b - a) * t) for a, b in zip(low, high))


class Canvas:
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

    def area(self, points: Sequence[Tuple[float, float]], color: str) -> None:
        self.add("polyline", points=" ".join("%.1f,%.1f" % point
                                             for point in points),
                 fill=color, fill_opacity="0.6", stroke="none")

    def ticks(self, x: Axis, y: Axis, right: float, x_name: str,
              y_name: str) -> None:
        """Ticks and names of both axes, for a filled area up to `right`."""
        bottom = self.height - BOTTOM
        for value, label in y.ticks:
            self.line(LEFT - 4, y.at(value), LEFT, y.at(value), FAINT)
            self.text(LEFT - 8, y.at(value) + 4, label, "end")
        for value, label in x.ticks:
            self.line(x.at(value), bottom, x.at(value), bottom + 4, FAINT)
            self.text(x.at(value), bottom + 17, label, "middle")
        self.text((LEFT + right) / 2, self.height - 10, short(x_name, 60),
                  "middle")
        self.text(16, (TOP + bottom) / 2, short(y_name, 40), "middle",
                  turned=True)

    def scale(self, left: float, colours: Axis) -> None:
        """Which values the shades of an axis from 0 to 1, or back, are."""
        steps, bottom = 40, self.height - BOTTOM
        height = (bottom - TOP) / steps
        span = colours.high - colours.low
        for i in range(steps):
            value = colours.low + (i + 0.5) / steps * span
            self.add("rect", x=left, y=bottom - (i + 1) * height, width=12,
                     height=height + 0.4, fill=shade(colours.at(value)))
        for i in (0, 1, 2):
            self.text(left + 18, bottom - i / 2 * (bottom - TOP) + 4,
                      show.number(colours.low + i / 2 * span), fill=INK)

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
        self.text(16, (TOP + bottom) / 2, short(y_name, 40), "middle",
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
               '<rect x="0.5" y="0.5" width="%d" height="%d" rx="6" '
               'fill="white" stroke="%s"/>\n%s\n</svg>' %
               (WIDTH, self.height, WIDTH, self.height, WIDTH - 1,
                self.height - 1, EDGE, "\n".join(self._parts)))
        return Plot(self.title, svg)

    def empty(self, why: str) -> Plot:
        self.text(WIDTH / 2, self.height / 2, why, "middle", size=13)
        return self.finish()
