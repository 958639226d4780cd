"""The map of the house is as its table and its headers say."""

import os
import runpy

import tap
from tree import ROOT

MAP = runpy.run_path(os.path.join(ROOT, ".ci", "rooms.py"))


def documents_are_as_the_headers_say():
    for path, content in MAP["documents"](MAP["read_table"]()).items():
        with open(path, encoding="utf-8") as text:
            stored = text.read()
        tap.equal(stored == content, True, "%s is old: `make rooms-docs`"
                  % os.path.relpath(path, ROOT))


def an_include_of_a_room_above_is_refused():
    rooms = MAP["read_table"]()
    allowed = MAP["is_allowed"]
    tap.equal(allowed(rooms, "tuner/http", "tuner/db"), True, "down")
    tap.equal(allowed(rooms, "tuner/db", "tuner/http"), False, "up")
    tap.equal(allowed(rooms, "tuner/db", "proto/doc"), True, "a lower folder")
    tap.equal(allowed(rooms, "tuner/db", "runner/base"), False, "sideways")
    tap.equal(allowed(rooms, "tuner", "tuner/http"), True, "from the top")
    tap.equal(allowed(rooms, "hypertune/lib", "hypertune"), True, "public")


def no_include_goes_up():
    tap.equal(MAP["check"](MAP["read_table"]()), 0, "includes")


if __name__ == "__main__":
    tap.run([documents_are_as_the_headers_say,
             an_include_of_a_room_above_is_refused, no_include_goes_up])
