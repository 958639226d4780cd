"""A strange site: small arrays, an account that is mandatory, few jobs at a
time, no slurmrestd."""

import contextlib
import os

import harness
import slurm
import tap
from runner_process import Runner

# What many sites have: no job without an account, and none of a wrong one.
POLICY = """
function slurm_job_submit(job, partitions, user)
    if job.account ~= "vision" then
        slurm.log_user("site: name an account of yours, --account=NAME")
        return slurm.ERROR
    end
    return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, user)
    return slurm.SUCCESS
end
"""

server = harness.Server("--runner", "none")
cluster = slurm.Cluster(nodes=4, max_array=4, config=["JobSubmitPlugins=lua"])


def gate():
    """Trials end once it is there."""
    return os.path.join(server.folder, "go")


def spec(name, **section):
    return {"spec": 1, "name": name, "goal": "maximize score", "trials": 12,
            "parallel": 7, "algorithm": "random", "seed": 1, "args": "none",
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "command": ["/bin/sh", "-c", "until [ -e %s ]; do sleep 0.1; "
                        "done; echo score=${x}" % gate()],
            "metrics": {"stdout": "score={score}"}, "slurm": section}


def ended(name):
    status = server.wait_study(name)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name))
    tap.equal(status["counts"]["succeeded"], 12)


def runner(name, *options):
    return Runner(server, name, "--engine", "slurm", *options, url=server.http,
                  slots=8)


def a_policy_refuses_in_its_own_words():
    with runner("refused"):
        server.submit(spec("refused"))
        harness.wait_until(lambda: "site: name an account of yours" in
                           server.study("refused")["reason"], "the reason")
        server.cli("cancel", "refused", "--yes")


def slots_come_in_several_arrays():
    """Seven slots where an array has four elements at most."""
    with runner("arrays") as one:
        server.submit(spec("arrays", account="vision"))
        harness.wait_until(
            lambda: server.study("arrays")["counts"]["active"] == 7,
            "seven trials")
        open(gate(), "w", encoding="ascii").close()
        ended("arrays")
        sent = [int(line.split("elements=")[1].split()[0])
                for line in one.log().splitlines() if "batch.submitted" in line]
        tap.equal((sum(sent[:3]), max(sent)), (7, 4))
        tap.true(len(sent) <= 3, sent)


def the_account_may_be_the_sites_default():
    path = os.path.join(server.folder, "site.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write("account: vision\n")
    with runner("default", "--slurm-defaults", path):
        server.submit(spec("default"))
        ended("default")


with open(os.path.join(os.path.dirname(cluster.conf), "job_submit.lua"), "w",
          encoding="ascii") as script:
    script.write(POLICY)
with contextlib.ExitStack() as stack:
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    stack.callback(server.close)
    server.start()
    tap.run([a_policy_refuses_in_its_own_words, slots_come_in_several_arrays,
             the_account_may_be_the_sites_default])
