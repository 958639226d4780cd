"""optuna_there - tests that need Optuna (python3-optuna)."""

import importlib.util
import warnings

import tap


def run(main):
    """Calls main() where Optuna is there, quietened; else one skipped case."""
    if importlib.util.find_spec("optuna") is None:
        tap.skip("our parts of Optuna", "python3-optuna is not installed")
    import optuna
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    warnings.simplefilter("ignore")  # choices of any kind, experiments
    main()
