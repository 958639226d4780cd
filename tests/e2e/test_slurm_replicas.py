"""Trials of several replicas in jobs of a real Slurm: a task for each replica,
of one allocation, or of a heterogeneous job where their needs differ."""

import contextlib
import json
import os
import sys

import harness
import slurm
import tap
import tree
from runner_process import Runner

GREETER = os.path.join(tree.TRAINERS, "greeter.py")
# None ends before all have spoken.
RANKS = """
import json, os, sys, time
names = ["MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "SLURM_JOB_ID",
         "SLURMD_NODENAME", "SLURM_CPUS_PER_TASK", "CLUSTER_SPEC"]
print(json.dumps({name: os.environ.get(name) for name in names}), flush=True)
folder = os.path.join(sys.argv[1], os.environ["CLOUD_ML_TRIAL_ID"])
os.makedirs(folder, exist_ok=True)
open(os.path.join(folder, os.environ["HYPERTUNE_REPLICA"]), "w").close()
while len(os.listdir(folder)) < int(os.environ["WORLD_SIZE"]):
    time.sleep(0.1)
print("score=1")
"""
# Each replica leaves a mark and waits for the file `go`, or for its stop.
WAITS = """
import os, sys, time
with open(os.path.join(sys.argv[1], os.environ["HYPERTUNE_REPLICA"]), "a") as it:
    it.write("begun\\n")
print("score=4", flush=True)
stop = os.path.join(os.environ["HYPERTUNE_TRIAL_DIR"], "stop")
while not os.path.exists(os.path.join(sys.argv[1], "go")) and \\
        not os.path.exists(stop):
    time.sleep(0.1)
"""
NAMES = ["master-0", "worker-0", "worker-1", "ps-0"]
POOLS = NAMES[:3]

try:
    slurm.require()
except tap.Skip as reason:
    tap.skip("replicas on Slurm", reason)

server = harness.Server("--runner", "none")
# Only the backfill scheduler starts heterogeneous jobs, each 30 s by default.
cluster = slurm.Cluster(nodes=4, config=[
    "SchedulerParameters=sched_interval=2,sched_min_interval=100000,"
    "batch_sched_delay=0,bf_interval=1"])


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


def pools(name, command, **members):
    """One CPU and more memory for the master, two CPUs for each worker."""
    worker = {"count": 2, "resources": {"cpus": 2, "memory": "200M"}}
    return spec(name, command, **{
        "resources": {"cpus": 1, "memory": "300M"},
        "replicas": {"worker": worker}, **members})


def python(text, *words):
    return [sys.executable, "-c", text, *words]


def run(given):
    server.submit(given)
    server.wait_study(given["name"])
    return server.trial(given["name"], 1)["hypertune"]


def said(name, replica, trial=1):
    """The JSON object that a replica has printed first."""
    return json.loads(server.get(
        harness.OURS + "%s/trials/%d/logs?replica=%s&stream=stdout&offset=0" %
        (name, trial, replica))["data"].splitlines()[0])


def jobs():
    """Name, state and nodes of each element of ours that is listed."""
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
    trial = run(spec("ranks", python(RANKS, marks("ranks"))))
    tap.equal(trial["state"], "SUCCEEDED", server.explain("ranks"))
    spoken = [said("ranks", name) for name in NAMES]
    tap.equal([one["RANK"] for one in spoken], list("0123"))
    tap.equal(len({one["SLURMD_NODENAME"] for one in spoken}), 4)
    check_group(spoken)
    quiet()


def check_group(spoken):
    """What all say of the group is the same, and the first one is its
    master."""
    cluster_spec = json.loads(spoken[0]["CLUSTER_SPEC"])["cluster"]
    for one in spoken:
        tap.equal(json.loads(one["CLUSTER_SPEC"])["cluster"], cluster_spec)
        tap.equal("%(MASTER_ADDR)s:%(MASTER_PORT)s" % one,
                  cluster_spec["master"][0])
        tap.equal(one["WORLD_SIZE"], str(len(spoken)))
        tap.equal(one["SLURM_JOB_ID"], spoken[0]["SLURM_JOB_ID"])
    addresses = sum(cluster_spec.values(), [])
    tap.equal(len(set(addresses)), len(spoken), addresses)


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


def over_a_kill_of_the_runner(one, name, make, names):
    folder = marks(name)
    server.submit(make(name, python(WAITS, folder)))
    wait_for_marks(folder, names)
    one.process.kill()
    one.process.wait()
    one.__enter__()
    with open(os.path.join(folder, "go"), "w", encoding="ascii"):
        pass
    status = server.wait_study(name)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name))
    tap.equal(server.trial(name, 1)["hypertune"]["attempt"], 1)
    for replica in names:
        with open(os.path.join(folder, replica), encoding="ascii") as file:
            tap.equal(file.read(), "begun\n", replica)
    quiet()


