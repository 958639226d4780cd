"""A hypertune-runner of another machine, as its server sees it."""

import json
import os
import shutil
import subprocess

import harness


class Runner:
    """On the machine `name`: its own state folder and copy of the token.
    `machine`: with that /etc/machine-id, for which the test has to be root."""

    def __init__(self, server, name, *options, url=None, machine=None,
                 slots=2):
        self.folder = os.path.join(server.data, name)
        self.url = url or server.https
        os.makedirs(self.folder, exist_ok=True)
        self.token = shutil.copy(os.path.join(server.data, "runner-token"),
                                 self.folder)
        self.log_path = os.path.join(self.folder, "log")
        self.process = None
        self.options = options
        self.slots = slots
        self.machine = machine

    def words(self):
        words = [os.path.join(harness.bin_dir(), "hypertune-runner"),
                 "--server", self.url, "--token-file", self.token,
                 "--slots", str(self.slots), *self.options]
        if self.machine is None:
            return words
        path = os.path.join(self.folder, "machine-id")
        with open(path, "w", encoding="ascii") as file:
            file.write(self.machine + "\n")
        return ["unshare", "--mount", "sh", "-c",
                "mount --bind \"$0\" /etc/machine-id && exec \"$@\"",
                path] + words

    def __enter__(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.words(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(harness.PATIENCE)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_log(self, text):
        harness.wait_until(lambda: text in self.log(), "%s in %s" % (
            text, self.log_path))

    def kept(self):
        """uplink.json, which the runner replaces as a whole."""
        with open(os.path.join(self.folder, "runs", "uplink.json"),
                  encoding="utf-8") as file:
            return json.load(file)

    def port(self):
        """Where trials report to."""
        return self.kept()["report"]
