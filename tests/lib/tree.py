"""tree - where the files of the source tree are."""

import os

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def path(name):
    """The full path of a file or folder, which is named from the root."""
    return os.path.join(ROOT, name)


PACKAGE = path("hypertune/python")  # for PYTHONPATH, as the kit has it
TRAINERS = path("tests/e2e/trainers")
DIGITS = path("examples/digits/digits.csv.gz")
