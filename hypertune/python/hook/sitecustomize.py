"""Offers the package hypertune where a program has none.

The runner puts this folder into PYTHONPATH of every trial, so that Python runs
this file at its start. It adds a finder that asks all others first and offers
ours only when none of them has it; an installed package of that name is never
shadowed. Then the sitecustomize runs that would have run without us.

Python 2.7 and 3.5 and newer; the standard library only. Python's options -S, -I
and -E leave it out.
"""
import os
import sys

_HOOK = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = os.path.join(os.path.dirname(_HOOK), "python")
_MOUNT = os.path.dirname(os.path.dirname(_HOOK))
_NAME = "hypertune"


def _is_hook(folder):
    try:
        return os.path.realpath(folder) == os.path.realpath(_HOOK)
    except (OSError, TypeError, ValueError):
        return False


class _Finder3(object):
    """For Python 3: finders give specs."""

    def find_spec(self, name, path=None, target=None):
        if name != _NAME:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) \
                if find is not None and finder is not self else None
            if spec is not None and not self.is_mount(spec):
                return spec
        from importlib.machinery import PathFinder
        return PathFinder.find_spec(name, [_PACKAGES], target)

    @staticmethod
    def is_mount(spec):
        """The kit is in /hypertune: a program whose folder is / would find
        that as a package without any file."""
        folders = list(spec.submodule_search_locations or [])
        return spec.loader is None and bool(folders) and all(
            os.path.realpath(folder) == os.path.realpath(_MOUNT)
            for folder in folders)


class _Finder2(object):
    """For Python 2, where finders come before sys.path: it is searched here."""

    def find_module(self, name, path=None):
        if name != _NAME:
            return None
        import imp
        for folders in (sys.path, [_PACKAGES]):
            try:
                self._found = imp.find_module(name, folders)
                return self
            except ImportError:
                pass
        return None

    def load_module(self, name):
        import imp
        opened, path, description = self._found
        try:
            return imp.load_module(name, opened, path, description)
        finally:
            if opened:
                opened.close()


def _run_hidden3(folders):
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec("sitecustomize", folders)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _run_hidden2(folders):
    import imp
    try:
        opened, path, description = imp.find_module("sitecustomize", folders)
    except ImportError:
        return
    try:
        del sys.modules["sitecustomize"]
        imp.load_module("sitecustomize", opened, path, description)
    finally:
        if opened:
            opened.close()


def _start():
    # Our folder has nothing else to offer; children get it by PYTHONPATH.
    sys.path[:] = [folder for folder in sys.path if not _is_hook(folder)]
    sys.path_importer_cache.pop(_HOOK, None)
    is_new = sys.version_info[0] >= 3
    finder = _Finder3() if is_new else _Finder2()
    # Python 2 empties a module that none holds, and the next one replaces it.
    finder.module = sys.modules.get(__name__)
    sys.meta_path.insert(0, finder)
    (_run_hidden3 if is_new else _run_hidden2)(list(sys.path))


_start()
