"""Trials in jobs of a real Slurm report to a server with TLS by the relay on
their node; while it cannot be reached, the file brings what they report."""

import contextlib
import os
import stat
import sys

import harness
import slurm
import tap
from runner_process import Runner
from tls_server import TlsServer

# Says whether the server itself has confirmed the report.
TRAINER = """
import os, time, hypertune
print("url", os.environ.get("HYPERTUNE_REPORT_URL"), flush=True)
while not os.path.exists(%r):
    time.sleep(0.1)
hypertune.HyperTune().report_hyperparameter_tuning_metric("score", 0.5, 1)
print("confirmed", hypertune.flush(%d), flush=True)
"""
ALONE = 'import os\ndel os.environ["HYPERTUNE_REPORT_FILE"]\n'
LONG, SHORT = 60, 1  # s, for the server's word

server = TlsServer("--runner", "none")
cluster = slurm.Cluster(nodes=5)  # the elements of a runner that ended stay


def submit(name, program, gate=os.devnull, patience=LONG):
    server.submit({
        "spec": 1, "name": name, "goal": "maximize score", "trials": 1,
        "algorithm": "random", "seed": 1, "retries": 0, "args": "none",
        "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
        "command": [sys.executable, "-c", program % (gate, patience)],
        "metricDoctor": "warn", "slurm": {}})


def said(name):
    """What a trial that succeeded with its measurement has printed."""
    tap.equal(server.wait_study(name)["state"], "SUCCEEDED",
              server.explain(name))
    tap.equal([row["metrics"] for row in server.measurements(name, 1)],
              [{"score": 0.5}])
    return server.cli("logs", name + "/1").stdout


def runner(name, *options):
    return Runner(server, name, "--engine", "slurm", *options)


def a_report_passes_by_the_relay_alone():
    for name, options in ("ca", ["--ca", server.ca]), (
            "pin", ["--pin", server.pins()[0]]):
        with runner(name, *options):
            submit("by-" + name, ALONE + TRAINER)
            text = said("by-" + name)
        tap.contains("url tcp://127.0.0.1:", text)
        tap.contains("confirmed True", text)


def what_a_node_reads_is_its_owners():
    with runner("private", "--ca", server.ca) as one:
        submit("private", TRAINER)
        said("private")
        found = [os.path.join(folder, name)
                 for folder, _, names in os.walk(one.folder)
                 for name in names if name == "answer.1"]
    tap.equal(len(found), 1)
    tap.equal(stat.S_IMODE(os.stat(found[0]).st_mode), 0o600)
    tap.equal(stat.S_IMODE(os.stat(os.path.dirname(
        os.path.dirname(found[0]))).st_mode), 0o700)


def a_server_that_is_gone_harms_no_trial():
    gate = os.path.join(server.folder, "gate")
    with runner("gone", "--ca", server.ca) as one:
        submit("gone", TRAINER, gate, SHORT)
        harness.wait_until(
            lambda: "url tcp://127.0.0.1:" in
            server.cli("logs", "gone/1", check=False).stdout, "the trainer")
        server.kill()
        open(gate, "w", encoding="ascii").close()
        harness.wait_until(lambda: "attempt.ended" in one.log(), "its end")
        server.start()
        tap.contains("confirmed False", said("gone"))


def a_runner_that_shows_a_certificate_keeps_it():
    """Its key does not go to nodes, so that files are the way."""
    server.make("client", "one")
    keys = os.path.join(server.tls, "clients", "one")
    with runner("shown", "--ca", server.ca, "--cert", keys + ".pem", "--key",
                keys + ".key"):
        submit("shown", TRAINER, patience=SHORT)
        tap.contains("url None\nconfirmed False", said("shown"))


with contextlib.ExitStack() as stack:
    slurm.require()
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    stack.callback(server.close)
    server.start()
    tap.run([a_report_passes_by_the_relay_alone,
             what_a_node_reads_is_its_owners,
             a_server_that_is_gone_harms_no_trial,
             a_runner_that_shows_a_certificate_keeps_it])
