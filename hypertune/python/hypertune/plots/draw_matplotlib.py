"""A picture by matplotlib, as SVG; without pyplot, so that a notebook's own
figures and settings stay as they are."""
import io
import re
import warnings
from typing import Any, List
from xml.sax.saxutils import escape

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from hypertune.plots.marks import GRID, Axis, Mark, Picture

if not hasattr(matplotlib, "__version_info__"):
    raise ImportError("matplotlib is older than 3.5")

_DPI = 96  # of browsers


def _words(text: str) -> str:
    """Text in which nothing is a formula."""
    return text.replace("$", r"\$")


def _set_up(axis: Any, scale: Any, side: Axis) -> None:
    """`axis` is that of matplotlib, `scale` sets its scale."""
    axis.set_label_text(_words(side.name))
    if side.log:
        scale("log")
    if side.ticks is not None:
        axis.set_ticks([at for at, _ in side.ticks],
                       labels=[_words(label) for _, label in side.ticks])
    elif side.whole:
        axis.set_major_locator(MaxNLocator(integer=True))


def _draw(axes: Any, mark: Mark, name: str) -> None:
    if mark.kind == "text":
        axes.text(mark.xs[0], mark.ys[0], _words(mark.tips[0]),
                  color=mark.color, ha="center", va="center", zorder=4,
                  bbox={"color": "white", "alpha": 0.7, "pad": 1})
    elif mark.kind == "points":
        axes.scatter(mark.xs, mark.ys, s=(2 * mark.size) ** 2, c=mark.color,
                     alpha=mark.opacity, linewidths=0, zorder=3, gid=name)
    elif mark.kind == "box":
        (left, right), (low, high) = sorted(mark.xs), sorted(mark.ys)
        axes.add_patch(Rectangle((left, low), right - left, high - low,
                                 color=mark.color, linewidth=0, gid=name,
                                 antialiased=False))
        axes.update_datalim([(left, low), (right, high)])
    elif mark.kind == "area":
        axes.fill(mark.xs, mark.ys, color=mark.color, alpha=mark.opacity,
                  linewidth=0)
    else:
        axes.plot(mark.xs, mark.ys, color=mark.color, linewidth=mark.size,
                  alpha=mark.opacity, gid=name)


def _with_tips(svg: str, marks: List[Mark]) -> str:
    """What a mark is, shown by a browser under the pointer."""
    def tell(group: "re.Match[str]") -> str:
        tips = ["<title>%s</title>" % escape(tip)
                for tip in marks[int(group.group(2))].tips]
        body = group.group(3)
        if len(tips) == 1:
            return group.group(1) + tips[0] + body
        if body.count("<use ") == len(tips):
            each = iter(tips)
            body = re.sub(r"(<use [^>]*)/>",
                          lambda use: use.group(1) + ">" + next(each) +
                          "</use>", body)
        return group.group(1) + body
    return re.sub(r'(<g id="mark(\d+)">)(.*?)(?=<g id="|\Z)', tell, svg,
                  flags=re.DOTALL)


def draw(picture: Picture) -> str:
    """The picture's SVG text."""
    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "font.size": 9}), \
            warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that its fonts lack
        figure = Figure((picture.width / _DPI, picture.height / _DPI),
                        layout="constrained")
        axes = figure.add_subplot()
        _set_up(axes.xaxis, axes.set_xscale, picture.x)
        _set_up(axes.yaxis, axes.set_yscale, picture.y)
        for i, mark in enumerate(picture.marks):
            _draw(axes, mark, "mark%d" % i)
        axes.autoscale_view()
        axes.grid(axis="y", color=GRID)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(_words(picture.title), loc="left", fontsize=11)
        if picture.legend:
            axes.legend(handles=[Patch(color=color, label=_words(words))
                                 for words, color in picture.legend],
                        fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
        figure.savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()
    return _with_tips(svg[svg.index("<svg "):], picture.marks)
