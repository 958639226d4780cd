"""Conditions that choose trials, in the words of `hypertune trials --where`."""
import operator
import re
from typing import Any, Callable, Iterable, List, NamedTuple

_OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt,
              "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_CONDITION = re.compile(r"([^<>=!]+)(<=|>=|!=|=|<|>)(.+)$")


class Condition(NamedTuple):
    """`key` is a parameter, a metric, or objective, value, step or state."""
    key: str
    compare: Callable[[Any, Any], bool]
    value: str

    def holds(self, actual: Any) -> bool:
        """Numbers compare as numbers, all else as text without case."""
        if actual is None:
            return False
        try:
            pair = float(actual), float(self.value)
        except ValueError:
            return self.compare(str(actual).casefold(), self.value.casefold())
        return self.compare(*pair)


def parse(text: str) -> List[Condition]:
    """The conditions of "dropout<0.3 optimizer=adam"; all must hold.

    ValueError when one is not a name, an operator and a value.
    """
    conditions = []
    for word in text.split():
        match = _CONDITION.match(word)
        if match is None:
            raise ValueError("a condition is NAME, one of = != < <= > >=, and "
                             "a value; %r is not" % word)
        conditions.append(Condition(match.group(1),
                                    _OPERATORS[match.group(2)],
                                    match.group(3)))
    return conditions


def check_keys(conditions: Iterable[Condition], known: List[str]) -> None:
    """ValueError, with the names there are, when a key is none of them."""
    for condition in conditions:
        if condition.key not in known:
            raise ValueError("no parameter or metric %r; there are %s" %
                             (condition.key, ", ".join(known)))
