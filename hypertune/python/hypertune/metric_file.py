"""The metric file of cloudml-hypertune, by its own rules.

The newest 100 reports, one JSON object a line with sorted keys; every report
writes the whole file anew.
"""
import collections
import errno
import json
import os
import time

DEFAULT_TAG = "training/hptuning/metric"
DEFAULT_PATH = "/tmp/hypertune/output.metrics"
WINDOW = 100


def make_folder(path):
    """Makes the folder of `path`; fails for a path without one, as there."""
    folder = os.path.dirname(path)
    if os.path.exists(folder):
        return
    try:
        os.makedirs(folder)
    except OSError as error:
        if error.errno != errno.EEXIST or not os.path.isdir(folder):
            raise


def make_entry(tag, value, step, checkpoint, trial):
    """The members in the order that decides which of two equal names wins."""
    entry = {"timestamp": time.time(), "trial": str(trial)}
    entry[tag if tag else DEFAULT_TAG] = str(float(value))
    entry["global_step"] = str(int(step) if step else 0)
    entry["checkpoint_path"] = checkpoint
    return entry


def new_window():
    return collections.deque(maxlen=WINDOW)


def write_window(path, window):
    with open(path, "w") as metric_file:
        for entry in window:
            metric_file.write(json.dumps(entry, sort_keys=True) + "\n")
