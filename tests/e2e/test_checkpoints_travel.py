"""A trial continues at another machine, from the newest checkpoint that was
whole there: two runners with nothing in common but their server."""

import contextlib
import hashlib
import os
import signal
import sqlite3
import stat

import harness
import tap
from runner_process import Runner

STEPS = 12
# Each step makes the next weights of the last ones. It waits before step N while
# there is a file hold-N in the folder that it was submitted from.
TRAINER = """
import hashlib, os, subprocess, sys, time
top = os.environ["AIP_CHECKPOINT_DIR"]
saved = os.path.join(top, "weights")
step, weights = 0, b""
if os.environ.get("HYPERTUNE_RESUME") == "1" and os.path.exists(saved):
    with open(saved, "rb") as file:
        line, weights = file.read().split(b"\\n", 1)
        step = int(line)
with open("begun", "a") as file:
    file.write("%s %d\\n" % (sys.argv[1], step))
while step < 12:
    step += 1
    while os.path.exists("hold-%d" % step):
        time.sleep(0.02)
    weights += hashlib.sha256(weights + b"%d" % step).digest() * 2000
    with open(saved + ".new", "wb") as file:
        file.write(b"%d\\n" % step + weights)
    os.replace(saved + ".new", saved)
    subprocess.run(["hypertune", "report", "score=%d" % step, "--step",
                    str(step), "--checkpoint", saved], check=True)
"""


def final_weights():
    weights = b""
    for step in range(1, STEPS + 1):
        weights += hashlib.sha256(weights + b"%d" % step).digest() * 2000
    return b"%d\n" % STEPS + weights


class Server(harness.Server):
    """Without a runner of its own."""

    def __init__(self):
        super().__init__("--runner", "none")

    def machine(self, name):
        return Runner(self, name, "--slots", "1", "--machine", name,
                      url=self.http)

    def write(self, name, text=""):
        with open(os.path.join(self.folder, name), "w",
                  encoding="ascii") as file:
            file.write(text)

    def remove(self, name):
        os.remove(os.path.join(self.folder, name))

    def begun(self, word):
        """The steps that attempts with that argument began at."""
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(self.folder, "begun"),
                      encoding="ascii") as file:
                return [int(line.split()[1]) for line in file
                        if line.split()[0] == word]
        return []

    def ask(self, sql):
        database = sqlite3.connect(
            "file:%s/hypertune.db?mode=ro" % self.data, uri=True)
        with contextlib.closing(database):
            return database.execute(sql).fetchall()

    def checkpoints(self):
        return self.ask("SELECT attempt, step FROM checkpoints ORDER BY id")

    def run(self, script, **changes):
        # A trial may begin in a copy of the folder.
        self.write("train.py", "import os\nos.chdir(%r)\n" % self.folder +
                   script)
        path = harness.bin_dir() + os.pathsep + os.environ["PATH"]
        self.submit(dict({
            "spec": 1, "name": "s", "goal": "maximize score", "trials": 1,
            "parameters": {"x": ["1"]}, "algorithm": "grid", "retries": 0,
            "args": "none", "workdir": self.folder,
            "command": ["python3", "train.py", "${x}"]}, **changes),
                    env={"PATH": path})

    def attempts(self, trial=1):
        return [(one["runner"], one.get("outcome")) for one in
                self.trial("s", trial)["hypertune"]["attempts"]]


def runner_id(machine):
    with open(os.path.join(machine.folder, "runs", "runner-id"),
              encoding="ascii") as file:
        return file.read().strip()


def checkpoint_folder(machine, trial=1):
    return os.path.join(machine.folder, "runs", "1", str(trial), "checkpoints")


def take_away(machine):
    """As the plug of its machine being pulled."""
    machine.process.kill()
    machine.process.wait()
    harness.kill_runs(machine.folder)


def a_killed_machine_loses_nothing_that_was_named():
    with Server() as server:
        server.write("hold-7")
        with server.machine("a") as a:
            server.run(TRAINER)
            harness.wait_until(
                lambda: server.checkpoints()[-1:] == [(1, 6)],
                "the checkpoint of step 6")
            take_away(a)
        server.remove("hold-7")
        with server.machine("b") as b:
            status = server.wait_study("s")
            tap.equal(status["state"], "SUCCEEDED", server.explain("s"))
            tap.equal(server.begun("1"), [0, 6])
            tap.equal(server.attempts(), [(runner_id(a), "lost"),
                                          (runner_id(b), "succeeded")])
            with open(os.path.join(checkpoint_folder(b), "weights"),
                      "rb") as file:
                tap.equal(file.read() == final_weights(), True, "same bytes")
            tap.contains("continues from the checkpoint of attempt 1 at step 6",
                         server.cli("logs", "s/1", "--stream", "runner").stdout)
        winners = server.ask("SELECT sum(winner) FROM attempts")
        tap.equal(winners, [(1,)])
        tap.equal(server.trial("s", 1)["hypertune"]["objective"], STEPS)


