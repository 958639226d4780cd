"""Trials of several replicas in jobs of a real Slurm: one allocation, a task
and a node for each replica."""

import contextlib
import json
import os
import subprocess
import sys

import harness
import slurm
import tap
import tree
from runner_process import Runner

GREETER = os.path.join(tree.TRAINERS, "greeter.py")
RANKS = """
import json, os
names = ["MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "SLURM_JOB_ID",
         "SLURMD_NODENAME", "CLUSTER_SPEC"]
print(json.dumps({name: os.environ.get(name) for name in names}))
print("score=1")
"""
# Each replica counts until the file `go` is there; the master has a score.
WAITS = """
import os, sys, time
open(os.path.join(sys.argv[1], os.environ["HYPERTUNE_REPLICA"]), "w").close()
while not os.path.exists(os.path.join(sys.argv[1], "go")):
    time.sleep(0.1)
print("score=4", flush=True)
"""
NAMES = ["master-0", "worker-0", "worker-1", "ps-0"]

server = harness.Server("--runner", "none")
cluster = slurm.Cluster(nodes=4)


def runner(name, *options):
    return Runner(server, name, "--engine", "slurm", *options,
                  url=server.http, slots=8)


def spec(name, command, **members):
    return {"spec": 1, "name": name, "goal": "maximize score", "trials": 1,
            "retries": 0, "args": "none", "grace": "5s",
            "algorithm": "random", "seed": 1, "command": command,
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "metrics": {"stdout": "score={score}"}, "slurm": {},
            "replicas": {"worker": {"count": 2}, "ps": {"count": 1}},
            **members}


def python(text, *words):
    return [sys.executable, "-c", text, *words]


def run(given):
    server.submit(given)
    server.wait_study(given["name"])
    return server.trial(given["name"], 1)["hypertune"]


def said(name, replica):
    """The JSON object that a replica has printed first."""
    return json.loads(server.get(
        harness.OURS + "%s/trials/1/logs?replica=%s&stream=stdout&offset=0" %
        (name, replica))["data"].splitlines()[0])


def jobs():
    """State, tasks and nodes of each element of ours that is listed."""
    rows = cluster.call("squeue", "-h", "-r", "-t", "all", "-o", "%j %T %D")
    return [row.split() for row in rows.splitlines()
            if row.startswith("ht-")]


def quiet():
    """Nothing of ours waits or runs at the cluster any more."""
    harness.wait_until(
        lambda: all(row[1] not in ("PENDING", "RUNNING", "COMPLETING")
                    for row in jobs()), "the end of all elements")


def they_find_each_other():
    trial = run(spec("greeting", [sys.executable, GREETER], args="auto"))
    tap.equal(trial["state"], "SUCCEEDED", server.explain("greeting"))
    tap.equal(trial["objective"], 4.0, "replicas that the master heard")
    spoken = {name: said("greeting", name) for name in NAMES}
    sent = spoken["master-0"]["CLUSTER_SPEC"]["cluster"]
    tap.equal({kind: len(addresses) for kind, addresses in sent.items()},
              {"master": 1, "worker": 2, "ps": 1})
    tap.equal(len(set(sum(sent.values(), []))), 4, "different addresses")
    for name in NAMES:
        kind, index = name.split("-")
        for variable in ("CLUSTER_SPEC", "TF_CONFIG"):
            tap.equal(spoken[name][variable]["cluster"], sent, name)
            tap.equal(spoken[name][variable]["task"],
                      {"type": kind, "index": int(index), "trial": "1"})
    quiet()
    tap.equal([row[2] for row in jobs()], ["4"], "one job of four nodes")


def each_has_its_rank_on_a_node_of_its_own():
    trial = run(spec("ranks", python(RANKS)))
    tap.equal(trial["state"], "SUCCEEDED", server.explain("ranks"))
    spoken = [said("ranks", name) for name in ["master-0"]]
    # What the others print after the master's end may be cut off.
    one = spoken[0]
    address = json.loads(one["CLUSTER_SPEC"])["cluster"]["master"][0]
    tap.equal("%(MASTER_ADDR)s:%(MASTER_PORT)s" % one, address)
    tap.equal((one["RANK"], one["WORLD_SIZE"]), ("0", "4"))
    quiet()


def wait_for_marks(folder, names):
    harness.wait_until(lambda: set(names) <= set(os.listdir(folder)),
                       "replicas that are up")


def marks(name):
    folder = os.path.join(server.folder, name + ".marks")
    os.mkdir(folder)
    return folder


def one_that_fails_ends_the_others():
    folder = marks("failing")
    given = spec("failing", python(WAITS, folder))
    given["replicas"]["worker"]["command"] = python(
        "import os, sys\n"
        "if os.environ['HYPERTUNE_REPLICA'] == 'worker-1':\n"
        "    print('no data', file=sys.stderr)\n"
        "    sys.exit(3)\n" + WAITS, folder)
    trial = run(given)
    tap.equal(trial["state"], "FAILED")
    tap.contains("worker-1: exit 3", trial["reason"])
    tap.contains("no data", server.cli(
        "logs", "failing/1", "--replica", "worker-1", "--stream",
        "stderr").stdout)
    quiet()


def over_a_kill_of_the_runner(one):
    folder = marks("killed")
    server.submit(spec("killed", python(WAITS, folder)))
    wait_for_marks(folder, NAMES)
    one.process.kill()
    one.process.wait()
    one.__enter__()
    with open(os.path.join(folder, "go"), "w", encoding="ascii"):
        pass
    status = server.wait_study("killed")
    tap.equal(status["state"], "SUCCEEDED", server.explain("killed"))
    tap.equal(server.trial("killed", 1)["hypertune"]["attempt"], 1)
    quiet()


def pools_with_other_needs_are_refused():
    given = spec("pools", python(RANKS), resources={"cpus": 1})
    given["replicas"]["ps"]["resources"] = {"cpus": 2}
    path = os.path.join(server.folder, "pools.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(given, file)
    ended = server.cli("check", path, check=False)
    tap.true(ended.returncode != 0, ended.stdout)
    tap.contains("need different CPUs, and on Slurm all replicas get the same",
                 ended.stderr)


with contextlib.ExitStack() as stack:
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    stack.callback(server.close)
    server.start()
    with runner("replicas") as process:
        def over_a_kill():
            over_a_kill_of_the_runner(process)

        tap.run([they_find_each_other, each_has_its_rank_on_a_node_of_its_own,
                 one_that_fails_ends_the_others, over_a_kill,
                 pools_with_other_needs_are_refused])
