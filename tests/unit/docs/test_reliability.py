#!/usr/bin/env python3
"""docs/reliability.md names tests that exist, and each long one of torture.py."""
import glob
import os
import re
import sys

import tap
from tree import ROOT

sys.path.insert(0, os.path.join(ROOT, "tests"))
import torture  # noqa: E402


def rows():
    """Promise -> (tests, names of long tests)."""
    with open(os.path.join(ROOT, "docs/reliability.md"), encoding="utf-8") as file:
        lines = re.findall(r"^\| (R\d+) \|.*\|([^|]*)\|([^|]*)\|$",
                           file.read(), re.MULTILINE)
    return {promise: (re.findall(r"`([a-z]+/[\w/]+)`", tests),
                      re.findall(r"[\w-]+", long))
            for promise, tests, long in lines}


def every_promise_has_a_row():
    tap.equal(list(rows()), ["R%d" % n for n in range(1, 25)])


def the_tests_exist():
    for promise, (tests, _) in rows().items():
        for test in tests:
            tap.equal(len(glob.glob("%s/tests/%s.*" % (ROOT, test))), 1,
                      "%s of %s" % (test, promise))


def the_long_tests_are_those_of_torture():
    named = {(promise, name) for promise, (_, long) in rows().items()
             for name in long}
    tap.equal(sorted(named), sorted(
        (promise, proof.name) for proof in torture.PROOFS
        for promise in proof.promises.split()))


def the_long_tests_read_their_variables():
    for proof in torture.PROOFS:
        for variable in proof.variables:
            files = glob.glob("%s/tests/%s*" % (ROOT, proof.test.rstrip(".")))
            if proof.test == "fuzz":
                continue  # its seconds are an argument
            tap.equal(len(files), 1, proof.test)
            with open(files[0], encoding="utf-8") as file:
                tap.contains(variable, file.read(), proof.name)


if __name__ == "__main__":
    tap.run([every_promise_has_a_row, the_tests_exist,
             the_long_tests_are_those_of_torture,
             the_long_tests_read_their_variables])
