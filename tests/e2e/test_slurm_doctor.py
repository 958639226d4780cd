"""`hypertune doctor` and `--smoke` where there is a real Slurm."""

import contextlib
import json
import os
import sys

import cli_home
import harness
import slurm
import tap
from runner_process import Runner

TRAINER = """
import hypertune
hypertune.HyperTune().report_hyperparameter_tuning_metric("score", 0.5, 1)
"""

try:
    slurm.require()
except tap.Skip as reason:
    tap.skip("doctor and --smoke with a Slurm", reason)

cluster = slurm.Cluster(nodes=1, max_array=1001,
                        partitions={"main": "INFINITE", "short": "2"})
server = harness.Server("--runner", "none")


def findings(*arguments, **variables):
    """What doctor says of Slurm."""
    with cli_home.Home() as home:
        out, _ = home.cli("doctor", "-o", "json", *arguments,
                          DOCKER_HOST="unix:///nonexistent", **variables)
    return [one for one in json.loads(out) if one["subject"] == "slurm"]


def doctor_shows_the_cluster_by_commands():
    found = findings(**cluster.environment)
    tap.equal([one["level"] for one in found], ["ok", "ok"], found)
    tap.starts(found[0]["text"], cluster.version, found)
    tap.contains("by commands (squeue is in PATH), arrays of 1001 elements, "
                 "KillWait 2s", found[0]["text"])
    tap.equal(found[1]["text"], "partitions: main (default, without a limit), "
              "short (at most 2m)")


def doctor_shows_the_cluster_by_slurmrestd():
    found = findings(SLURM_REST_URL=cluster.rest)
    tap.contains("by slurmrestd, %s (SLURM_REST_URL names it)" % cluster.api,
                 found[0]["text"])
    tap.contains("short (at most 2m)", found[1]["text"])


def a_connection_that_is_not_open_is_said_with_its_command():
    with cli_home.Home() as home:
        found = findings("--slurm-ssh", "me@login.invalid",
                         HYPERTUNE_SSH_DIR=os.path.join(home.folder, "m"))
    tap.equal([one["level"] for one in found], ["warn"], found)
    tap.contains("`hypertune runners connect me@login.invalid`",
                 found[0]["text"])


def without_slurm_nothing_is_said():
    found = findings(PATH="/nonexistent")
    tap.equal(found, [])


def smoke(name, **section):
    path = os.path.join(server.folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"spec": 1, "name": name, "goal": "maximize score",
                   "trials": 2, "parallel": 2, "parameters": {"x": [1, 2]},
                   "command": [sys.executable, "-c", TRAINER], "args": "none",
                   "slurm": section}, file)
    return server.cli("submit", "--smoke", path, check=False)


def what_slurm_refuses_makes_no_study():
    ended = smoke("refused", partition="nope")
    tap.equal(ended.returncode, 1, ended.stderr)
    tap.contains("smoke: Slurm refuses the job: ", ended.stderr)
    tap.contains("nvalid partition", ended.stderr)
    tap.lacks("running one trial", ended.stderr)
    tap.lacks("refused", server.cli("list").stdout)


def what_slurm_takes_runs_its_trial():
    ended = smoke("taken", partition="short", time="1h")
    tap.equal(ended.returncode, 0, ended.stderr)
    tap.contains("smoke: Slurm would start it at ", ended.stderr)
    tap.contains("smoke: one trial ran in ", ended.stderr)
    tap.equal(server.wait_study("taken")["state"], "SUCCEEDED",
              server.explain("taken"))


def a_controller_that_is_down_is_a_warning():
    process = next(one for one in cluster.processes
                   if one.args[0].endswith("/slurmctld"))
    process.kill()
    process.wait()
    cluster.processes.remove(process)
    for variables in cluster.environment, {"SLURM_REST_URL": cluster.rest}:
        found = findings(**variables)
        tap.equal([one["level"] for one in found], ["warn"], found)


with contextlib.ExitStack() as stack:
    stack.enter_context(cluster)
    stack.callback(server.close)
    cases = [doctor_shows_the_cluster_by_commands,
             doctor_shows_the_cluster_by_slurmrestd,
             a_connection_that_is_not_open_is_said_with_its_command,
             without_slurm_nothing_is_said]
    os.environ.update(cluster.environment)
    server.start()
    stack.enter_context(Runner(server, "doctor", "--engine", "slurm",
                               url=server.http, slots=4))
    tap.run(cases + [what_slurm_refuses_makes_no_study,
                     what_slurm_takes_runs_its_trial,
                     a_controller_that_is_down_is_a_warning])
