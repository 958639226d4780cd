"""The types of the client, checked by mypy where it is installed."""

import os
import shutil
import subprocess

import tap
import tree

MODULES = ("client", "errors", "locate", "processes", "program", "show",
           "space", "study", "summary", "transport", "trial", "watch", "where")


def the_client_has_no_fault_of_types():
    mypy = shutil.which("mypy")
    if mypy is None:
        raise tap.Skip("there is no mypy")
    words = [mypy, "--strict", "--ignore-missing-imports",
             "--follow-imports=silent", "--config-file=",
             "--cache-dir=" + os.path.join(os.environ["TMPDIR"], "mypy")]
    for name in MODULES:
        words += ["-m", "hypertune." + name]
    done = subprocess.run(words, cwd=tree.PACKAGE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    tap.equal(done.returncode, 0, done.stdout.decode())


if __name__ == "__main__":
    tap.run([the_client_has_no_fault_of_types])
