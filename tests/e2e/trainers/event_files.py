"""A trainer that leaves its metrics in event files of TensorBoard, in the way
that its first argument names, below the folder of its second."""

import glob
import os
import sys
import time

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "..", "lib"))
import tfevents  # noqa: E402 - its folder is not where this begins

WALL = 1700000000.25
LOGS = sys.argv[2] if len(sys.argv) > 2 else "logs"


def append(folder, data, name="events.out.tfevents.1700000000.host.1.0"):
    os.makedirs(os.path.join(LOGS, folder), exist_ok=True)
    with open(os.path.join(LOGS, folder, name), "ab") as file:
        file.write(data)


def scalar(tag, value, step, tensor=False):
    return tfevents.event(tag, value, step, WALL + step, tensor)


def wait_for(name):
    """A file that the test makes."""
    until = time.monotonic() + 300
    while not os.path.exists(os.environ[name]):
        if time.monotonic() > until:
            sys.exit("%s did not come" % name)
        time.sleep(0.02)


def keras():
    """Two folders with the same tags, tensors; half a record at a time; the
    second half of the epochs in another file."""
    for folder, base in (("train", 10), ("validation", 20)):
        append(folder, tfevents.version(WALL))
        for step in (0, 1):
            append(folder, scalar("epoch_loss", base - step, step, True))
    torn = scalar("epoch_loss", 18, 2, True)
    append("validation", torn[:20])
    wait_for("GO")
    append("validation", torn[20:])
    append("validation", scalar("epoch_loss", 17, 3, True),
           "events.out.tfevents.1700000009.host.1.1")


def torch():
    """A folder of any name; steps that go back."""
    for step, value in ((0, 4), (1, float("nan")), (2, 2), (1, 3),
                        (5, float("inf"))):
        append("runs/Nov29_10-00-00_host", scalar("loss", value, step))
    append("runs/Nov29_10-00-00_host", scalar("val_loss", 9, 5))


def two():
    for folder in ("train", "eval"):
        append(folder, scalar("loss", 1, 1))
    wait_for("NEVER")


def damaged():
    append("a", scalar("loss", 4, 1) + b"x" * 40)
    append("b", scalar("other", 3, 2))


def nothing():
    append(".", tfevents.version(WALL))


def misnamed():
    append("eval", scalar("the_loss", 4, 1))


def again():
    """The first attempt fails, when its values are known."""
    first = not glob.glob(os.environ["MARK"])
    append("", scalar("loss", 90 if first else 4, 1 if first else 2))
    if first:
        wait_for("GO")
        open(os.environ["MARK"], "w").close()
        sys.exit(3)


def old():
    """What an earlier run left in the folder that is copied is not there."""
    append("", scalar("loss", 4, 1), "events.out.tfevents.2")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
