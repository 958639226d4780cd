"""A stand-in for cloudml-hypertune 0.1.0, written from a description of its
file and from nothing else: a window of the newest 100 records, the whole file
written anew at each report, one metric a line, numbers as text.

    google_reporter.py REPORTS PAUSE-SECONDS [--x=...]
"""

import collections
import json
import os
import sys
import time


class Reporter:
    WINDOW = 100

    def __init__(self):
        self.path = os.environ.get("CLOUD_ML_HP_METRIC_FILE",
                                   "/tmp/hypertune/output.metrics")
        self.trial = os.environ.get("CLOUD_ML_TRIAL_ID", 0)
        self.records = collections.deque(maxlen=self.WINDOW)
        folder = os.path.dirname(self.path)
        if not os.path.exists(folder):
            os.makedirs(folder)

    def report(self, tag, value, step=None, checkpoint=""):
        record = {"timestamp": time.time(), "trial": str(self.trial)}
        record[tag or "training/hptuning/metric"] = str(float(value))
        record["global_step"] = str(int(step or 0))
        record["checkpoint_path"] = checkpoint
        self.records.append(json.dumps(record, sort_keys=True) + "\n")
        with open(self.path, "w", encoding="ascii") as file:
            file.writelines(self.records)


def main():
    reports, pause = int(sys.argv[1]), float(sys.argv[2])
    reporter = Reporter()
    for step in range(1, reports + 1):
        reporter.report("accuracy", step / 1000, step)
        time.sleep(pause)


main()
