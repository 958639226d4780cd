"""Values as a person reads them: short numbers, words, times, HTML cells."""
import datetime
import html
import re
from typing import Any, Mapping, Sequence, Tuple, Union

# Control characters, changes of the direction of writing, half characters.
_UNSHOWN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f"
                      "\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff"
                      "\\ufffe\\uffff]")
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


def table(title: str, rows: Sequence[Tuple[str, str]]) -> str:
    """A card. `rows` are pairs of text and HTML; the text is escaped here.
    No script and no style sheet, so that every viewer shows it."""
    lines = ["<table><tr><th colspan=2>%s</th></tr>" % html.escape(title)]
    lines += ["<tr><td>%s</td><td>%s</td></tr>" % (html.escape(name), cell)
              for name, cell in rows]
    return plain("\n".join(lines) + "</table>")
