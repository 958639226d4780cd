"""elements - hypertune-shim --slurm in a test that stands for Slurm, by its
variables and signals, and for the runner, by its answers.

    with elements.Batch() as batch:
        batch.start()
        folder = batch.give(1, ["true"])    # the first trial
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import harness
import tap

SHIM = os.path.join(harness.bin_dir(), "hypertune-shim")

# Writes `up`; at SIGTERM a line in `terms`, then ends well.
SAVES = """
import os, signal, sys
folder = os.environ["HYPERTUNE_TRIAL_DIR"]
def save(number, frame):
    with open(folder + "/terms", "a") as file:
        file.write("%d\\n" % number)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
open(folder + "/up", "w").close()
while True:
    signal.pause()
"""
# The same, but it takes 5 s, in which it hears another SIGTERM.
SAVES_SLOWLY = SAVES.replace(
    "    sys.exit(0)", "    import time\n    time.sleep(5)\n    sys.exit(0)")
DEAF = "trap '' TERM; touch $HYPERTUNE_TRIAL_DIR/up; while :; do sleep 1; done"


def python(text):
    return ["/usr/bin/python3", "-c", text]


def shell(text):
    return ["/bin/sh", "-c", text]


def write(folder, name, value):
    """As a whole, by a rename."""
    text = value if isinstance(value, str) else json.dumps(value)
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


def read(*path):
    return pathlib.Path(*path).read_text("utf-8")


def now_ms():
    return int(time.time() * 1000)


class Batch:
    """A batch of one element, and the attempts that it is given."""

    def __init__(self, **patience):
        self.root = tempfile.mkdtemp(prefix="ht-element-")
        self.folder = os.path.join(self.root, "batch")
        self.element = os.path.join(self.folder, "4")
        self.attempts = 0
        self.tasks = []
        os.mkdir(self.folder, 0o700)
        if patience:
            write(self.folder, "patience.json", patience)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for task in self.tasks:
            if task.poll() is None:
                task.kill()
            task.communicate()
        shutil.rmtree(self.root, ignore_errors=True)

    def start(self, **variables):
        """A task, in its own session, as Slurm starts it."""
        env = {"PATH": "/usr/bin:/bin", "SLURM_ARRAY_JOB_ID": "7",
               "SLURM_ARRAY_TASK_ID": "4", "SLURM_JOB_NODELIST": "n[1-2]",
               "CUDA_VISIBLE_DEVICES": "2,3", "SLURM_JWT": "secret",
               "SLURM_EXPORT_ENV": "NONE", "HYPERTUNE_LAUNCH": "first",
               "TMPDIR": self.root, "UNRELATED": "1"}
        env.update(variables)
        self.tasks.append(subprocess.Popen(
            [SHIM, "--slurm", self.folder],
            env={name: value for name, value in env.items() if value},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True))
        return self.tasks[-1]

    def attempt(self, commands, term_ms=5000, env=()):
        """Folders of an attempt, as a runner elsewhere makes them."""
        self.attempts += 1
        folder = os.path.join(self.root, "attempt-%d" % self.attempts)
        os.mkdir(folder)
        placement = {"relay": 0}
        for name, command in commands.items():
            replica = os.path.join(folder, name)
            os.mkdir(replica)
            placement[name] = {"address": name + ".slurm.invalid:1",
                               "gpus": []}
            write(replica, "launch.json", {
                "argv": command, "inherit": [], "workdir": None,
                "timeoutMs": 0, "graceMs": term_ms, "boot": "another",
                "env": [["PATH", "/usr/bin:/bin"],
                        ["HYPERTUNE_TRIAL_DIR", replica],
                        *[list(pair) for pair in env]]})
        write(folder, "placement.json", placement)
        return folder

    def wait_ask(self, turn):
        harness.wait_until(
            lambda: os.path.exists("%s/ask.%d" % (self.element, turn)),
            "question %d" % turn)

    def answer(self, turn, commands, limit_ms=0, grace_ms=0, **launch):
        """Answers when it is asked; the attempt's folder."""
        folder = self.attempt(commands, **launch)
        self.wait_ask(turn)
        write(self.element, "answer.%d" % turn, {
            "folder": folder, "limitMs": limit_ms, "graceMs": grace_ms})
        return folder

    def give(self, turn, command, **options):
        """The same for one replica; its folder."""
        return os.path.join(self.answer(turn, {"master-0": command},
                                        **options), "master-0")

    def refuse(self, turn):
        self.wait_ask(turn)
        write(self.element, "answer.%d" % turn, {"end": True})

    def self(self):
        return json.loads(read(self.element, "element.json"))


def wait_file(*path):
    harness.wait_until(lambda: os.path.exists(os.path.join(*path)),
                       os.path.join(*path))


def wait_exit(folder):
    wait_file(folder, "exit.json")
    return json.loads(read(folder, "exit.json"))


def wait_end(task):
    """Its exit code and what it said."""
    said = task.communicate(timeout=harness.PATIENCE)[1]
    return task.returncode, said


def expect_lost(folder, reason):
    ending = wait_exit(folder)
    tap.equal((ending["outcome"], ending["reason"]), ("lost", reason))


def children(pid):
    words = read("/proc/%d/task/%d/children" % (pid, pid)).split()
    return [int(word) for word in words]


def family(pid):
    """The process and all that are below it."""
    return [pid] + [one for child in children(pid) for one in family(child)]
