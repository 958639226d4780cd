"""hypertune-shim in parts, as a pod mounts it, joined by its loader."""

import os
import shutil
import subprocess
import tempfile

import harness
import pods
import tap

PART = 1000000
SHIM = os.path.join(harness.bin_dir(), "hypertune-shim")
LOADER = SHIM + "-loader"


class Parts:
    """A folder as a projected volume: links to files in a folder of it."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="ht-loader-")
        self.bin = os.path.join(self.root, "bin")
        self.data = os.path.join(self.bin, "..1")
        os.makedirs(self.data)
        os.symlink("..1", os.path.join(self.bin, "..data"))
        shutil.copy(LOADER, os.path.join(self.data, "shim"))
        with open(SHIM, "rb") as file:
            whole = file.read()
        self.parts = [whole[at:at + PART]
                      for at in range(0, len(whole), PART)]
        for number, part in enumerate(self.parts):
            self.write(number, part)
        for name in os.listdir(self.data):
            os.symlink("..data/" + name, os.path.join(self.bin, name))
        self.shim = os.path.join(self.bin, "shim")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def write(self, number, part):
        with open(os.path.join(self.data, "shim.%d" % number), "wb") as file:
            file.write(part)

    def refuse(self, *words):
        """It starts nothing, and says why."""
        done = run(self.shim, "--sandbox")
        tap.equal((done.returncode, done.stdout), (126, ""))
        for word in words:
            tap.contains(word, done.stderr)


def run(*argv, **options):
    return subprocess.run(argv, capture_output=True, text=True, check=False,
                          timeout=harness.PATIENCE, **options)


def what(done):
    return done.returncode, done.stdout, done.stderr


def it_becomes_the_shim_with_its_words_and_variables():
    with Parts() as parts:
        tap.equal(os.path.getsize(LOADER) < 32 * 1024, True)
        for words in (["--sandbox"], [], ["--pod", "/", "../x"],
                      ["--guest", '{"guest":{"sandbox":"none"}}', "env"]):
            env = {"PATH": "/usr/bin:/bin", "A": "1", "B": "x y"}
            tap.equal(what(run(parts.shim, *words, env=env)),
                      what(run(SHIM, *words, env=env)), words)


def it_needs_nothing_of_the_image():
    pods.needs_namespaces()
    with Parts() as parts:
        shutil.copy(SHIM, parts.root)
        # No /proc; and as any container's, its root may be read-only.
        script = ('mount --bind "$1" "$1" && '
                  'mount -o remount,bind,ro,nosuid,nodev "$1" && '
                  'exec chroot "$@"')
        for program in ("/bin/shim", "bin/shim"):
            got, want = (run("unshare", "--mount", "sh", "-c", script, "sh",
                             parts.root, one, "--sandbox", cwd="/")
                         for one in (program, "/hypertune-shim"))
            tap.equal((got.returncode, got.stderr), (0, ""))
            tap.equal(what(got), what(want))


def a_part_that_is_missing_is_named():
    with Parts() as parts:
        os.unlink(os.path.join(parts.data, "shim.1"))
        parts.refuse("/shim.*: 1000000 bytes of a program that has %d"
                     % os.path.getsize(SHIM), "a part is missing")
        os.unlink(os.path.join(parts.data, "shim.0"))
        parts.refuse("cannot open ", "/shim.0: no such file")


def a_part_that_is_not_whole_is_not_run():
    with Parts() as parts:
        last = len(parts.parts) - 1
        parts.write(last, parts.parts[last][:-1])
        parts.refuse("a part is missing or is not whole")
        parts.write(last, parts.parts[last] + b"x")
        parts.refuse("a part is missing or is not whole")
        parts.write(0, b"#!/bin/sh\n" + parts.parts[0])
        parts.refuse("cannot start", "shim.0: not a program")
        parts.write(0, b"")
        parts.refuse("cannot start", "shim.0: not a program")


def a_part_that_cannot_be_read_is_named():
    with Parts() as parts:
        os.unlink(os.path.join(parts.data, "shim.1"))
        os.mkdir(os.path.join(parts.data, "shim.1"))
        parts.refuse("cannot read ", "/shim.1: error 21")


tap.run([it_becomes_the_shim_with_its_words_and_variables,
         it_needs_nothing_of_the_image,
         a_part_that_is_missing_is_named,
         a_part_that_is_not_whole_is_not_run,
         a_part_that_cannot_be_read_is_named])
