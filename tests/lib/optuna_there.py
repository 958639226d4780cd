"""optuna_there - tests that need Optuna, which Debian's Python has."""

import os
import subprocess
import sys
import warnings

import tap

SYSTEM_PYTHON = "/usr/bin/python3"  # has Debian's packages
PACKAGE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..",
                                        "hypertune", "python"))
sys.path.insert(0, PACKAGE)


def _is_there():
    """Whether this interpreter has it; else Debian's goes on, if that has."""
    try:
        import optuna  # noqa: F401
        return True
    except ImportError:
        pass
    if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
        probe = subprocess.run([SYSTEM_PYTHON, "-c", "import optuna"],
                               stderr=subprocess.DEVNULL)
        if probe.returncode == 0:
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON] + sys.argv)
    return False


def run(main):
    """Calls main() where Optuna is there, quietened; else one skipped case."""
    if not _is_there():
        def optuna_is_there():
            raise tap.Skip("python3-optuna is not installed")
        tap.run([optuna_is_there])
        return
    import optuna
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    warnings.simplefilter("ignore")  # choices of any kind, experiments
    main()
