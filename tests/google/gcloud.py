"""gcloud - the real Google Cloud SDK, pointed at a server as a person does it:
by `hypertune gcloud-env` in a shell. GCLOUD names another executable."""

import concurrent.futures
import json
import os
import shutil
import subprocess
import tempfile

import harness
import tap

PROGRAM = shutil.which(os.environ.get("GCLOUD", "gcloud"))
ABSENT = "there is no gcloud, and GCLOUD names none"
AT_ONCE = 4  # most of a command is waiting, for its own modules


def need(what):
    """Ends the test, with one skipped case of that name, without gcloud."""
    if PROGRAM is None:
        tap.skip(what, ABSENT)


class Done:
    """What a command did."""

    def __init__(self, words, process):
        self.words = words
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def __repr__(self):
        return "gcloud %s: exit %d\n%s%s" % (" ".join(self.words), self.code,
                                             self.out, self.err)

    def good(self):
        if self.code != 0:
            raise AssertionError(self)
        return self

    def json(self):
        return json.loads(self.good().out)

    def lines(self):
        return self.good().out.splitlines()

    def refused(self, *texts):
        """It failed, gcloud itself did not crash, and it says each text."""
        missing = [text for text in texts if text not in self.err]
        if self.code != 1 or missing or "crashed" in self.err:
            raise AssertionError("%r lacks %s" % (self, missing))
        return self


def to_server(server):
    """The variables that name a server of the tests."""
    return {"HYPERTUNE_SERVER": server.http,
            "HYPERTUNE_TOKEN_FILE": server.token_file}


class Gcloud:
    """A context manager: its own home folder, removed at the end. Which
    server gcloud-env finds is in the variables."""

    def __init__(self, variables, arguments=""):
        self.folder = tempfile.mkdtemp(prefix="ht-gcloud-")
        self.environment = self._evaluate(variables, arguments)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def _evaluate(self, variables, arguments):
        clean = {k: v for k, v in os.environ.items()
                 if not k.startswith(("CLOUDSDK_", "HYPERTUNE_"))}
        program = os.path.join(harness.bin_dir(), "hypertune")
        script = 'eval "$("%s" gcloud-env --quiet %s)" && env -0' % (
            program, arguments)
        done = subprocess.run(
            ["sh", "-c", script], check=True, stdout=subprocess.PIPE,
            env={**clean, "HOME": self.folder, "TZ": "UTC",
                 "HYPERTUNE_STATE": os.path.join(self.folder, "state"),
                 **variables})
        return dict(entry.split("=", 1)
                    for entry in done.stdout.decode().split("\0")
                    if "=" in entry)

    def write(self, name, value):
        """A file of the folder; JSON is YAML, too."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return path

    def run(self, *words):
        return Done(words, subprocess.run(
            [PROGRAM] + list(words), env=self.environment, cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8",
            timeout=harness.PATIENCE))

    def together(self, *commands):
        """Runs commands that do not need each other; what each did."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(lambda words: self.run(*words), commands))
