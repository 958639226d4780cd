"""Optuna's distributions in the words of a StudySpec, and values back."""
import json
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from optuna.distributions import (BaseDistribution, CategoricalDistribution,
                                  FloatDistribution, IntDistribution,
                                  distribution_to_json)

_LOG = "UNIT_LOG_SCALE"
_MOST_NAME, _MOST_LABEL = 128, 1024  # bytes, of the server


def _fresh(text: str, taken: Set[str]) -> str:
    """The text, or with a number behind it when it is taken."""
    found, number = text, 1
    while found in taken:
        number += 1
        found = "%s-%d" % (text, number)
    taken.add(found)
    return found


def safe_name(name: str, taken: Set[str]) -> str:
    """A parameter's name that the server accepts, not among those taken.

    Optuna's are any text, ours letters, digits and _ . / -.
    """
    text = re.sub(r"[^A-Za-z0-9_./-]+", "_", name)[:_MOST_NAME - 8]
    return _fresh(text.lstrip("-") or "_", taken)


def server_name(name: str, names: Dict[str, str]) -> str:
    """The parameter's name on the server, in the table of all of the study."""
    if name not in names:
        names[name] = safe_name(name, set(names.values()))
    return names[name]


def labels(choices: Sequence[Any]) -> List[str]:
    """A text for each choice, all different: None, True and 1 are choices."""
    taken: Set[str] = set()
    return [_fresh((choice if isinstance(choice, str) else json.dumps(
        choice, default=str)).encode()[:_MOST_LABEL - 8].decode(
            errors="ignore").strip() or '""', taken) for choice in choices]


class Parameter:
    """One of Optuna's parameters as the server has it."""

    def __init__(self, name: str, distribution: BaseDistribution):
        self.name = name  # the server's
        self.distribution = distribution
        self._labels: List[str] = []
        if isinstance(distribution, CategoricalDistribution):
            self._labels = labels(distribution.choices)

    def to_vertex(self) -> Dict[str, Any]:
        """A ParameterSpec."""
        it = self.distribution
        spec: Dict[str, Any] = {"parameterId": self.name}
        if isinstance(it, FloatDistribution):
            spec["doubleValueSpec"] = {"minValue": it.low,
                                       "maxValue": it.high}
        elif isinstance(it, IntDistribution):
            spec["integerValueSpec"] = {"minValue": str(it.low),
                                        "maxValue": str(it.high)}
        else:
            spec["categoricalValueSpec"] = {"values": self._labels}
        if getattr(it, "log", False):
            spec["scaleType"] = _LOG
        return spec

    @property
    def step(self) -> Any:
        """The distance of neighbouring values; None when there is none."""
        step = getattr(self.distribution, "step", None)
        is_whole = isinstance(self.distribution, IntDistribution)
        return None if is_whole and step == 1 else step

    def wire_value(self, value: Any) -> Any:
        """A value of Optuna's as the server takes it."""
        if isinstance(self.distribution, CategoricalDistribution):
            index = self.distribution.to_internal_repr(value)
            return self._labels[int(index)]
        return value

    def asked(self, value: Any) -> Any:
        """A value of the server's as Optuna takes it."""
        it: Any = self.distribution
        if isinstance(it, CategoricalDistribution):
            return it.choices[self._labels.index(value)]
        if isinstance(it, IntDistribution):
            return int(value)
        return min(max(float(value), it.low), it.high)


class Space:
    """A search space of Optuna's; names that the server lacks are replaced.

    `names` has the server's name of every parameter of the study, and gets
    those of new ones.
    """

    def __init__(self, distributions: Mapping[str, BaseDistribution],
                 names: Dict[str, str]):
        self.parameters = {
            name: Parameter(server_name(name, names), distribution)
            for name, distribution in sorted(distributions.items())}

    def to_vertex(self) -> List[Dict[str, Any]]:
        """The parameters of a StudySpec."""
        return [one.to_vertex() for one in self.parameters.values()]

    def ranges(self) -> Set[Tuple[str, str]]:
        """Its parameters in Optuna's words, to compare."""
        return {(one.name, distribution_to_json(one.distribution))
                for one in self.parameters.values()}

    def search(self, algorithm: Optional[str],
               seed: Optional[int]) -> Dict[str, Any]:
        """What `trials/T:suggest` is asked for: all but the metrics of a
        Study, with Google's name of the algorithm."""
        spec: Dict[str, Any] = {"parameters": self.to_vertex()}
        own: Dict[str, Any] = {}
        steps = {one.name: {"step": one.step}
                 for one in self.parameters.values() if one.step is not None}
        if algorithm is not None:
            spec["algorithm"] = algorithm
        if seed is not None:
            own["seed"] = str(int(seed))
        if steps:
            own["parameters"] = steps
        return {"studySpec": spec, "hypertune": own}

    def wire_values(self, params: Mapping[str, Any]) -> Dict[str, Any]:
        """The values in the ranges of the space, as the server takes them."""
        return {one.name: one.wire_value(params[name])
                for name, one in self.parameters.items()
                if name in params and _contains(one.distribution,
                                                params[name])}

    def asked(self, params: Mapping[str, Any]) -> Dict[str, Any]:
        """The server's values under Optuna's names; {} when one is missing."""
        if any(one.name not in params for one in self.parameters.values()):
            return {}
        return {name: one.asked(params[one.name])
                for name, one in self.parameters.items()}


def _contains(distribution: BaseDistribution, value: Any) -> bool:
    try:
        return bool(distribution._contains(
            distribution.to_internal_repr(value)))
    except (TypeError, ValueError):
        return False
