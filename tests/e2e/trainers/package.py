"""A trainer in a virtual environment with the package `hypertune`."""

import os
import sys

import hypertune

if os.path.realpath(sys.prefix) != os.path.realpath(os.environ["VIRTUAL_ENV"]):
    sys.exit("not the environment that submitted: " + sys.prefix)
tuner = hypertune.HyperTune()
for epoch in range(1, 4):
    tuner.report_hyperparameter_tuning_metric(
        hyperparameter_metric_tag="accuracy", metric_value=epoch / 4,
        global_step=epoch)
