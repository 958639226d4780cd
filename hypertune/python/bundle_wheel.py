"""bundle_wheel.py ROOT FOLDER - the wheel with everything: ROOT is what
`make install PREFIX=/` made; the file goes into FOLDER, its name to stdout.

The programs become scripts of the wheel, and what they need lies where a
prefix has it, so that they find each other as after `make install`. The
libraries are those of this Debian; their licence texts come along. What stays
with the system is glibc alone, and its newest symbol version is the tag.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import build_wheel

LIBS = "lib/hypertune/libs"
# glibc and the loader, which a process can have only once.
SYSTEM = re.compile(r"(linux-vdso|ld-linux[-\w]*|lib(c|m|dl|rt|pthread|resolv|"
                    r"util|nsl))\.so")
INSIDE = ["libc6", "node-d3", "libmbedtls-dev"]  # parts of them are linked in, or embedded
SHARED = ["share/man", "share/bash-completion", "share/zsh", "share/fish"]
COMMON = "/usr/share/common-licenses"

METADATA = """\
Metadata-Version: 2.1
Name: hypertune
Version: {version}
Summary: Tunes hyperparameters: server, runner, command line and client
License: GPL-3.0-or-later AND Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown

hypertune is under the Apache License 2.0. This wheel has it linked with the
GNU Scientific Library, so that the programs in it, as a whole, are under the
GNU General Public License, version 3 or later. The licences of all that is
inside, and where the sources are, lie in `licenses` of the metadata folder.

    hypertune run --maximize accuracy --param lr=log:1e-5..0.1 -n 20 -- python3 train.py
"""


def ask(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def libraries(program):
    """Path by name of what the loader finds for it, glibc left out."""
    if "(NEEDED)" not in ask("readelf", "-d", program):
        return {}  # static
    found = {}
    for line in ask("ldd", program).splitlines():
        name = line.split()[0]
        if "not found" in line:
            raise SystemExit("%s needs %s, which is not here" %
                             (program, name))
        if "=>" in line and not SYSTEM.match(name):
            found[name] = os.path.realpath(line.split()[2])
    return found


def glibc_needed(path):
    """The newest version of glibc's symbols that the file asks for."""
    return max((tuple(map(int, text.split("."))) for text in re.findall(
        r"GLIBC_(\d+\.\d+)", ask("readelf", "-V", path))), default=(0, 0))


def package_of(path):
    """The Debian package of a file, by both names that a merged /usr has."""
    for name in (path, re.sub("^/usr", "", path), "/usr" + path):
        done = subprocess.run(["dpkg-query", "-S", name],
                              stdout=subprocess.PIPE, encoding="utf-8",
                              stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise SystemExit("%s belongs to no package, so its licence is unknown" %
                     path)


def licences(found):
    """Content by name: the texts of every package, those that they refer to,
    ours, and the list of the sources."""
    rows = []
    texts = {"GPL-3": build_wheel.read(os.path.join(COMMON, "GPL-3")),
             "hypertune": build_wheel.read(os.path.join(build_wheel.HERE,
                                                        "../../LICENSE"))}
    owners = [(package_of(path), name) for name, path in found.items()]
    owners += [(package, "(linked in)") for package in INSIDE]
    for package, library in sorted(owners):
        text = build_wheel.read("/usr/share/doc/%s/copyright" % package)
        texts[package] = text
        for name in re.findall(COMMON + r"/([A-Z][A-Za-z]*(?:-[\d.]*\d)?)",
                               text.decode("utf-8", "replace")):
            texts[name] = build_wheel.read(os.path.join(COMMON, name))
        rows.append("%-24s %s" % (library, ask(
            "dpkg-query", "-W", "-f", "${Package} ${Version}, source package "
            "${source:Package} ${source:Version}\n", package)))
    texts["SOURCES"] = (
        "The libraries are Debian's, unchanged but for the path by which they "
        "find each other.\nTheir sources are Debian's source packages of "
        "these versions.\n\n" + "".join(rows)).encode()
    return texts


def main(root, folder):
    with tempfile.TemporaryDirectory() as work:
        prefix = os.path.join(work, "data")
        for part in ["bin", "lib/hypertune"] + SHARED:
            shutil.copytree(os.path.join(root, part),
                            os.path.join(prefix, part), symlinks=True)
        os.makedirs(os.path.join(prefix, LIBS))
        os.unlink(os.path.join(prefix, "bin/hypertune-trial"))  # in the kit
        ask("strip", "--strip-debug",
            os.path.join(prefix, "lib/hypertune/kit/lib/libhypertune.a"))
        programs = [os.path.join(prefix, "bin", name)
                    for name in sorted(os.listdir(os.path.join(prefix,
                                                               "bin")))]
        found = {}
        for program in programs:
            found.update(libraries(program))
        for name, path in found.items():
            shutil.copyfile(path, os.path.join(prefix, LIBS, name))
        whole = programs + [os.path.join(prefix, LIBS, name)
                            for name in sorted(found)]
        for path in filter(is_elf, whole):
            ask("strip", "--strip-unneeded", path)
            if libraries(path):
                # DT_RPATH: another library of LD_LIBRARY_PATH does not fit.
                ask("patchelf", "--force-rpath", "--set-rpath",
                    "$ORIGIN/../" + LIBS if path in programs else "$ORIGIN",
                    path)
        version = build_wheel.version()
        data = "hypertune-%s.data" % version
        files = [one for one in build_wheel.tree(prefix, data + "/data")
                 if not one[0].startswith(data + "/data/bin/")]
        files += build_wheel.tree(os.path.join(prefix, "bin"),
                                  data + "/scripts")
        files += build_wheel.packages()
        files += [("hypertune-%s.dist-info/licenses/%s" % (version, name),
                   text, 0o644) for name, text in sorted(licences(found).items())]
        tag = "py3-none-manylinux_%d_%d_%s" % (
            max(map(glibc_needed, whole)) + (os.uname().machine,))
        print(build_wheel.write_wheel(folder, files, (tag,), METADATA))


if __name__ == "__main__":
    main(*sys.argv[1:])
