"""Axes of pictures: from values to pixels, and the values written at them."""
import math
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from hypertune import show

Tick = Tuple[float, str]

MANY_DECADES = 3  # from here on results are shown by their logarithm
_LOG = "UNIT_LOG_SCALE"
_ROOM = 0.04  # between the outermost values and the ends, of the whole


class Axis(NamedTuple):
    """From `low` at the pixel `start` to `high` at the pixel `end`."""
    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: List[Tick]

    def at(self, value: float) -> float:
        """The pixel of a value; of one beyond an end, that end."""
        value = min(max(value, self.low), self.high)
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low)
        return self.start + share * (self.end - self.start)


def spans_decades(values: Sequence[float]) -> bool:
    """Would all but the largest values look the same on a linear axis?"""
    return (bool(values) and min(values) > 0 and
            math.log10(max(values)) - math.log10(min(values)) >= MANY_DECADES)


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
    form = "%.4g" if step >= 1e6 or decimals > 4 else "%%.%df" % decimals
    return [(k * step, form % (k * step)) for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> List[Tick]:
    first = math.ceil(math.log10(low) - 1e-9)
    last = math.floor(math.log10(high) + 1e-9)
    if last - first < 2:
        fine = [m * 10.0 ** k for k in range(first - 1, last + 1)
                for m in (1, 2, 5) if low <= m * 10.0 ** k <= high]
        if len(fine) < 2:
            return _linear_ticks(low, high, False, 3)
        return [(value, show.number(value)) for value in fine]
    stride = (last - first) // 6 + 1
    return [(10.0 ** k, "%g" % 10.0 ** k)
            for k in range(first, last + 1, stride)]


def _logarithmic(low: float, high: float, start: float, end: float,
                 tight: bool) -> Axis:
    if not tight:
        room = (high / low) ** _ROOM if high / low < math.inf else 1.0
        low, high = low / room, high * room
    return Axis(low, high, start, end, True, _log_ticks(low, high))


def axis(values: Sequence[float], start: float, end: float,
         log: Optional[bool] = None, whole: bool = False,
         tight: bool = False) -> Axis:
    """An axis on which all values have a place, with about five ticks.

    `log` by default when they span decades; `tight` is without room beside
    the outermost values; `whole` has ticks at whole numbers only, about ten.
    """
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if log is None:
        log = spans_decades(values)
    if log and 0 < low < high:
        return _logarithmic(low, high, start, end, tight)
    if low == high:
        room = abs(low) * 0.1 or 1.0
        low, high = low - room, high + room
    elif not (whole or tight):
        room = (high - low) * _ROOM
        low, high = low - room, high + room
    return Axis(low, high, start, end, False,
                _linear_ticks(low, high, whole, 10 if whole else 5))


class Ruler:
    """The axis of one parameter, of numbers or of categories."""

    def __init__(self, spec: Mapping[str, Any], values: Sequence[Any],
                 start: float, end: float):
        """`spec` as in a StudySpec; `values` have a place on the axis."""
        self.name: str = spec["parameterId"]
        self._labels: List[str] = []
        if "categoricalValueSpec" in spec:
            self._labels = list(spec["categoricalValueSpec"]["values"])
            self.axis = Axis(-0.5, len(self._labels) - 0.5, start, end, False,
                             [(float(i), label)
                              for i, label in enumerate(self._labels)])
        else:
            self.axis = axis([float(value) for value in values], start, end,
                             log=spec.get("scaleType") == _LOG,
                             whole="integerValueSpec" in spec, tight=True)

    @property
    def has_order(self) -> bool:
        """Is there something between two values?"""
        return not self._labels

    def at(self, value: Any) -> float:
        """The pixel of a value."""
        return self.axis.at(float(self._labels.index(value) if self._labels
                                  else value))

    def cells(self, values: Sequence[Any]) -> List[Tuple[float, float]]:
        """From where to where each value stands: up to the middles between
        neighbours."""
        at = [self.at(value) for value in values]
        if self._labels:
            half = (self.axis.end - self.axis.start) / len(self._labels) / 2
            return [(place - half, place + half) for place in at]
        if len(at) == 1:
            return [(self.axis.start, self.axis.end)]
        middles = [(a + b) / 2 for a, b in zip(at, at[1:])]
        bounds = [at[0]] + middles + [at[-1]]
        return list(zip(bounds, bounds[1:]))
