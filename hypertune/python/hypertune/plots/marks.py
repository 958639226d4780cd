"""What a picture of a study shows, in values; drawn by matplotlib where it is
installed, and as our own simple SVG where it is not."""
import math
import os.path
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from hypertune import show

WIDTH, HEIGHT = 680, 340  # pixels
INK, FAINT, GRID = "#222222", "#666666", "#e4e4e4"
POINT, BEST, LOST = "#3b75af", "#d1660f", "#b0b0b0"

MANY_DECADES = 3  # from here on results are shown by their logarithm
_TITLE, _NAME, _LABEL = 36, 50, 18  # letters that have a place
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


def fit(text: str, most: int) -> str:
    """At most so many letters of a text."""
    return text if len(text) <= most else text[:most - 1] + "\u2026"


def fit_all(texts: Sequence[str], most: int = _LABEL) -> List[str]:
    """The same for texts of one axis: where cutting would make several alike,
    without what all of them begin with."""
    cut = [fit(text, most) for text in texts]
    alike = len(os.path.commonprefix(list(texts)))
    if alike == 0 or len(set(cut)) == len(set(texts)):
        return cut
    return [fit("\u2026" + text[alike:], most) for text in texts]


def shade(share: float) -> str:
    """The colour from the worst (0) to the best (1)."""
    place = min(max(share, 0.0), 1.0) * (len(_SHADES) - 1)
    i = min(int(place), len(_SHADES) - 2)
    return "#%02x%02x%02x" % tuple(
        round(a + (b - a) * (place - i))
        for a, b in zip(_SHADES[i], _SHADES[i + 1]))


def spans_decades(values: Sequence[float]) -> bool:
    """Would all but the largest values look the same on a linear axis?"""
    return (bool(values) and min(values) > 0 and
            math.log10(max(values)) - math.log10(min(values)) >= MANY_DECADES)


class Axis:
    """One axis of a picture, of numbers or of a parameter's categories."""

    def __init__(self, name: str = "", log: bool = False, whole: bool = False,
                 ticks: Optional[Sequence[Tuple[float, str]]] = None):
        """`ticks` by default where numbers are round."""
        self.name = fit(name, _NAME)
        self.log = log
        self.whole = whole
        self.ticks = ticks if ticks is None else list(
            zip([at for at, _ in ticks],
                fit_all([label for _, label in ticks])))
        self.labels: List[str] = []

    @classmethod
    def of(cls, spec: Mapping[str, Any], values: Sequence[Any]) -> "Axis":
        """That of a parameter, `spec` as in a StudySpec."""
        labels = spec.get("categoricalValueSpec", {}).get("values", [])
        axis = cls(spec["parameterId"], whole="integerValueSpec" in spec,
                   log=spec.get("scaleType") == "UNIT_LOG_SCALE" and
                   all(float(value) > 0 for value in values),
                   ticks=[(float(i), label) for i, label in enumerate(labels)]
                   if labels else None)
        axis.labels = list(labels)
        return axis

    def at(self, value: Any) -> float:
        return float(self.labels.index(value) if self.labels else value)

    def linear(self, value: float) -> float:
        """In proportion to the distance on the axis."""
        return math.log(value) if self.log else value

    def cells(self, values: Sequence[Any]) -> List[Tuple[float, float]]:
        """From where to where each value reaches: up to the middles between
        neighbours."""
        at = [self.at(value) for value in values]
        if self.labels or len(at) == 1:
            return [(place - 0.5, place + 0.5) for place in at]
        middles = [math.sqrt(a) * math.sqrt(b) if self.log else a / 2 + b / 2
                   for a, b in zip(at, at[1:])]
        bounds = [at[0]] + middles + [at[-1]]
        return list(zip(bounds, bounds[1:]))


class Mark(NamedTuple):
    """Something drawn at these values."""
    kind: str  # "line", "area", "points", "text", or "box" from corner to
    xs: Sequence[float]  # corner
    ys: Sequence[float]
    color: str
    size: float  # of lines and points, in pixels
    opacity: float
    tips: Sequence[str]  # of each point, or of the whole; the words of a text


class Picture:
    """Collects what is to be drawn."""

    def __init__(self, name: str, what: str, x: Optional[Axis] = None,
                 y: Optional[Axis] = None):
        """A picture of `what`, of the study with this name."""
        self.x, self.y = x or Axis(), y or Axis(ticks=[])
        self.width, self.height = WIDTH, HEIGHT
        self.title = "%s: %s" % (fit(name, _TITLE), fit(what, _NAME))
        self.marks: List[Mark] = []
        self.legend: List[Tuple[str, str]] = []  # words and their colour
        self._full = "%s: %s" % (name, what)

    def add(self, kind: str, xs: Sequence[float], ys: Sequence[float],
            color: str, size: float = 1.5, opacity: float = 1.0,
            tips: Sequence[str] = ()) -> None:
        self.marks.append(Mark(kind, xs, ys, color, size, opacity, tips))

    def text(self, x: float, y: float, words: str) -> None:
        self.add("text", [x], [y], INK, tips=[fit(words, _LABEL)])

    def draw(self) -> Plot:
        try:
            from hypertune.plots import draw_matplotlib as drawing
        except ImportError:
            from hypertune.plots import draw_svg as drawing  # type: ignore
        return Plot(show.plain(self._full), show.plain(drawing.draw(self)))

    def empty(self, why: str) -> Plot:
        """The picture of nothing, which says why."""
        self.marks, self.legend = [], []
        self.x, self.y = Axis(ticks=[]), Axis(ticks=[])
        for i, line in enumerate(why.split("\n")):
            self.add("text", [0.5], [0.5 - 0.1 * i], INK, tips=[fit(line, 80)])
        self.add("points", [0.0, 1.0], [0.0, 1.0], "none")
        return self.draw()
