"""The search space of a study, as create_study() takes it."""
from typing import (Any, Callable, Dict, Iterable, List, Mapping, Optional,
                    Sequence, Tuple, Union)

Label = Union[str, float]
When = Mapping[str, Union[Label, Sequence[Label]]]

_LINEAR, _LOG, _REVERSE_LOG = None, "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE"


class Parameter:
    """One of Double, Integer, Discrete and Categorical.

    `when={"optimizer": "sgd"}` makes it exist only while the parameter
    `optimizer` has that value, or one of the values of a list.
    """

    kind = ""  # the member of Vertex's ParameterSpec that holds `values`

    def __init__(self, name: str, values: Dict[str, Any], default: Any,
                 scale: Optional[str], when: Optional[When]):
        if when is not None and len(when) != 1:
            raise ValueError("%s: `when` names one parameter" % name)
        if default is not None:
            values["defaultValue"] = default
        self.name = name
        self.when = dict(when or {})
        self._values = values
        self._scale = scale

    def to_vertex(self) -> Dict[str, Any]:
        """A ParameterSpec of Vertex AI, without its children."""
        spec: Dict[str, Any] = {"parameterId": self.name,
                                self.kind: self._values}
        if self._scale is not None:
            spec["scaleType"] = self._scale
        return spec

    def __repr__(self) -> str:
        return "%s(%r, %s)" % (type(self).__name__, self.name, ", ".join(
            "%s=%r" % item for item in self._values.items()))


class Double(Parameter):
    """A real number between `min` and `max`, both included.

    `log` searches its logarithm; `reverse_log` is fine near `max`.
    """

    kind = "doubleValueSpec"

    def __init__(self, name: str, min: float, max: float, log: bool = False,
                 reverse_log: bool = False, default: Optional[float] = None,
                 when: Optional[When] = None):
        super().__init__(name, {"minValue": float(min),
                                "maxValue": float(max)}, default,
                         _scale_of(name, log, reverse_log), when)


class Integer(Parameter):
    """A whole number between `min` and `max`, both included."""

    kind = "integerValueSpec"

    def __init__(self, name: str, min: int, max: int, log: bool = False,
                 reverse_log: bool = False, default: Optional[int] = None,
                 when: Optional[When] = None):
        # int64 is text in Google's JSON.
        super().__init__(name, {"minValue": str(int(min)),
                                "maxValue": str(int(max))},
                         None if default is None else str(int(default)),
                         _scale_of(name, log, reverse_log), when)


class Discrete(Parameter):
    """One of some numbers."""

    kind = "discreteValueSpec"

    def __init__(self, name: str, values: Iterable[float], log: bool = False,
                 default: Optional[float] = None,
                 when: Optional[When] = None):
        super().__init__(name, {"values": sorted(float(v) for v in values)},
                         default, _scale_of(name, log, False), when)


class Categorical(Parameter):
    """One of some texts without an order."""

    kind = "categoricalValueSpec"

    def __init__(self, name: str, values: Iterable[str],
                 default: Optional[str] = None, when: Optional[When] = None):
        super().__init__(name, {"values": [str(v) for v in values]}, default,
                         _LINEAR, when)


def _scale_of(name: str, log: bool, reverse_log: bool) -> Optional[str]:
    if log and reverse_log:
        raise ValueError("%s: log and reverse_log exclude each other" % name)
    return _LOG if log else _REVERSE_LOG if reverse_log else _LINEAR


_CONDITIONS: Dict[str, Tuple[str, Callable[[Any], Label]]] = {
    "categoricalValueSpec": ("parentCategoricalValues", str),
    "integerValueSpec": ("parentIntValues", lambda value: str(int(value))),
    "discreteValueSpec": ("parentDiscreteValues", float),
}


def _condition(child: Parameter, parent: Parameter) -> Dict[str, Any]:
    if parent.kind not in _CONDITIONS:
        raise ValueError("%s depends on %s, which has no list of values" %
                         (child.name, parent.name))
    member, convert = _CONDITIONS[parent.kind]
    values = child.when[parent.name]
    if isinstance(values, (str, int, float)):
        values = [values]
    return {member: {"values": [convert(value) for value in values]}}


def to_vertex(parameters: Sequence[Parameter]) -> List[Dict[str, Any]]:
    """The parameters of a StudySpec; Vertex keeps a child in its parent.

    ValueError when a condition names no parameter that can be a parent.
    """
    for parameter in parameters:
        if not isinstance(parameter, Parameter):
            raise TypeError("a parameter is a Double, Integer, Discrete or "
                            "Categorical: %r" % (parameter,))
    by_name = {parameter.name: parameter for parameter in parameters}
    specs = {name: parameter.to_vertex()
             for name, parameter in by_name.items()}
    if len(by_name) != len(parameters):
        raise ValueError("two parameters have the same name")
    roots = []
    for child in parameters:
        if not child.when:
            roots.append(specs[child.name])
            continue
        name = next(iter(child.when))
        if name not in by_name:
            raise ValueError("%s depends on %s, which is no parameter" %
                             (child.name, name))
        entry = _condition(child, by_name[name])
        entry["parameterSpec"] = specs[child.name]
        specs[name].setdefault("conditionalParameterSpecs", []).append(entry)
    return roots
