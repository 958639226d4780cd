"""Optuna's integrations; the samplers among them are this server's search."""
from typing import Any, List

from hypertune.optuna import modules
from hypertune.optuna.samplers import renamed

__path__: List[str] = []  # modules inside it are Optuna's
_rest = modules.rest_of(__name__)

for _name in ("BoTorchSampler", "CmaEsSampler", "PyCmaSampler", "SkoptSampler"):
    globals()[_name] = renamed(_name, __name__)


def __getattr__(name: str) -> Any:
    return _rest(name)
