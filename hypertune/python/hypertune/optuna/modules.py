"""Optuna's modules under our name: hypertune.optuna.trial is optuna.trial."""
import importlib
import importlib.util
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Optional

_OURS, _THEIRS = "hypertune.optuna", "optuna"


def _theirs(name: str) -> str:
    return _THEIRS + name[len(_OURS):]


def _is_own(rest: str) -> bool:
    """Is there a file of ours for `hypertune.optuna.REST`?"""
    return os.path.exists(os.path.join(os.path.dirname(__file__),
                                       rest + ".py"))


class _Finder(MetaPathFinder, Loader):
    """Finds the modules that are Optuna's alone. It comes before the finder of
    files, which would load a second copy of a module inside one of them."""

    def find_spec(self, fullname: str, path: Any = None,
                  target: Optional[ModuleType] = None
                  ) -> Optional[ModuleSpec]:
        if not fullname.startswith(_OURS + ".") or _is_own(
                fullname[len(_OURS) + 1:]):
            return None
        found = importlib.util.find_spec(_theirs(fullname))
        return found and ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> None:
        return None  # an empty one, which the next line replaces

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(
            _theirs(module.__name__))


def install() -> None:
    """From here on `import hypertune.optuna.trial` works."""
    sys.meta_path.insert(0, _Finder())


def rest_of(name: str) -> Callable[[str], Any]:
    """The `__getattr__` of our module of that name: what it lacks is taken
    from Optuna's."""
    return lambda attribute: getattr(importlib.import_module(_theirs(name)),
                                     attribute)