# Pauses by its rule; names nothing, so that the end of the attempt has to.
PAUSED = TRAINER.replace(""", "--checkpoint", saved""", "").replace(
    "while step < 12:", """
while sys.argv[1] == "1" and not os.path.exists("go"):
    time.sleep(0.02)
while step < 12:""").replace("score=%d\" % step", "score=%g\" % ("
                             "int(sys.argv[1]) + step / 100)").replace(
                                 "    step += 1\n",
                                 "    step += 1\n    time.sleep(0.1)\n")


def a_paused_trial_continues_where_there_is_room():
    """While its first runner is there, and busy."""
    with Server() as server, server.machine("a") as a:
        # None ends before its rung has been judged.
        server.write("hold-7")
        server.run(PAUSED, parameters={"x": [str(n) for n in (9, 1, 2, 3, 4)]},
                   trials=5, parallel=2,
                   earlyStopping={"rule": "asha", "minSteps": 2,
                                  "maxSteps": STEPS, "pause": True})
        harness.wait_until(lambda: server.begun("1"), "trial 2 on a")
        harness.wait_until(lambda: server.trial("s", 1)["hypertune"]["state"] ==
                           "PAUSED", "trial 1 pauses")
        with server.machine("b") as b:
            harness.wait_until(lambda: len(server.attempts()) > 1,
                               "the trial continues")
            tap.equal(server.attempts()[1][0], runner_id(b))
            server.write("go")
            server.remove("hold-7")
            status = server.wait_study("s")
            tap.equal(status["state"], "SUCCEEDED", server.explain("s"))
            tap.equal(status["best"]["hypertune"]["params"]["x"], "9")
            starts = server.begun("9")
            tap.equal(starts, sorted(starts), "it never went back")
            tap.true(starts[1] >= 2, starts)
            tap.equal(server.attempts()[0][0], runner_id(a))


# Changes its weights in place, again and again, while it says that they are
# whole.
RESTLESS = """
import hashlib, os, subprocess, sys, time
saved = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "weights")
def save(n):
    body = (b"%08d" % n) * 500000
    with open(saved, "r+b" if os.path.exists(saved) else "wb") as file:
        file.write(body)
if os.environ.get("HYPERTUNE_RESUME") == "1":
    with open(saved, "rb") as file:
        body = file.read()
    whole = body == body[:8] * 500000
    subprocess.run(["hypertune", "report", "score=%d" % whole], check=True)
    sys.exit()
save(0)
writer = os.fork()
if writer == 0:
    n = 0
    while not os.path.exists("rest"):
        n += 1
        save(n)
    os._exit(0)
while not os.path.exists("rest"):
    subprocess.run(["hypertune", "checkpoint", "--step", "1"], check=True)
    time.sleep(0.05)
os.waitpid(writer, 0)
subprocess.run(["hypertune", "checkpoint", "--step", "2"], check=True)
while True:
    time.sleep(1)
"""


def files_that_change_are_not_taken():
    with Server() as server:
        with server.machine("a") as a:
            server.run(RESTLESS)
            a.wait_log("changed while it was read")
            server.write("rest")
            harness.wait_until(lambda: server.checkpoints()[-1:] == [(1, 2)],
                               "the last one")
            take_away(a)
        with server.machine("b"):
            tap.equal(server.wait_study("s")["state"], "SUCCEEDED",
                      server.explain("s"))
            tap.equal(server.trial("s", 1)["hypertune"]["objective"], 1)


HOSTILE = """
import os, socket, stat, subprocess, sys, time
os.chdir(os.environ["AIP_CHECKPOINT_DIR"])
if os.environ.get("HYPERTUNE_RESUME") == "1":
    subprocess.run(["hypertune", "report", "score=1"], check=True)
    sys.exit()
os.symlink("/etc/passwd", "passwd")
os.symlink("../../../..", "up")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
try:
    os.mknod("device", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
except PermissionError:
    pass
os.makedirs("a/b")
os.symlink("../w", "a/w")
for name in ("w", "a/b/w"):
    with open(name, "w") as file:
        file.write(name)
    os.chmod(name, 0o6755)
for path in ("/etc/passwd", "..", "../../1", "passwd", "up/x", "pipe", "a/.."):
    subprocess.run(["hypertune", "report", "score=0", "--checkpoint", path],
                   check=True)
    time.sleep(0.3)
subprocess.run(["hypertune", "checkpoint", "--step", "5"], check=True)
while True:
    time.sleep(1)
"""


