"""contents.py WHEEL - what is in the wheel: its tag, its libraries, their
licences, its size."""

import base64
import csv
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import tap
import tree

MOST_BYTES = 27000000
# What a process can have only once, or what every glibc system has.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1",
          "libpthread.so.0", "libresolv.so.2", "ld-linux-x86-64.so.2",
          "ld-linux-aarch64.so.1"}

path = sys.argv[1]
folder = tempfile.mkdtemp()
with zipfile.ZipFile(path) as wheel:
    wheel.extractall(folder)
    names = wheel.namelist()


def elf_files():
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            if file.read(4) == b"\x7fELF":
                yield name


def readelf(what, name):
    return subprocess.run(["readelf", what, os.path.join(folder, name)],
                          check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout


def in_metadata(name):
    found, = [each for each in names if each.endswith(".dist-info/" + name)]
    with open(os.path.join(folder, found), encoding="utf-8") as file:
        return file.read()


def programs_libraries_kit_and_client_are_inside():
    for end in ("scripts/hypertune", "scripts/hypertuned",
                "scripts/hypertune-runner", "scripts/hypertune-shim",
                "scripts/hypertune-shim-loader",
                "lib/hypertune/kit/bin/hypertune",
                "lib/hypertune/kit/python/hypertune/__init__.py",
                "lib/hypertune/kit/hook/sitecustomize.py",
                "share/man/man1/hypertune.1"):
        tap.equal(len([name for name in names if name.endswith("/" + end)]),
                  1, end)
    tap.contains("hypertune/client.py", names)


def every_needed_library_is_inside_or_the_systems():
    inside = {os.path.basename(name) for name in names
              if "/hypertune/libs/" in name}
    count = 0
    for name in elf_files():
        text = readelf("-d", name)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
        count += bool(needed)
        tap.equal(needed - inside - SYSTEM, set(), name)
        if needed - SYSTEM:
            rpath, = re.findall(r"\(RPATH\).*\[(.*)\]", text)
            tap.equal(rpath, "$ORIGIN/../lib/hypertune/libs"
                      if "/scripts/" in name else "$ORIGIN", name)
    tap.true(count > 20, "only %d files with libraries" % count)


def the_tag_is_the_newest_symbol_version_of_glibc():
    newest = max(tuple(map(int, version.split(".")))
                 for name in elf_files()
                 for version in re.findall(r"GLIBC_(\d+\.\d+)",
                                           readelf("-V", name)))
    tag = "py3-none-manylinux_%d_%d_%s" % (newest + (os.uname().machine,))
    tap.contains("Tag: " + tag + "\n", in_metadata("WHEEL"))
    tap.equal(os.path.basename(path).split("-", 2)[2], tag + ".whl")


def each_library_has_its_licence_and_the_place_of_its_source():
    rows = re.findall(r"^(\S+|\(linked in\)) +(\S+) \S+, source package \S+ ",
                      in_metadata("licenses/SOURCES"), re.M)
    tap.equal(sorted(library for library, _ in rows if ".so" in library),
              sorted(os.path.basename(name) for name in names
                     if "/hypertune/libs/" in name))
    tap.true("libmbedtls-dev" in [package for _, package in rows], "linked in")
    for _, package in rows:
        tap.true(len(in_metadata("licenses/" + package)) > 200, package)


def the_licences_that_the_texts_refer_to_are_inside():
    tap.contains("GNU GENERAL PUBLIC LICENSE", in_metadata("licenses/GPL-3"))
    tap.contains("Apache License", in_metadata("licenses/hypertune"))
    tap.contains("License: GPL-3.0-or-later AND Apache-2.0",
                 in_metadata("METADATA"))
    tap.contains("GNU Scientific Library", in_metadata("METADATA"))


def the_record_has_every_file_with_its_digest():
    rows = {row[0]: row for row in csv.reader(
        in_metadata("RECORD").splitlines())}
    tap.equal(sorted(rows), sorted(names))
    for name in names:
        if name.endswith("/RECORD"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        tap.equal(rows[name][1:], ["sha256=" + base64.urlsafe_b64encode(
            hashlib.sha256(data).digest()).decode().rstrip("="),
            str(len(data))], name)


def it_has_no_debug_information_and_fits_27_megabytes():
    for name in elf_files():
        tap.lacks(".debug_info", readelf("-S", name), name)
    tap.true(os.path.getsize(path) <= MOST_BYTES, os.path.getsize(path))


def its_version_is_that_of_the_programs():
    with open(os.path.join(tree.ROOT, "Makefile"), encoding="utf-8") as file:
        version, = re.findall(r"^VERSION := (.*)$", file.read(), re.M)
    tap.contains("Version: %s\n" % version, in_metadata("METADATA"))


tap.run([
    programs_libraries_kit_and_client_are_inside,
    every_needed_library_is_inside_or_the_systems,
    the_tag_is_the_newest_symbol_version_of_glibc,
    each_library_has_its_licence_and_the_place_of_its_source,
    the_licences_that_the_texts_refer_to_are_inside,
    the_record_has_every_file_with_its_digest,
    it_has_no_debug_information_and_fits_27_megabytes,
    its_version_is_that_of_the_programs,
])
