"""Reports metrics from inside a trial, and asks about studies from outside.

    import hypertune
    hypertune.report(step=3, accuracy=0.93, loss=0.21)
    if hypertune.should_stop():
        ...

    study = hypertune.Client().study("digits")
    study.best_trial.params

Programs written for Google's cloudml-hypertune run unchanged:

    hypertune.HyperTune().report_hyperparameter_tuning_metric(
        hyperparameter_metric_tag="accuracy", metric_value=0.93, global_step=3)

Reporting needs Python 2.7 or 3.5 and newer, asking 3.8 and newer; both the
standard library only. Pictures are nicer where matplotlib is installed.
"""
from hypertune.reporter import (HyperTune, checkpoint, flush, params, report,
                                should_stop)

__all__ = ["HyperTune", "checkpoint", "flush", "params", "report", "should_stop"]
__version__ = "0.1.0"

# A trainer imports none of these: they need a newer Python, and time.
_HOMES = dict(
    [("Client", "client"), ("Study", "study"), ("Trial", "trial")] +
    [(name, "processes") for name in ("minimize", "maximize", "evaluate")] +
    [(name, "space") for name in ("Double", "Integer", "Discrete",
                                  "Categorical")] +
    [(name, "errors") for name in (
        "ApiError", "InvalidArgument", "FailedPrecondition",
        "PermissionDenied", "NotFound", "NoTrialYet", "Conflict",
        "ResourceExhausted", "Unavailable", "DeadlineExceeded",
        "TrialsFailed")])


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError("module 'hypertune' has no attribute %r" %
                             (name,))
    from importlib import import_module
    return getattr(import_module("hypertune." + _HOMES[name]), name)


def __dir__():
    return sorted(list(globals()) + list(_HOMES))
