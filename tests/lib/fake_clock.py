"""fake_clock - programs that see a clock which a test sets.

They see it through libfaketime; time that passes is left alone, as it is when
an administrator sets a clock."""

import contextlib
import glob
import os
import tempfile

from harness import is_sanitized

LIBRARIES = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")


def missing():
    """Why there can be no such clock here; empty when there can."""
    if not LIBRARIES:
        return "libfaketime is not installed"
    return "the sanitizers want to be loaded first" if is_sanitized() else ""


class Clock:
    """What programs started from now on take for the time."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "clock")
        self.set("+0")

    def set(self, offset):
        """Sets it for the programs that run, too: "-30m", "+1d", "+0"."""
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(offset + "\n")
        os.replace(self.path + ".new", self.path)


@contextlib.contextmanager
def fake_clock():
    """A Clock for what is started within."""
    with tempfile.TemporaryDirectory(prefix="ht-clock-") as folder:
        clock = Clock(folder)
        before = dict(os.environ)
        # Times of files are left alone: for these the library takes a lock that
        # a program shares with its children, which one that is killed keeps.
        os.environ.update(LD_PRELOAD=LIBRARIES[0], FAKETIME_NO_CACHE="1",
                          FAKETIME_TIMESTAMP_FILE=clock.path,
                          FAKETIME_DONT_FAKE_MONOTONIC="1", NO_FAKE_STAT="1")
        try:
            yield clock
        finally:
            os.environ.clear()
            os.environ.update(before)
