"""The search space of a study, as create_study() takes it."""
import re
from typing import (Any, Dict, Iterable, Mapping, Optional, Sequence,
                    Union)

Label = Union[str, float]
When = Mapping[str, Union[Label, Sequence[Label]]]


class Parameter:
    """One of Double, Integer, Discrete and Categorical.

    `when={"optimizer": "sgd"}` makes it exist only while the parameter
    `optimizer` has that value, or one of the values of a list; of several
    conditions all must hold.
    """

    kind = ""  # its `type` in a spec

    def __init__(self, name: str, values: Dict[str, Any], default: Any,
                 when: Optional[When], log: bool = False,
                 reverse_log: bool = False):
        if log and reverse_log:
            raise ValueError("%s: log and reverse_log exclude each other" %
                             name)
        if log or reverse_log:
            values["scale"] = "log" if log else "reverse_log"
        if default is not None:
            values["default"] = default
        self.name = name
        self.when = dict(when or {})
        self._values = values

    def to_spec(self) -> Dict[str, Any]:
        """The parameter as a spec file has it below its name."""
        spec: Dict[str, Any] = {"type": self.kind, **self._values}
        if self.when:
            spec["when"] = {
                parent: values if isinstance(values, (str, int, float))
                else list(values) for parent, values in self.when.items()}
        return spec

    def __repr__(self) -> str:
        return "%s(%r, %s)" % (type(self).__name__, self.name, ", ".join(
            "%s=%r" % item for item in self._values.items()))


class Double(Parameter):
    """A real number between `min` and `max`, both included, or only those
    that lie whole steps above `min`.

    `log` searches its logarithm; `reverse_log` is fine near `max`.
    """

    kind = "double"

    def __init__(self, name: str, min: float, max: float, log: bool = False,
                 reverse_log: bool = False, default: Optional[float] = None,
                 when: Optional[When] = None, step: Optional[float] = None):
        values: Dict[str, Any] = {"min": float(min), "max": float(max)}
        if step is not None:
            values["step"] = float(step)
        super().__init__(name, values, default, when, log, reverse_log)


class Integer(Parameter):
    """A whole number between `min` and `max`, both included, or only those
    that lie whole steps above `min`."""

    kind = "integer"

    def __init__(self, name: str, min: int, max: int, log: bool = False,
                 reverse_log: bool = False, default: Optional[int] = None,
                 when: Optional[When] = None, step: Optional[int] = None):
        values: Dict[str, Any] = {"min": int(min), "max": int(max)}
        if step is not None:
            values["step"] = int(step)
        super().__init__(name, values,
                         None if default is None else int(default), when, log,
                         reverse_log)


class Discrete(Parameter):
    """One of some numbers."""

    kind = "discrete"

    def __init__(self, name: str, values: Iterable[float], log: bool = False,
                 default: Optional[float] = None,
                 when: Optional[When] = None):
        super().__init__(name, {"values": sorted(float(v) for v in values)},
                         default, when, log)


class Categorical(Parameter):
    """One of some texts without an order."""

    kind = "categorical"

    def __init__(self, name: str, values: Iterable[str],
                 default: Optional[str] = None, when: Optional[When] = None):
        labels = list(values)
        for label in labels:
            if not isinstance(label, str):
                raise TypeError("%s: %r is no text; Discrete has numbers" %
                                (name, label))
        super().__init__(name, {"values": labels}, default, when)


Params = Union[Sequence[Parameter], Mapping[str, Any]]

# The words before a range, as in --param of the command line.
_KINDS: Dict[str, Dict[str, str]] = {
    "log:": {"scale": "log"}, "rlog:": {"scale": "reverse_log"},
    "linear:": {"scale": "linear"}, "int:": {"type": "integer"},
    "real:": {"type": "double"}, "": {}}


def _number(name: str, text: str, word: str) -> Union[int, float]:
    try:
        return int(word) if re.fullmatch(r"[-+]?\d+", word) else float(word)
    except ValueError:
        raise ValueError("%s: %r is no range such as 1..8, 0..1:0.25 or "
                         "log:1e-5..0.1" % (name, text)) from None


def _range(name: str, text: str) -> Dict[str, Any]:
    """{"type", "min", "max", ...} of "log:1e-5..0.1"."""
    kind = next(word for word in _KINDS if text.startswith(word))
    low, rest = text[len(kind):].split("..", 1)
    numbers = dict(zip(("min", "max", "step"), (
        _number(name, text, word) for word in [low] + rest.split(":", 1))))
    whole = all(isinstance(number, int) for number in numbers.values())
    return {"type": "integer" if whole else "double", **numbers,
            **_KINDS[kind]}


def _described(name: str, value: Any) -> Any:
    if isinstance(value, Parameter):
        raise TypeError("%s: its name is in the %s already; give a list of "
                        "parameters" % (name, type(value).__name__))
    if isinstance(value, str) and ".." in value:
        return _range(name, value)
    if isinstance(value, (tuple, range)):
        value = list(value)
    _check_choices(name, value.get("values") if isinstance(value, Mapping)
                   else value)
    if _is_number(value):  # a constant, which a spec file has as text
        return {"type": "discrete", "values": [value]}
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_choices(name: str, value: Any) -> None:
    """A trial has texts and numbers: of other choices it would have the text,
    such as "false", which Python takes as true."""
    choices = value if isinstance(value, list) else [value]
    if any(isinstance(choice, bool) for choice in choices):
        raise TypeError("%s: True and False are no values of a parameter; "
                        "take [0, 1], or texts" % name)
    if any(map(_is_number, choices)) and not all(map(_is_number, choices)):
        raise TypeError("%s: choices are numbers or texts, not both: %r" %
                        (name, choices))


def to_spec(params: Params) -> Dict[str, Any]:
    """The member `parameters` of a spec: by name, in this order.

    A mapping has what a spec file has, or ranges as texts: {"lr":
    "log:1e-5..0.1", "layers": {"type": "integer", "min": 1, "max": 8},
    "opt": ["adam", "sgd"]}.
    """
    if isinstance(params, Mapping):
        return {name: _described(name, value)
                for name, value in params.items()}
    for parameter in params:
        if not isinstance(parameter, Parameter):
            raise TypeError("a parameter is a Double, Integer, Discrete or "
                            "Categorical: %r" % (parameter,))
    specs = {parameter.name: parameter.to_spec() for parameter in params}
    if len(specs) != len(params):
        raise ValueError("two parameters have the same name")
    return specs