def a_hostile_folder_harms_no_machine():
    with Server() as server:
        with server.machine("a") as a:
            server.run(HOSTILE)
            harness.wait_until(lambda: server.checkpoints()[-1:] == [(1, 5)],
                               "the checkpoint")
            tap.equal(len(server.checkpoints()), 1, "nothing of elsewhere")
            take_away(a)
        with server.machine("b") as b:
            tap.equal(server.wait_study("s")["state"], "SUCCEEDED",
                      server.explain("s"))
            top = checkpoint_folder(b)
            found = sorted(os.path.relpath(os.path.join(folder, name), top)
                           for folder, folders, files in os.walk(top)
                           for name in folders + files)
            tap.equal(found, ["a", "a/b", "a/b/w", "a/w", "w"])
            tap.equal(os.readlink(os.path.join(top, "a/w")), "../w")
            for name in ("w", "a/b/w"):
                mode = os.stat(os.path.join(top, name)).st_mode
                tap.equal(stat.S_IMODE(mode) & 0o7000, 0, name)


def a_server_that_is_away_hurts_no_training():
    with Server() as server, server.machine("a"):
        server.write("hold-3")
        server.run(TRAINER)
        harness.wait_until(lambda: server.checkpoints()[-1:] == [(1, 2)],
                           "the checkpoint of step 2")
        server.kill()
        server.write("hold-9")
        server.remove("hold-3")
        reports = os.path.join(server.data, "a", "runs", "1", "1", "1",
                               "master-0", "reports.jsonl")
        def reached():
            with open(reports, encoding="ascii") as file:
                return sum(1 for _ in file) == 8
        harness.wait_until(reached, "step 8 without a server")
        server.start()
        harness.wait_until(lambda: server.checkpoints()[-1:] == [(1, 8)],
                           "the newest checkpoint")
        server.remove("hold-9")
        tap.equal(server.wait_study("s")["state"], "SUCCEEDED",
                  server.explain("s"))
        tap.equal(server.attempts()[0][1], "succeeded")


def lose(server, machine, number):
    """The attempt, once it runs: kills its shim."""
    harness.wait_until(
        lambda: server.trials("s") and server.trial("s", 1)["hypertune"].get(
            "attempt") == number and server.ask(
                "SELECT state FROM attempts WHERE n=%d" % number) == [(1,)],
        "attempt %d" % number)
    shim = os.path.join(harness.bin_dir(), "hypertune-shim")
    for pid in harness.processes(shim, machine.folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def three_losses_without_progress_end_a_trial():
    with Server() as server, server.machine("a") as a:
        server.run("import time\ntime.sleep(600)\n")
        for number in (1, 2, 3):
            lose(server, a, number)
        status = server.wait_study("s")
        tap.equal(status["state"], "FAILED")
        trial = server.trial("s", 1)["hypertune"]
        tap.contains("lost 3 times in a row without a newer checkpoint or step",
                     trial["reason"])
        tap.equal([outcome for _, outcome in server.attempts()], ["lost"] * 3)


# Counts its attempts where the server does not see it; the fifth succeeds.
COUNTER = """
import subprocess, time
path = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "count")
count = 1 + (int(open(path).read()) if os.path.exists(path) else 0)
with open(path + ".new", "w") as file:
    file.write(str(count))
os.replace(path + ".new", path)
if count < 5:
    time.sleep(600)
subprocess.run(["hypertune", "report", "score=5"], check=True)
"""


def read(path):
    with contextlib.suppress(FileNotFoundError):
        with open(path, encoding="ascii") as file:
            return file.read()
    return ""


def what_an_output_dir_has_brings_a_trial_further():
    with Server() as server, server.machine("a") as a:
        out = os.path.join(server.folder, "out")
        server.run(COUNTER, outputDir=out)
        for number in (1, 2, 3, 4):
            harness.wait_until(
                lambda: read(os.path.join(out, "1", "checkpoints", "count")) ==
                str(number), "count %d" % number)
            lose(server, a, number)
        tap.equal(server.wait_study("s")["state"], "SUCCEEDED",
                  server.explain("s"))
        tap.equal([outcome for _, outcome in server.attempts()],
                  ["lost"] * 4 + ["succeeded"])


tap.run([a_killed_machine_loses_nothing_that_was_named,
        a_paused_trial_continues_where_there_is_room,
        files_that_change_are_not_taken,
        a_hostile_folder_harms_no_machine,
        a_server_that_is_away_hurts_no_training,
        three_losses_without_progress_end_a_trial,
        what_an_output_dir_has_brings_a_trial_further])
