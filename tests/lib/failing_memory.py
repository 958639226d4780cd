"""failing_memory - programs whose allocations fail when a test says so.

They are started with tests/tools/preload/failing_memory.c loaded first."""

import contextlib
import mmap
import os
import struct

import harness

ARMED, SKIP, FAIL, ASKED, FAILED = range(5)


class FailingMemory:
    """Orders for what is started with its `environment`."""

    def __init__(self, folder):
        path = os.path.join(folder, "memory-orders")
        with open(path, "wb") as file:
            file.write(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.environment = {
            "LD_PRELOAD": os.path.join(harness.bin_dir(), os.pardir, "tests",
                                       "tools", "preload",
                                       "failing_memory.so"),
            "FAILING_MEMORY": path,
            # ours is loaded before the sanitizer's
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
                            ":verify_asan_link_order=0:detect_leaks=0"}

    def _set(self, place, value):
        struct.pack_into("q", self.map, 8 * place, value)

    def _get(self, place):
        return struct.unpack_from("q", self.map, 8 * place)[0]

    @contextlib.contextmanager
    def failing(self, skip, fail):
        """Within it, allocations `skip` to skip + fail - 1 fail."""
        for place, value in ((ASKED, 0), (FAILED, 0), (SKIP, skip),
                             (FAIL, fail), (ARMED, 1)):
            self._set(place, value)
        try:
            yield
        finally:
            self._set(ARMED, 0)

    def failed(self):
        """How many failed the last time."""
        return self._get(FAILED)

    def asked(self):
        """How many allocations there were."""
        return self._get(ASKED)
