"""fetch from another machine than that of the trial: its runner sends what the
trial wrote to the server, and the command fetches it from there."""

import hashlib
import os
import stat
import subprocess

import harness
import tap
from runner_process import Runner

# Larger than a chunk, and not equal in any two chunks.
BIG = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(100000))
TRAINER = """
import hashlib, os, subprocess, time
model = os.environ["AIP_MODEL_DIR"]
os.makedirs(os.path.join(model, "deep", "none"))
with open(os.path.join(model, "deep", "big"), "wb") as file:
    file.write(b"".join(hashlib.sha256(b"%d" % n).digest()
                        for n in range(100000)))
with open(os.path.join(os.environ["AIP_TENSORBOARD_LOG_DIR"], "run.sh"),
          "w") as file:
    file.write("#!/bin/sh\\n")
    os.fchmod(file.fileno(), 0o4755)
with open(os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "epoch"),
          "w") as file:
    file.write("7")
subprocess.run(["hypertune", "report", "score=1", "--step", "7",
                "--checkpoint", "epoch"], check=True)
open("written", "w").close()
while os.path.exists("hold"):
    time.sleep(0.02)
"""
FILES = {"model/deep/big": BIG, "logs/run.sh": b"#!/bin/sh\n",
         "checkpoints/epoch": b"7"}


class Server(harness.Server):
    """Without a runner of its own."""

    def __init__(self):
        super().__init__("--runner", "none")

    def machine(self, name):
        return Runner(self, name, "--slots", "1", "--machine", name,
                      url=self.http)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def touch(self, name):
        open(self.path(name), "w", encoding="ascii").close()

    def await_file(self, name):
        harness.wait_until(lambda: os.path.exists(self.path(name)), name)

    def run(self, script, **changes):
        with open(self.path("train.py"), "w", encoding="ascii") as file:
            file.write("import os\nos.chdir(%r)\n" % self.folder + script)
        path = harness.bin_dir() + os.pathsep + os.environ["PATH"]
        self.submit(dict({
            "spec": 1, "name": "s", "goal": "maximize score", "trials": 1,
            "parameters": {"x": ["1"]}, "algorithm": "grid", "retries": 0,
            "args": "none", "workdir": self.folder,
            "command": ["python3", "train.py", "${x}"]}, **changes),
                    env={"PATH": path})

    def begin_fetch(self, *words):
        return subprocess.Popen(
            [os.path.join(harness.bin_dir(), "hypertune"), "--server",
             self.http, "--token-file", os.path.join(self.data, "token"),
             "fetch", *words], cwd=self.folder, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)

    def fetch(self, *words, want=0):
        """What it prints to stderr."""
        process = self.begin_fetch(*words)
        _, said = process.communicate()
        tap.equal(process.returncode, want, said)
        return said

    def state_of(self, runner):
        _, answer = self.call("GET", "/hypertune/v1/runners")
        return [one["state"] for one in answer["runners"]
                if one["runner"] == runner]


def runner_id(machine):
    with open(os.path.join(machine.folder, "runs", "runner-id"),
              encoding="ascii") as file:
        return file.read().strip()


def files_below(folder):
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def check_files(folder):
    found = files_below(folder)
    tap.equal(sorted(found), sorted(FILES))
    for name, data in FILES.items():
        tap.equal(found[name] == data, True, name)


def a_trial_that_runs_and_one_that_has_ended():
    with Server() as server, server.machine("a"):
        server.touch("hold")
        server.run(TRAINER)
        server.await_file("written")
        said = server.fetch("s/1", "running")
        tap.contains("3 files, 3.1 MiB in running", said)
        check_files(server.path("running"))
        mode = os.stat(server.path("running", "logs", "run.sh")).st_mode
        tap.equal(stat.S_IMODE(mode) & 0o7111, 0o111)
        tap.equal(os.listdir(server.path("running", "model", "deep", "none")),
                  [])
        tap.equal(sorted(os.listdir(server.path("running"))),
                  ["checkpoints", "logs", "model"])
        os.remove(server.path("hold"))
        tap.equal(server.wait_study("s")["state"], "SUCCEEDED",
                  server.explain("s"))
        server.fetch("s/best")
        check_files(server.path("s-1"))


