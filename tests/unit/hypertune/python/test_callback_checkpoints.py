"""Which checkpoints the callbacks of other libraries name."""

import json
import os
import tempfile

import tap

from hypertune import callback


def named(folder):
    path = os.path.join(folder, "checkpoints.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return [(line["s"], line["c"]) for line in map(json.loads, file)]


def checkpoints_are_named_once_they_have_changed():
    with tempfile.TemporaryDirectory() as trial, \
            tempfile.TemporaryDirectory() as kept:
        os.environ.update(HYPERTUNE_TRIAL_DIR=trial, AIP_CHECKPOINT_DIR=kept)
        checkpoints = callback.Checkpoints(None)
        checkpoints.name(0)
        tap.equal(named(trial), [], "an empty folder")
        path = os.path.join(kept, "below", "last.ckpt")
        os.mkdir(os.path.dirname(path))
        os.symlink("nowhere", os.path.join(kept, "dangling"))
        with open(path, "w", encoding="ascii") as file:
            file.write("1")
        for step in (1, 2):
            checkpoints.name(step)
        tap.equal(named(trial), [(1, ".")])
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write("2")
        os.replace(path + ".new", path)
        checkpoints.name(3)
        tap.equal(named(trial), [(1, "."), (3, ".")])
        callback.Checkpoints(object()).name(4)
        tap.equal(len(named(trial)), 2, "a trial that is given")


if __name__ == "__main__":
    tap.run([checkpoints_are_named_once_they_have_changed])
