"""tap - named cases in Python, as tests/check.h has them in C.

Tests find tests/lib and our Python package by PYTHONPATH, see tests/run.sh;
what a test starts has to find its own, as a user's program does."""

import os
import sys
import traceback

os.environ.pop("PYTHONPATH", None)


class Skip(Exception):
    """Raised by a case that cannot run here; the text says why. Where a
    package of Debian is missing, it says that X "is not installed"."""


def run(cases):
    """Runs functions whose names are sentences; exits with the outcome."""
    failed = 0
    for number, case in enumerate(cases, 1):
        name = case.__name__.replace("_", " ")
        try:
            case()
            print("ok %d - %s" % (number, name))
        except Skip as reason:
            print("ok %d - %s # SKIP %s" % (number, name, reason))
        except Exception:
            failed += 1
            for line in traceback.format_exc().splitlines():
                print("# " + line)
            print("not ok %d - %s" % (number, name))
        sys.stdout.flush()
    print("1..%d" % len(cases))
    sys.exit(1 if failed else 0)


def skip(name, why):
    """Ends a test none of whose cases can run here, as one skipped case."""
    print("ok 1 - %s # SKIP %s\n1..1" % (name, why))
    sys.exit(0)


def equal(got, want, what=""):
    """Fails with both values when they differ."""
    if got != want:
        raise AssertionError("%s got %r, want %r" % (what, got, want))


def contains(part, whole, what=""):
    """Fails with the whole when the part is not in it."""
    if part not in whole:
        raise AssertionError("%s lacks %r: %r" % (what, part, whole))


def lacks(part, whole, what=""):
    """Fails with the whole when the part is in it."""
    if part in whole:
        raise AssertionError("%s has %r: %r" % (what, part, whole))


def starts(whole, start, what=""):
    """Fails with the text when it starts with something else."""
    if not whole.startswith(start):
        raise AssertionError("%s starts not with %r: %r" % (what, start,
                                                            whole))


def true(condition, what=""):
    """Fails, and says `what` was looked at, when the condition is false."""
    if not condition:
        raise AssertionError("not true: %s" % (
            what if isinstance(what, str) else repr(what)))


def raises(kind, function, *arguments, **named):
    """The exception of that kind which the call must raise."""
    try:
        result = function(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError("no %s but %r" % (kind.__name__, result))
