"""The map of the house is as its table and its headers say."""

import glob
import os
import re
import runpy

import tap
from tree import ROOT

FOLDERS = ("proto", "algorithms", "tuner", "runner", "hypertune", "tests",
           "bench", "docs", "examples")
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


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        return text.read()


def every_file_that_a_document_names_is_there():
    documents = glob.glob("*.md", root_dir=ROOT)
    for folder in FOLDERS:
        documents += glob.glob(folder + "/**/*.md", root_dir=ROOT,
                               recursive=True)
    named = re.compile(r"`((?:%s)/[\w./-]+\.\w+)`" % "|".join(FOLDERS))
    for document in documents:
        for path in named.findall(read(document)):
            tap.true(os.path.exists(os.path.join(ROOT, path)),
                     "%s names %s" % (document, path))


def the_walks_name_functions_of_their_files():
    rows = re.findall(r"^\| (`[\w/]+/.*?) \| (.*?) \|",
                      read("docs/architecture.md"), re.M)
    tap.true(len(rows) >= 20, "rows of the three walks")
    for where, functions in rows:
        first, *others = re.findall(r"`(.*?)`", where)
        paths = [first] + [os.path.join(os.path.dirname(first), other)
                           for other in others if "/" not in other]
        code = "".join(read(path) for path in paths if path.endswith(".c"))
        if not code:
            continue  # a folder: all engines have that function
        for name in re.findall(r"`(\w+)`", functions):
            # METHOD(name, ...) defines a handler, too.
            tap.true(re.search(r"\b(METHOD\(%s,|%s\()" % (name, name), code),
                     "%s in %s" % (name, where))


if __name__ == "__main__":
    tap.run([documents_are_as_the_headers_say,
             an_include_of_a_room_above_is_refused, no_include_goes_up,
             every_file_that_a_document_names_is_there,
             the_walks_name_functions_of_their_files])
