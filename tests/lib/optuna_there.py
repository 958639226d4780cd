"""optuna_there - tests that need Optuna (python3-optuna)."""

import importlib.util
import os
import sys
import warnings

import tap

PACKAGE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..",
                                        "hypertune", "python"))
sys.path.insert(0, PACKAGE)


def run(main):
    """Calls main() where Optuna is there, quietened; else one skipped case."""
    if importlib.util.find_spec("optuna") is None:
        tap.skip("our parts of Optuna", "python3-optuna is not installed")
    import optuna
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    warnings.simplefilter("ignore")  # choices of any kind, experiments
    main()
