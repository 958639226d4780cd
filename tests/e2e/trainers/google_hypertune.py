"""A package named `hypertune` as an image has it that was made for AI Platform:
Google's class and file, written from a description of them."""

import collections
import json
import os
import time


class HyperTune:
    def __init__(self):
        self.metric_path = os.environ.get("CLOUD_ML_HP_METRIC_FILE",
                                          "/tmp/hypertune/output.metrics")
        self.trial_id = os.environ.get("CLOUD_ML_TRIAL_ID", 0)
        self.metrics_queue = collections.deque(maxlen=100)
        folder = os.path.dirname(self.metric_path)
        if not os.path.exists(folder):
            os.makedirs(folder)

    def report_hyperparameter_tuning_metric(
            self, hyperparameter_metric_tag, metric_value, global_step=None,
            checkpoint_path=""):
        record = {"timestamp": time.time(), "trial": str(self.trial_id)}
        record[hyperparameter_metric_tag or "training/hptuning/metric"] = \
            str(float(metric_value))
        record["global_step"] = str(int(global_step or 0))
        record["checkpoint_path"] = checkpoint_path
        self.metrics_queue.append(json.dumps(record, sort_keys=True) + "\n")
        with open(self.metric_path, "w", encoding="ascii") as file:
            file.writelines(self.metrics_queue)
