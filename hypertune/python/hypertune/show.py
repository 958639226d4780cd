"""Values as a person reads them: short numbers, words, times, HTML cells."""
import datetime
import html
import math
import re
from typing import Any, Mapping, Sequence, Tuple, Union

# Control characters, changes of the direction of writing, half characters.
_UNSHOWN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f"
                      "\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff"
                      "\\ufffe\\uffff]")
MOST_DOTS = 400  # of a small picture
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def plain(text: str) -> str:
    """The text with U+FFFD for what a terminal or a browser would obey or
    stumble over instead of showing it; lines stay."""
    return _UNSHOWN.sub("\ufffd", text)


def number(value: Any) -> str:
    """Four digits are what an eye compares; other values as they are."""
    return "%.4g" % value if isinstance(value, float) else str(value)


def params(values: Mapping[str, Any], quoted: bool = False) -> str:
    """learning_rate=0.00079 optimizer=adam"""
    return " ".join(
        "%s=%s" % (name, repr(value) if quoted and isinstance(value, str)
                   else number(value)) for name, value in values.items())


def moment(ms: Any) -> datetime.datetime:
    """The server's milliseconds since 1970 as a time in UTC."""
    return datetime.datetime.fromtimestamp(int(ms) / 1000,
                                           datetime.timezone.utc)


def seconds(duration: Union[str, float]) -> float:
    """Of 90, "90s", "1h30m". ValueError for other texts."""
    if isinstance(duration, (int, float)):
        return duration
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|[smhd])", duration)
    if not parts or "".join(a + b for a, b in parts) != duration:
        raise ValueError('a time is seconds, or a text such as "90s" or '
                         '"1h30m": %r' % duration)
    return sum(float(amount) * _UNITS[unit] for amount, unit in parts)


def spark(points: Sequence[Tuple[float, float]],
          best: Sequence[Tuple[float, float]] = ()) -> str:
    """A small picture: a dot for each point, a line through `best`. Its dots
    have the colour of the text around it, so that it is seen on a light and
    on a dark background. Empty without two finite points."""
    points = [point for point in points if math.isfinite(point[1])]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    if len(points) < 2:
        return ""
    span = [(min(xs), max(xs) - min(xs) or 1.0),
            (min(ys), max(ys) / 2 - min(ys) / 2 or 1.0)]

    def place(point: Tuple[float, float]) -> Tuple[float, float]:
        return (4 + 192 * (point[0] - span[0][0]) / span[0][1],
                36 - 32 * (point[1] / 2 - span[1][0] / 2) / span[1][1])
    dots = "".join('<circle cx="%.1f" cy="%.1f" r="1.5"/>' % place(point)
                   for point in points[::len(points) // MOST_DOTS + 1])
    corners = [point for i, point in enumerate(best) if i in (
        0, len(best) - 1) or not best[i - 1][1] == point[1] == best[i + 1][1]]
    line = " ".join("%.1f,%.1f" % place(point) for point in corners)
    return ('<svg width="200" height="40" fill="currentColor">%s<polyline '
            'points="%s" fill="none" stroke="#d1660f" stroke-width="1.5"/>'
            '</svg>' % (dots, line))


def table(title: str, rows: Sequence[Tuple[str, str]]) -> str:
    """A card. `rows` are pairs of text and HTML; the text is escaped here.
    No script and no style sheet, so that every viewer shows it."""
    lines = ["<table><tr><th colspan=2>%s</th></tr>" % html.escape(title)]
    lines += ["<tr><td>%s</td><td>%s</td></tr>" % (html.escape(name), cell)
              for name, cell in rows]
    return plain("\n".join(lines) + "</table>")
