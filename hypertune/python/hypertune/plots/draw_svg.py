"""A picture as plain SVG, for where matplotlib is not installed: marks in a
frame with the ends of both axes. All text is escaped."""
import math
from typing import Any, Callable, List, Sequence, Tuple
from xml.sax.saxutils import escape, quoteattr

from hypertune import show
from hypertune.plots.marks import FAINT, GRID, INK, Axis, Mark, Picture

_LEFT, _RIGHT, _TOP, _BOTTOM = 110, 20, 56, 48


def _element(tag: str, inside: str = "", **attributes: Any) -> str:
    words = "".join(" %s=%s" % (
        name.replace("_", "-"),
        quoteattr("%.1f" % value if isinstance(value, float) else str(value)))
        for name, value in attributes.items())
    return "<%s%s>%s</%s>" % (tag, words, inside, tag)


def _text(x: float, y: float, words: str, anchor: str = "middle",
          size: int = 11, **attributes: Any) -> str:
    return _element("text", escape(words), x=x, y=y, text_anchor=anchor,
                    font_size=size, **attributes)


def _scale(axis: Axis, values: Sequence[float], start: float, end: float
           ) -> Tuple[Callable[[float], float], List[Tuple[float, str]]]:
    """From a value to its pixel, and the ticks."""
    ends = sorted({min(values), max(values)})
    ticks = [(value, show.number(value)) for value in ends]
    if axis.ticks is not None:
        ticks = axis.ticks
        ends = sorted(ends + [value for value, _ in ticks])
    low, high = axis.linear(ends[0]), axis.linear(ends[-1])
    room = (high - low) * 0.02 or abs(low) * 0.1 or 1.0
    low, high = low - room, high + room

    def at(value: float) -> float:
        return start + (axis.linear(value) - low) / (high - low) * (end -
                                                                    start)
    return at, ticks


def _mark(mark: Mark, xs: Sequence[float], ys: Sequence[float]) -> str:
    tips = ["<title>%s</title>" % escape(tip) for tip in mark.tips]
    if mark.kind == "text":
        # The white rim keeps it readable on top of lines.
        return _text(xs[0], ys[0] + 4, mark.tips[0], fill=mark.color,
                     stroke="white", stroke_width=3, paint_order="stroke")
    if mark.kind == "points":
        return "\n".join(_element("circle", tip, cx=x, cy=y, r=mark.size,
                                  fill=mark.color, fill_opacity=mark.opacity)
                         for x, y, tip in zip(xs, ys,
                                              tips or [""] * len(xs)))
    tip = "".join(tips)
    if mark.kind == "box":
        return _element("rect", tip, x=min(xs), y=min(ys), fill=mark.color,
                        width=max(1.0, abs(xs[1] - xs[0])),
                        height=max(1.0, abs(ys[1] - ys[0])),
                        shape_rendering="crispEdges")
    points = " ".join("%.1f,%.1f" % point for point in zip(xs, ys))
    if mark.kind == "area":
        return _element("polyline", tip, points=points, fill=mark.color,
                        fill_opacity=mark.opacity)
    return _element("polyline", tip, points=points, fill="none",
                    stroke=mark.color, stroke_width=mark.size,
                    stroke_opacity=mark.opacity)


def draw(picture: Picture) -> str:
    """The picture's SVG text."""
    width, height = picture.width, picture.height
    right, bottom = width - _RIGHT, height - _BOTTOM
    x, x_ticks = _scale(picture.x, [v for m in picture.marks for v in m.xs],
                        _LEFT, right)
    y, y_ticks = _scale(picture.y, [v for m in picture.marks for v in m.ys],
                        bottom, _TOP)
    parts = [_element("rect", width=width, height=height, fill="white"),
             _element("line", x1=_LEFT, y1=bottom, x2=right, y2=bottom,
                      stroke=FAINT)]
    # As many labels as have a place beside each other.
    room = (right - _LEFT) / max(len(x_ticks), 1)
    for value, label in x_ticks[::math.ceil(70 / room)]:
        parts.append(_text(x(value), bottom + 17, label, fill=FAINT))
    for value, label in y_ticks:
        parts += [_element("line", x1=_LEFT, y1=y(value), x2=right,
                           y2=y(value), stroke=GRID),
                  _text(_LEFT - 8, y(value) + 4, label, "end", fill=FAINT)]
    parts += [_mark(mark, [x(v) for v in mark.xs], [y(v) for v in mark.ys])
              for mark in picture.marks]
    parts.append(_text(_LEFT, 22, picture.title, "start", 14, fill=INK,
                       font_weight="bold"))
    if picture.x.name:
        parts.append(_text((_LEFT + right) / 2, height - 10, picture.x.name))
    if picture.y.name:
        parts.append(_text(16, height / 2, picture.y.name, transform="rotate("
                           "-90 16 %.1f)" % (height / 2)))
    room = (right - _LEFT) / max(4, len(picture.legend))
    for i, (words, color) in enumerate(picture.legend):
        at = _LEFT + i * room
        parts += [_element("line", x1=at, y1=38, x2=at + 8, y2=38,
                           stroke=color, stroke_width=8),
                  _text(at + 12, 42, words, "start", fill=INK)]
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
            'viewBox="0 0 %d %d" font-family="sans-serif">%s</svg>' %
            (width, height, width, height, "\n".join(parts)))
