"""What pictures are drawn on: SVG text in which all is escaped.

A picture is a light card of its own, for nobody knows the colours around it: a
notebook shows an SVG as an image, which its theme does not reach.
"""
import math
import os.path
import unicodedata
from typing import Any, List, Sequence, Tuple
from xml.sax.saxutils import escape, quoteattr

from hypertune import show
from hypertune.axis import Axis

WIDTH, HEIGHT = 680, 340
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 48  # margins around the plotted area
INK, FAINT, GRID, EDGE = "#222222", "#666666", "#e4e4e4", "#d0d0d0"
POINT, BEST, LOST = "#3b75af", "#d1660f", "#b0b0b0"

_SIZE, _HEAD_SIZE = 11, 14  # of letters, in pixels
_LABEL = 58  # pixels that a label needs at most, to be told from others
_APART = 6   # between two
_HEAD = 22  # where the title and the legend stand
# Colours of values, from the worst to the best: those of the dashboard.
_SHADES = ((0xbd, 0xdf, 0x26), (0x7a, 0xd1, 0x51), (0x44, 0xbf, 0x70),
           (0x22, 0xa8, 0x84), (0x21, 0x91, 0x8c), (0x2a, 0x78, 0x8e),
           (0x35, 0x5f, 0x8d), (0x41, 0x44, 0x87), (0x44, 0x01, 0x54))


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


# --- letters ---


def _letter(letter: str) -> float:
    """About how wide it is in the fonts of browsers, as a share of the size;
    rather too much."""
    if letter in "ijlIf.,:;'|!()[]{} ":
        return 0.4
    if letter in "mwMW@%\u2026" or unicodedata.east_asian_width(
            letter) in "WF":
        return 1.0
    return 0.72 if letter.isupper() else 0.64


def width_of(text: str, size: int = _SIZE) -> float:
    """About how many pixels a text takes."""
    return size * sum(map(_letter, text))


def fit(text: str, room: float, size: int = _SIZE) -> str:
    """As much of a text as has a place in so many pixels."""
    if width_of(text, size) <= room:
        return text
    room -= width_of("\u2026", size)
    end = 0
    while end < len(text) and size * _letter(text[end]) <= room:
        room -= size * _letter(text[end])
        end += 1
    return text[:end] + "\u2026"


def fit_all(texts: Sequence[str], room: float) -> List[str]:
    """The same for texts that stand together: where cutting would make several
    alike, without what all of them begin with."""
    cut = [fit(text, room) for text in texts]
    alike = len(os.path.commonprefix(list(texts)))
    if alike == 0 or len(set(cut)) == len(set(texts)):
        return cut
    return [fit("\u2026" + text[alike:], room) for text in texts]


def shade(share: float) -> str:
    """The colour from the worst (0) to the best (1)."""
    place = min(max(share, 0.0), 1.0) * (len(_SHADES) - 1)
    i = min(int(place), len(_SHADES) - 2)
    return "#%02x%02x%02x" % tuple(
        round(a + (b - a) * (place - i))
        for a, b in zip(_SHADES[i], _SHADES[i + 1]))


# --- drawing ---


class Canvas:
    """Collects elements; everything written on it is escaped."""

    def __init__(self, name: str, what: str, height: int = HEIGHT,
                 width: int = WIDTH):
        """A picture of `what`, of the study with this name."""
        self.height = height
        self.width = width
        self._name = name
        self._what = what
        self._legend: List[Tuple[str, str]] = []
        self._parts: List[str] = []

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
             size: int = _SIZE, fill: str = FAINT, weight: str = "normal",
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

    def scale(self, left: float, colours: Axis) -> None:
        """Which values the shades of an axis from 0 to 1, or back, are."""
        steps, bottom = 40, self.height - BOTTOM
        height = (bottom - TOP) / steps
        ends = (colours.start, colours.end)
        for i in range(steps):
            share = (i + 0.5) / steps
            self.add("rect", x=left, y=bottom - (i + 1) * height, width=12,
                     height=height + 0.4,
                     fill=shade(ends[0] + share * (ends[1] - ends[0])))
        for value, label in colours.ticks:
            share = abs(colours.at(value) - ends[0])
            self.text(left + 18, bottom - share * (bottom - TOP) + 4, label,
                      fill=INK)

    def frame(self, x: Axis, y: Axis, x_name: str, y_name: str) -> None:
        """Grid, ticks and names of both axes."""
        left, right, bottom, top = x.start, x.end, y.start, y.end
        for (value, _), label in zip(y.ticks, fit_all(
                [label for _, label in y.ticks], left - 24)):
            self.line(left, y.at(value), right, y.at(value), GRID)
            self.text(left - 8, y.at(value) + 4, label, "end")
        each = (right - left) / max(len(x.ticks), 1)
        needed = min(_LABEL, max([width_of(label) for _, label in x.ticks] +
                                 [0.0]))
        told = x.ticks[::max(1, math.ceil((needed + _APART) / each))]
        for (value, _), label in zip(told, fit_all(
                [label for _, label in told],
                (right - left) / max(len(told), 1) - _APART)):
            self.line(x.at(value), bottom, x.at(value), bottom + 4, FAINT)
            self.text(x.at(value), bottom + 17, label, "middle")
        self.line(left, bottom, right, bottom, FAINT)
        self.text((left + right) / 2, self.height - 10,
                  fit(x_name, right - left), "middle")
        self.text(16, (top + bottom) / 2, fit(y_name, bottom - top), "middle",
                  turned=True)

    def legend(self, entries: Sequence[Tuple[str, str]]) -> None:
        """Coloured words at the top right, the last one rightmost."""
        self._legend = list(entries)

    def _draw_head(self) -> None:
        right = float(self.width - RIGHT)
        for name, color in reversed(self._legend):
            self.text(right, _HEAD, name, "end", fill=color, weight="bold")
            right -= width_of(name) + 16
        # The study's name is known; what the picture shows is not.
        room = right - LEFT
        what = fit(": " + self._what, room * 0.7, _HEAD_SIZE)
        name = fit(self._name, room - width_of(what, _HEAD_SIZE), _HEAD_SIZE)
        self.text(LEFT, _HEAD, name + what, size=_HEAD_SIZE, fill=INK,
                  weight="bold")

    def finish(self) -> Plot:
        self._draw_head()
        svg = ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" '
               'height="%d" viewBox="0 0 %d %d" font-family="sans-serif">'
               '<rect x="0.5" y="0.5" width="%d" height="%d" rx="6" '
               'fill="white" stroke="%s"/>\n%s\n</svg>' %
               (self.width, self.height, self.width, self.height,
                self.width - 1, self.height - 1, EDGE,
                "\n".join(self._parts)))
        return Plot(show.plain("%s: %s" % (self._name, self._what)),
                    show.plain(svg))

    def empty(self, why: str) -> Plot:
        """The picture of nothing, which says why."""
        for i, line in enumerate(why.split("\n")):
            self.text(self.width / 2, self.height / 2 + 20 * i,
                      fit(line, self.width - 2 * LEFT, 13), "middle", size=13)
        return self.finish()
