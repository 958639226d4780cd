"""The parameters of an estimator, as scikit-learn's users write them, and as
the server knows them."""
import math
import numbers
import re
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Union

from hypertune import show
from hypertune.space import (Categorical, Discrete, Double, Integer,
                             Parameter)

Given = Union[Mapping[str, Any], Sequence[Parameter]]

_MOST_LABEL = 200  # characters
_LOG_RATIO = 1000.0  # of the largest to the smallest of a list of numbers


class Space:
    """What is searched: `parameters` for the server, values() back again.

    A mapping gives each name a list of choices of any kind, a uniform,
    loguniform or randint distribution of scipy.stats, or a Parameter; a
    sequence has Parameters. TypeError and ValueError name the parameter.
    """

    def __init__(self, given: Given):
        self.parameters: List[Parameter] = []
        self._objects: Dict[str, Dict[Any, Any]] = {}
        if not isinstance(given, Mapping):
            given = {one.name if isinstance(one, Parameter) else "[%d]" % at:
                     one for at, one in enumerate(given)}
            for name, one in given.items():
                _check(isinstance(one, Parameter), name,
                       "is no Parameter of hypertune: %r" % (one,))
        for name, one in given.items():
            self.parameters.append(self._parameter(name, one))

    def values(self, params: Mapping[str, Any]) -> Dict[str, Any]:
        """A trial's parameters as the estimator takes them: the very objects
        of the lists, and whole numbers as int."""
        found = {}
        for name, value in params.items():
            if name in self._objects:
                value = self._objects[name].get(value, value)
            elif isinstance(value, float) and value.is_integer() and \
                    self._is_discrete(name):
                value = int(value)
            found[name] = value
        return found

    def _is_discrete(self, name: str) -> bool:
        return any(one.name == name and isinstance(one, Discrete)
                   for one in self.parameters)

    def _parameter(self, name: str, one: Any) -> Parameter:
        if isinstance(one, Parameter):
            _check(one.name == name, name, "is called %r" % one.name)
            return one
        if hasattr(one, "rvs"):
            return _of_distribution(name, one)
        _check(isinstance(one, Iterable) and
               not isinstance(one, (str, bytes, Mapping)), name,
               "is a list of choices, a distribution of scipy.stats or a "
               "Parameter of hypertune, not %r" % (one,))
        choices = list(one)
        _check(bool(choices), name, "has no choices")
        numeric = {float(value): value for value in choices
                   if _is_number(value)}
        if len(numeric) == len(choices):
            self._objects[name] = numeric
            low, high = min(numeric), max(numeric)
            return Discrete(name, numeric, log=0 < low * _LOG_RATIO <= high)
        self._objects[name] = dict(zip(_labels(choices), choices))
        return Categorical(name, list(self._objects[name]))


def _check(holds: bool, name: str, fault: str) -> None:
    if not holds:
        raise TypeError("param_space: %s %s" % (name, fault))


def _is_number(value: Any) -> bool:
    return (isinstance(value, numbers.Real) and not isinstance(value, bool)
            and math.isfinite(value))


def _labels(choices: Iterable[Any]) -> List[str]:
    """A text for each choice, all different, also of None and "None"."""
    taken: Dict[str, None] = {}
    for choice in choices:
        text = choice if isinstance(choice, str) else re.sub(
            " at 0x[0-9a-f]+", "", repr(choice))  # of this process alone
        text = show.plain(" ".join(text.split()))[:_MOST_LABEL] or "''"
        label, count = text, 1
        while label in taken:
            count += 1
            label = "%s (%d)" % (text, count)
        taken[label] = None
    return list(taken)


def _of_distribution(name: str, one: Any) -> Parameter:
    kind = getattr(getattr(one, "dist", None), "name", type(one).__name__)
    _check(kind in ("uniform", "loguniform", "reciprocal", "randint"), name,
           "has the distribution %s; those with bounds are uniform, loguniform"
           " and randint, else say hypertune.Double(%r, min, max)" %
           (kind, name))
    low, high = one.support()
    if kind == "randint":
        return Integer(name, low, high)
    return Double(name, low, high, log=kind != "uniform")