def a_folder_with_something_in_it_is_refused():
    with Server() as server, server.machine("a"):
        server.run(TRAINER)
        server.wait_study("s")
        os.makedirs(server.path("mine", "checkpoints"))
        mine = server.path("mine", "checkpoints", "epoch")
        with open(mine, "w", encoding="ascii") as file:
            file.write("my own")
        tap.contains("--force", server.fetch("s/1", "mine", want=5))
        tap.equal(files_below(server.path("mine")),
                  {"checkpoints/epoch": b"my own"})
        server.fetch("s/1", "mine", "--force")
        check_files(server.path("mine"))


def a_killed_fetch_is_continued():
    with Server() as server, server.machine("a"):
        server.run(TRAINER)
        server.wait_study("s")
        # The first chunk has come, and a part of the third; the second is
        # wrong.
        left = server.path("s-1", ".hypertune-fetch", "model", "deep")
        os.makedirs(left)
        with open(os.path.join(left, "big"), "wb") as file:
            file.write(BIG[:1 << 20] + b"x" * (1 << 20) +
                       BIG[2 << 20:(2 << 20) + 99])
        os.symlink("/etc", server.path("s-1", ".hypertune-fetch", "logs"))
        server.fetch("s/1")
        check_files(server.path("s-1"))
        tap.equal(sorted(os.listdir(server.path("s-1"))),
                  ["checkpoints", "logs", "model"])


def a_runner_that_is_away_and_comes_back():
    with Server() as server:
        with server.machine("a") as a:
            server.run(TRAINER)
            server.wait_study("s")
            name = runner_id(a)
        harness.wait_until(lambda: server.state_of(name) == ["LOST"],
                           "the runner is lost")
        said = server.fetch("s/1", "away", want=1)
        for words in ("runner %s on " % name, "is away", "scp -r ",
                      "the server has its checkpoint of step 7: "
                      "hypertune fetch s/1 --checkpoint"):
            tap.contains(words, said)
        tap.equal(os.path.exists(server.path("away")), False)
        server.fetch("s/1", "kept", "--checkpoint")
        tap.equal(files_below(server.path("kept")), {"checkpoints/epoch": b"7"})
        with server.machine("a"):
            harness.wait_until(lambda: server.state_of(name) == ["ONLINE"],
                               "the runner is back")
            server.fetch("s/1", "away")
            check_files(server.path("away"))


def a_server_that_starts_again_meanwhile():
    with Server() as server:
        with server.machine("a") as a:
            server.run(TRAINER)
            server.wait_study("s")
        # The runner still counts as there.
        process = server.begin_fetch("s/1", "later")
        tap.contains("its runner sends", process.stderr.readline())
        server.kill()
        server.start()
        with a:
            _, said = process.communicate()
        tap.equal(process.returncode, 0, said)
        check_files(server.path("later"))


# A file that never rests, beside links and names that lead elsewhere.
HOSTILE = """
import os, socket, stat, subprocess, time
os.chdir(os.environ["AIP_MODEL_DIR"])
os.symlink("/etc/passwd", "passwd")
os.symlink("../../../..", "up")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
try:
    os.mknod("device", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
except PermissionError:
    pass
names = ["w", "-rf", "a b", "\\x1b[31m", "line\\nbreak", "..."]
for name in names:
    with open(name, "w") as file:
        file.write(name)
    os.chmod(name, 0o6755)
os.symlink("w", "inside")
with open("../other", "w") as file: # beside what is fetched
    file.write("other")
subprocess.run(["hypertune", "report", "score=1"], check=True)
"""