# ---- pools that need different amounts ----


def components(name):
    """Nodes and CPUs of each component of the study's jobs, by its id."""
    number = server.trial(name, 1)["name"].split("/")[-3]
    rows = cluster.call("squeue", "-h", "-t", "all", "-o", "%j %i %D %C")
    return {row.split()[1]: row.split()[2:] for row in rows.splitlines()
            if row.startswith("ht-") and row.split("-")[2] == number}


def pools_get_what_they_need(name):
    """Two trials one after the other in one heterogeneous job."""
    folder = marks(name)
    server.submit(pools(name, python(RANKS, folder), trials=2, parallel=1))
    status = server.wait_study(name)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name))
    tap.equal(status["counts"]["succeeded"], 2)
    for trial in 1, 2:
        spoken = [said(name, replica, trial) for replica in POOLS]
        tap.equal([one["RANK"] for one in spoken], list("012"))
        tap.equal([one["SLURM_CPUS_PER_TASK"] for one in spoken], list("122"))
        check_group(spoken)
    quiet()
    job = spoken[0]["SLURM_JOB_ID"]
    tap.equal(components(name), {job + "+0": ["1", "1"],
                                 job + "+1": ["2", "4"]})


def neighbours_with_the_same_need_are_one_component():
    """The parameter server, behind the workers, needs what the master does."""
    name = "three"
    replicas = {**pools("", [])["replicas"], "ps": {"count": 1}}
    server.submit(pools(name, python(RANKS, marks(name)), replicas=replicas))
    tap.equal(server.wait_study(name)["state"], "SUCCEEDED",
              server.explain(name))
    spoken = [said(name, replica) for replica in NAMES]
    tap.equal([one["RANK"] for one in spoken], list("0123"))
    check_group(spoken)
    quiet()
    tap.equal(sorted(components(name).values()),
              [["1", "1"], ["1", "1"], ["2", "4"]])


def one_that_runs_is_stopped(name):
    folder = marks(name)
    server.submit(pools(name, python(WAITS, folder)))
    wait_for_marks(folder, POOLS)
    server.cli("stop-trial", name + "/1")
    server.wait_study(name)
    trial = server.trial(name, 1)["hypertune"]
    tap.equal([trial["state"], trial["objective"]], ["STOPPED", 4.0])
    quiet()


def one_that_waits_is_given_back(name):
    """All nodes are taken: it does not begin before its study is cancelled."""
    other = cluster.call("sbatch", "--parsable", "--nodes=4", "--exclusive",
                         "--output=/dev/null", "--wrap", "sleep 600").strip()
    harness.wait_until(lambda: cluster.call(
        "squeue", "-h", "-j", other, "-o", "%T").strip() == "RUNNING",
        "the other job")
    before = len(jobs())
    server.submit(pools(name, python(RANKS, marks(name))))
    harness.wait_until(lambda: [row[1] for row in jobs()].count("PENDING") == 2,
                       "a job that waits")
    server.cli("cancel", name, "--yes")
    quiet()
    tap.equal(len(jobs()), before + 2)
    cluster.call("scancel", other)


def check_shows_the_job():
    path = os.path.join(server.folder, "pools.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(pools("shown", python(RANKS)), file)
    script = server.cli("check", path, "-o", "sbatch").stdout
    tap.contains("#SBATCH hetjob\n", script)
    tap.contains("--het-group=1", script)
    tap.true("--array" not in script, script)


def by_commands():
    """The cases with different needs."""
    with runner("commands") as one:
        pools_get_what_they_need("pools")
        neighbours_with_the_same_need_are_one_component()
        one_that_runs_is_stopped("stopped")
        one_that_waits_is_given_back("waits")
        over_a_kill_of_the_runner(one, "pools-killed", pools, POOLS)


def by_slurmrestd():
    with runner("rest", "--slurm-rest", cluster.rest) as one:
        one_that_waits_is_given_back("rest-waits")
        if slurm.FOLDER:
            return  # jobs have the PATH of a login: the srun of this machine
        pools_get_what_they_need("rest-pools")
        one_that_runs_is_stopped("rest-stopped")
        over_a_kill_of_the_runner(one, "rest-killed", pools, POOLS)


def replicas_with_the_same_need():
    with runner("replicas") as one:
        they_find_each_other()
        each_has_its_rank_on_a_node_of_its_own()
        one_that_fails_ends_the_others()
        over_a_kill_of_the_runner(one, "killed", spec, NAMES)


with contextlib.ExitStack() as stack:
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    stack.callback(server.close)
    server.start()
    tap.run([replicas_with_the_same_need, by_commands, by_slurmrestd,
             check_shows_the_job])
