"""A tutorial's trainer: takes whatever flags a job file has, checks which
replica it is, and reports the way Google's reporter does. The master's result is
known from the flags; others only check their part of the cluster."""

import json
import os
import sys
import time

SCORES = {  # metric tag: value from the flags
    "accuracy": lambda f: 1 - abs(float(f.get("num-layers", 8)) - 8) / 16,
    "my_loss": lambda f: (float(f["lr"]) - 0.01) ** 2 + float(f["momentum"]),
    "val_accuracy": lambda f: (f["optimizer"] == "sgd") + float(
        f["batch-size"]) / 1000 + (f["trainable"] == "true") / 10,
    "val_loss": lambda f: float(f["units"]) + (f["optimizer"] == "sgd"),
}


def flags():
    words = [word[2:].partition("=") for word in sys.argv[1:]
             if word.startswith("--")]
    return {name: value for name, _, value in words}


def report(tag, value):
    path = os.environ["CLOUD_ML_HP_METRIC_FILE"]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(json.dumps({
            "timestamp": time.time(), "trial": os.environ["CLOUD_ML_TRIAL_ID"],
            tag: str(float(value)), "global_step": "1",
            "checkpoint_path": ""}, sort_keys=True) + "\n")


FOLDERS = {"workerpool0": "master", "workerpool1": "worker",
           "workerpool2": "ps", "workerpool3": "evaluator"}


def is_master():
    return os.environ["HYPERTUNE_REPLICA"] == "master-0"


def meet(cluster):
    """Says to the others of the trial that this replica has spoken; the master
    waits for all, because its end stops them."""
    own = os.environ["HYPERTUNE_TRIAL_DIR"]
    open(os.path.join(own, "spoken"), "w").close()
    if not is_master():
        return
    attempt = os.path.dirname(own.rstrip("/"))
    marks = [os.path.join(attempt, "%s-%d" % (FOLDERS.get(role, role), index),
                          "spoken")
             for role, places in cluster["cluster"].items()
             for index in range(len(places))]
    deadline = time.monotonic() + 180
    while not all(map(os.path.exists, marks)):
        assert time.monotonic() < deadline, marks
        time.sleep(0.02)


def main():
    cluster = json.loads(os.environ["CLUSTER_SPEC"])
    tf_config = json.loads(os.environ["TF_CONFIG"])
    task = cluster["task"]
    assert task["index"] == tf_config["task"]["index"], (task, tf_config)
    assert cluster["job"] == tf_config["job"], (cluster, tf_config)
    sizes = {role: len(places)
             for role, places in sorted(cluster["cluster"].items())}
    print("%s-%d of %s trial %s" % (task["type"], task["index"],
                                    json.dumps(sizes), task.get("trial")),
          flush=True)
    meet(cluster)
    if not is_master():
        return
    tag = os.environ.get("CLOUD_ML_HP_METRIC_TAG")
    if tag in SCORES:
        report(tag, SCORES[tag](flags()))
    print("arguments", json.dumps(sys.argv[1:]), flush=True)


if __name__ == "__main__":
    main()
