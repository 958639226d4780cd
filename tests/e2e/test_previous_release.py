"""Programs of the previous release beside those of this one, as a fleet has
them while it is brought up to date (tests/previous.sh builds the release)."""

import os
import shutil
import subprocess
import sys
import tempfile

import harness
import tap

NOW = os.path.dirname(harness.bin_dir())
PREVIOUS = os.path.join(NOW, "previous")
TRIALS = 5
STEPS = 300
# Several metrics and steps, by the reporter of the runner's kit, by the
# command, and as a printed line.
TRAINER = """
import hypertune, subprocess, sys
x = float(sys.argv[1].split("=")[1])
reporter = hypertune.HyperTune()
for step in range(1, %d):
    reporter.report_hyperparameter_tuning_metric("error", abs(x - 3) + 1.0 / step,
                                                 global_step=step)
    reporter.report_hyperparameter_tuning_metric("steps", step,
                                                 global_step=step)
subprocess.check_call(["hypertune", "report", "last=%%g" %% x])
print("trained x=%%g" %% x, flush=True)
""" % (STEPS + 1)
# A study of a client, with the package of one of the releases.
CLIENT = """
import hypertune, sys
study = hypertune.Client().create_study(
    sys.argv[1], metric="loss", goal="MINIMIZE", seed=1,
    params={"x": "0.0..1.0"})
for trial in study.ask(4):
    trial.report(step=1, loss=trial.params["x"] + 1)
    trial.complete(loss=trial.params["x"])
best = min(t.params["x"] for t in study.trials())
assert abs(study.best_trial.value - best) < 1e-12
print(len(study.trials()))
"""


def spec(name):
    return {"spec": 1, "name": name, "goal": "minimize error",
            "parameters": {"x": {"type": "integer", "min": 1, "max": TRIALS}},
            "algorithm": "grid", "trials": TRIALS, "parallel": 2,
            "retries": 0,
            "command": [sys.executable, "-c", TRAINER, "--x=${x}"],
            "args": "none"}


def mixed(folder, old):
    """A folder of programs as an installation has them: the named ones are
    of the previous release, and so is the kit where the runner is."""
    kit = PREVIOUS if "hypertune-runner" in old else NOW
    shutil.copytree(os.path.join(kit, "kit"), os.path.join(folder, "kit"))
    programs = os.path.join(folder, "bin")
    os.mkdir(programs)
    for name in os.listdir(os.path.join(NOW, "bin")):
        of = PREVIOUS if name in old else NOW
        shutil.copy2(os.path.join(of, "bin", name), programs)
    return programs


def check_study(server, name):
    """Every trial has all its measurements, and the best one is the best."""
    tap.equal(server.wait_study(name)["state"], "SUCCEEDED", name)
    trials = server.trials(name)
    tap.equal(len(trials), TRIALS)
    for trial in trials:
        ours = trial["hypertune"]
        x = int(ours["params"]["x"])
        tap.equal((ours["state"], round(ours["objective"], 9)),
                  ("SUCCEEDED", round(abs(x - 3) + 1 / STEPS, 9)))
        rows = server.measurements(name, trial["id"])
        steps = [row for row in rows if "steps" in row["metrics"]]
        tap.equal([row["metrics"]["steps"] for row in steps],
                  list(range(1, STEPS + 1)))
        tap.equal([row["metrics"]["last"] for row in rows
                   if "last" in row["metrics"]], [x])
        log = server.cli("logs", "%s/%s" % (name, trial["id"])).stdout
        tap.equal("trained x=%d" % x in log, True, log)
    tap.equal(server.cli("best", name, "-o", "args").stdout, "--x=3\n")


def runs_with(*old):
    """A study with the named programs of the previous release."""
    with tempfile.TemporaryDirectory() as folder:
        programs = mixed(folder, old)
        with harness.Server(programs=programs, slots=2) as server:
            server.submit(spec("mixed"))
            check_study(server, "mixed")


def old_runners_serve_a_new_server():
    runs_with("hypertune-runner", "hypertune-shim", "hypertune-trial")


def new_runners_serve_an_old_server():
    runs_with("hypertuned", "hypertune")


def an_old_command_asks_a_new_server():
    runs_with("hypertune")


def packages_ask_servers_of_the_other_release():
    for server_of, package_of in ((NOW, PREVIOUS), (PREVIOUS, NOW)):
        with harness.Server(programs=os.path.join(server_of, "bin")) as server:
            done = subprocess.run(
                [sys.executable, "-c", CLIENT, "by-client"], cwd=server.folder,
                env=dict(os.environ, HYPERTUNE_SERVER=server.http,
                         HYPERTUNE_TOKEN_FILE=server.token_file,
                         PYTHONPATH=os.path.join(package_of, "kit/python")),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=harness.PATIENCE, encoding="utf-8")
            tap.equal((done.returncode, done.stdout), (0, "4\n"))


def a_study_continues_through_an_upgrade():
    """The server and its runners are replaced while trials run; they continue,
    and nothing that they report is lost."""
    with harness.Server(programs=os.path.join(PREVIOUS, "bin"),
                        slots=2) as server:
        gate = os.path.join(server.folder, "gate")
        waits = "import os, time\nwhile not os.path.exists(%r): " \
            "time.sleep(0.01)\n" % gate
        job = spec("upgraded")
        job["command"][2] = TRAINER.replace("subprocess.check_call",
                                            waits + "subprocess.check_call")
        server.submit(job)
        harness.wait_until(lambda: any(
            server.measurements("upgraded", trial["id"])
            for trial in server.trials("upgraded")), "a measurement")
        server.stop()
        server.programs = harness.bin_dir()
        server.start()
        with open(gate, "w", encoding="ascii"):
            pass
        check_study(server, "upgraded")
        tap.equal([trial["hypertune"]["attempt"]
                   for trial in server.trials("upgraded")], [1] * TRIALS)


def an_old_server_refuses_a_new_database():
    with harness.Server() as server:
        server.stop()
        server.programs = os.path.join(PREVIOUS, "bin")
        try:
            server.start()
        except AssertionError as error:
            tap.equal("newer" in str(error), True, str(error))
        else:
            raise AssertionError("it started")
        server.wait_death()
        server.programs = harness.bin_dir()
        server.start()


CASES = [old_runners_serve_a_new_server, new_runners_serve_an_old_server,
         an_old_command_asks_a_new_server,
         packages_ask_servers_of_the_other_release,
         a_study_continues_through_an_upgrade,
         an_old_server_refuses_a_new_database]

if os.path.exists(os.path.join(PREVIOUS, "commit")):
    tap.run(CASES)
else:
    tap.skip("the previous release", "tests/previous.sh builds it")
