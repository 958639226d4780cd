"""Reports metrics from inside a trial.

    import hypertune
    hypertune.report(step=3, accuracy=0.93, loss=0.21)
    if hypertune.should_stop():
        ...

Programs written for Google's cloudml-hypertune run unchanged:

    hypertune.HyperTune().report_hyperparameter_tuning_metric(
        hyperparameter_metric_tag="accuracy", metric_value=0.93, global_step=3)

Python 2.7 and 3.5 or newer, standard library only.
"""
from hypertune.reporter import HyperTune, flush, params, report, should_stop

__all__ = ["HyperTune", "flush", "params", "report", "should_stop"]
__version__ = "0.1.0"
