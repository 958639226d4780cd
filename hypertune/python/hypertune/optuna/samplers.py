"""Optuna's samplers, where this server's search takes their place.

`TPESampler`, `GPSampler` and the others of _OURS take the arguments of Optuna's
and are a hypertune.optuna.Sampler. All others are Optuna's own.
"""
import inspect
import warnings
from typing import Any, Dict, List, Optional

import optuna.samplers

from hypertune.optuna import modules
from hypertune.optuna.sampler import Sampler

__path__: List[str] = []  # modules inside it are Optuna's
__getattr__ = modules.rest_of(__name__)

_OURS = {"TPESampler": "bayesian", "MOTPESampler": "bayesian",
         "GPSampler": "bayesian", "CmaEsSampler": "bayesian",
         "NSGAIISampler": "bayesian", "NSGAIIISampler": "bayesian",
         "RandomSampler": "random"}
_HEEDED = ("seed", "constraints_func", "independent_sampler")


class _Renamed(Sampler):
    """Takes the arguments of one of Optuna's samplers, and heeds _HEEDED."""
    _signature: Optional[inspect.Signature] = None  # None: keywords of any name
    _search = "bayesian"

    def __init__(self, *given: Any, **named: Any):
        if self._signature is not None:
            named = dict(self._signature.bind(*given, **named).arguments)
        elif given:
            raise TypeError("%s takes its arguments by name" %
                            type(self).__name__)
        idle = sorted(set(named) - set(_HEEDED))
        if idle:
            warnings.warn("%s: the points come from the server's search, where "
                          "%s no effect" % (type(self).__name__, ", ".join(
                              idle) + (" has" if len(idle) == 1 else " have")),
                          stacklevel=2)
        heeded: Dict[str, Any] = {name: named[name] for name in _HEEDED
                                  if name in named}
        super().__init__(algorithm=self._search, **heeded)


def renamed(name: str, home: str, theirs: Any = None) -> Any:
    """Our sampler under Optuna's name in module `home`; the arguments are those
    of the class `theirs`, any where it is None."""
    search = _OURS.get(name, "bayesian")
    body: Dict[str, Any] = {
        "__doc__": "The server's %s search, called as Optuna's %s." %
                   (search, name),
        "__module__": home, "_search": search}
    if theirs is not None:
        body["_signature"] = inspect.signature(theirs)
        # such as TPESampler.hyperopt_parameters()
        body.update((key, value) for key, value in vars(theirs).items()
                    if isinstance(value, staticmethod) and key[0] != "_")
    return type(name, (_Renamed,), body)


globals().update((name, renamed(name, __name__, getattr(optuna.samplers, name)))
                 for name in _OURS if hasattr(optuna.samplers, name))
