"""slurm_far - a Slurm that shares no folder with the runner, for a test: all
that the runner has is one connection of ssh to a login node.

    with slurm_far.Far() as far, slurm_far.Runner(far, "name") as runner:
        far.disconnect()

Its packages: .ci/deps slurm."""

import contextlib
import os
import subprocess
import sys

import harness
import login_node
import runner_process
import slurm
import tap

# Everything that it has is at the cluster.
TRAINER = """
import os, sys, time
root, state, begun = sys.argv[2:5]
with open(begun, "a") as file:
    file.write(os.environ["CLOUD_ML_TRIAL_ID"] + "\\n")
for name in ("HYPERTUNE_TRIAL_DIR", "HYPERTUNE_KIT", "CLOUD_ML_HP_METRIC_FILE",
             "AIP_CHECKPOINT_DIR", "HYPERTUNE_REPORT_FILE"):
    assert os.environ[name].startswith(root + "/"), os.environ[name]
assert os.listdir(state) == [], os.listdir(state)
assert os.path.isdir(os.environ["AIP_CHECKPOINT_DIR"])
sys.path.insert(0, os.environ["HYPERTUNE_KIT"] + "/python")
import hypertune
assert hypertune.__file__.startswith(root + "/"), hypertune.__file__
x = float(sys.argv[1])
for step in range(1, 4):
    hypertune.HyperTune().report_hyperparameter_tuning_metric("score", x, step)
    time.sleep(0.3)
for number in range(4000):
    print("line %d of job %s" % (number, os.environ["SLURM_JOB_ID"]))
"""
# Counts to the given number, one a second, and continues after a stop; at the
# second number it waits for the file.
COUNTER = """
import os, sys, time
sys.path.insert(0, os.environ["HYPERTUNE_KIT"] + "/python")
import hypertune
path = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "count")
try:
    count = int(open(path).read())
    print("continues at", count, flush=True)
except FileNotFoundError:
    count = 0
to, held, gate = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
while count < to:
    while count == held and not os.path.exists(gate):
        time.sleep(0.1)
    time.sleep(1)
    count += 1
    hypertune.HyperTune().report_hyperparameter_tuning_metric(
        "score", count, count)
    with open(path + ".new", "w") as file:
        file.write(str(count))
    os.rename(path + ".new", path)
"""


class Laptop:
    """Where the runner is: nothing else can see its state folder."""

    def __init__(self, folder):
        self.state = folder
        os.makedirs(self.state)
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c",
             "mount -t tmpfs none \"$0\" && echo up && exec sleep infinity",
             self.state], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        tap.equal(self.holder.stdout.readline(), b"up\n")

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


class Runner(runner_process.Runner):
    """Its state outlives kill(), which __enter__() follows."""

    def __init__(self, far, name):
        self.laptop = Laptop(os.path.join(far.server.data, name, "state"))
        self.root = os.path.join(far.node.folder, "root-" + name)
        super().__init__(far.server, name, "--engine", "slurm", "--slurm-ssh",
                         far.node.host, "--slurm-folder", self.root, "--state",
                         self.laptop.state, url=far.server.http, slots=8)

    def words(self):
        return ["nsenter", "--mount", "--target",
                str(self.laptop.holder.pid), "--"] + super().words()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, kind, value, trace):
        super().__exit__(kind, value, trace)
        self.laptop.close()
        if kind is not None:
            print("# the runner said:\n# " +
                  self.log().replace("\n", "\n# "))

    def mirrors(self):
        """The processes of ours on the login node, for this runner."""
        return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc"))
                if harness.read_proc(pid, "cmdline").split(b"\0")[1:3] ==
                [b"--mirror", os.fsencode(self.root)]]


class Far(contextlib.ExitStack):
    """Server, cluster and login node, whose connection is open."""

    def __enter__(self):
        super().__enter__()
        slurm.require()
        login_node.require()
        self.server = harness.Server("--runner", "none")
        self.callback(self.server.close)
        self.cluster = self.enter_context(slurm.Cluster(nodes=4))
        self.node = self.enter_context(
            login_node.LoginNode(self.cluster.environment))
        # The runner has no other way to Slurm.
        os.environ["HYPERTUNE_SSH_DIR"] = os.path.join(self.node.folder, "m")
        self.connect()
        self.callback(self.disconnect)
        self.server.start()
        return self

    def connect(self):
        subprocess.run(
            [os.path.join(harness.bin_dir(), "hypertune"), "runners",
             "connect", self.node.host, "--", *self.node.options],
            stdin=subprocess.DEVNULL, check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def disconnect(self):
        subprocess.run(
            ["ssh", "-F", "none", "-o", "ControlPath=" + os.path.join(
                os.environ["HYPERTUNE_SSH_DIR"], "%C"), "-O", "exit",
             self.node.host], stderr=subprocess.DEVNULL, check=False)

    def begun(self, name):
        """Where each trainer of the study says that it has begun."""
        return os.path.join(self.node.folder, "begun-" + name)

    def spec(self, name, one, trials=12, command=None, **members):
        return {"spec": 1, "name": name, "goal": "maximize score",
                "trials": trials, "parallel": 4, "algorithm": "random",
                "seed": 1,
                "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
                "command": command or [sys.executable, "-c", TRAINER, "${x}",
                                       one.root, one.laptop.state,
                                       self.begun(name)],
                "workdir": "/", "args": "none", "slurm": {}, **members}

    def gate(self, name):
        """For which the trials of counting() wait."""
        return os.path.join(self.node.folder, "gate-" + name)

    def open_gate(self, name):
        with open(self.gate(name), "w", encoding="ascii"):
            pass

    def counting(self, name, one, to, held, trials=1):
        return self.spec(name, one, trials,
                         [sys.executable, "-c", COUNTER, str(to), str(held),
                          self.gate(name)])

    def scores(self, name, trial):
        return [row["metrics"]["score"] for row in
                self.server.measurements(name, trial)]

    def succeeded(self, name):
        status = self.server.wait_study(name)
        tap.equal(status["state"], "SUCCEEDED", self.server.explain(name))

    def check_trials(self, name, trials):
        """Each has begun once, with all of its reports and lines; an attempt
        that a runner was killed too early to keep never began, and where its
        point was withdrawn then, its number is left out."""
        self.succeeded(name)
        numbers = [int(trial["id"]) for trial in self.server.trials(name)]
        tap.equal(len(numbers), trials)
        with open(self.begun(name), encoding="ascii") as file:
            tap.equal(sorted(map(int, file.read().split())), sorted(numbers))
        for number in numbers:
            trial = self.server.trial(name, number)
            value = float(trial["parameters"][0]["value"])
            tap.equal(trial["hypertune"]["objective"], value)
            tap.equal(self.scores(name, number), [value] * 3)
            said = self.server.cli("logs", "%s/%d" % (name, number)).stdout
            lines = [line.split(" of job ")[0].split("line ")[1]
                     for line in said.splitlines() if " of job " in line]
            tap.equal(lines, [str(n) for n in range(4000)])

    def quiet(self):
        harness.wait_until(
            lambda: not self.cluster.call("squeue", "-h", "-t", "PD,R,CG"),
            "the end of all elements")