def a_hostile_folder_harms_no_machine():
    with Server() as server, server.machine("a"):
        server.run(HOSTILE)
        tap.equal(server.wait_study("s")["state"], "SUCCEEDED",
                  server.explain("s"))
        server.fetch("s/1", "got")
        names = ["w", "-rf", "a b", "\x1b[31m", "line\nbreak", "..."]
        tap.equal(files_below(server.path("got")),
                  {"model/" + name: name.encode() for name in names})
        for name in names:
            mode = os.lstat(server.path("got", "model", name)).st_mode
            tap.equal(stat.S_ISREG(mode) and mode & 0o7000, 0, name)
        tap.equal(sorted(os.listdir(server.path("got", "model"))),
                  sorted(names))


# A log that grows all the time, beside a file that takes a while to be sent.
GROWING = """
import os, subprocess, time
with open(os.path.join(os.environ["AIP_MODEL_DIR"], "big"), "wb") as file:
    file.write(os.urandom(64 << 20))
subprocess.run(["hypertune", "report", "score=1"], check=True)
with open(os.path.join(os.environ["AIP_TENSORBOARD_LOG_DIR"], "log"),
          "w") as file:
    n = 0
    while not os.path.exists("rest"):
        file.write("%d\\n" % n)
        file.flush()
        if n == 0:
            open("written", "w").close()
        n += 1
        time.sleep(0.05)
"""


def a_log_that_grows_is_as_it_was():
    with Server() as server, server.machine("a"):
        server.run(GROWING)
        server.await_file("written")
        server.fetch("s/1", "got")
        lines = files_below(server.path("got"))["logs/log"].decode()
        numbers = lines.splitlines()
        tap.equal(numbers, [str(n) for n in range(len(numbers))])
        tap.true(len(numbers) > 0, lines)
        server.touch("rest")
        server.wait_study("s")


RESTLESS = """
import os, subprocess, time
path = os.path.join(os.environ["AIP_MODEL_DIR"], "restless")
subprocess.run(["hypertune", "report", "score=1"], check=True)
with open(path, "wb") as file:
    file.truncate(100 << 20)
    open("written", "w").close()
    n = 0
    while True:
        n += 1
        for at in range(0, 100, 5):
            os.pwrite(file.fileno(), b"%d" % n, at << 20)
"""


def a_file_that_never_rests_is_named():
    with Server() as server, server.machine("a"):
        server.run(RESTLESS)
        server.await_file("written")
        said = server.fetch("s/1", "got", want=1)
        tap.contains("restless changed ", said)
        tap.equal(os.path.exists(server.path("got")), False)
        server.cli("cancel", "s", "--yes")


def what_is_not_kept_is_gone():
    with Server() as server, server.machine("a"):
        server.run(TRAINER.replace("score=1", "score=\" + sys.argv[1] + \""
                                   ).replace("import hashlib, os",
                                             "import sys, hashlib, os"),
                   parameters={"x": ["1", "2"]}, trials=2, parallel=1,
                   keep={"best": 1})
        server.wait_study("s")
        worse = "1" if server.trial("s", 1)["hypertune"]["objective"] == 1 \
            else "2"
        harness.wait_until(
            lambda: server.trial("s", int(worse))["hypertune"].get("outputs")
            == "discarded", "its outputs are removed")
        tap.contains("were discarded", server.fetch("s/" + worse, want=3))
        server.fetch("s/best", "best")
        check_files(server.path("best"))


tap.run([a_trial_that_runs_and_one_that_has_ended,
         a_folder_with_something_in_it_is_refused,
         a_killed_fetch_is_continued,
         a_runner_that_is_away_and_comes_back,
         a_server_that_starts_again_meanwhile,
         a_hostile_folder_harms_no_machine,
         a_log_that_grows_is_as_it_was,
         a_file_that_never_rests_is_named,
         what_is_not_kept_is_gone])
