"""Options by slurmrestd are what they are by sbatch, on a real Slurm."""

import os
import re
import subprocess

import harness
import slurm
import tap

TOOL = os.path.join(harness.bin_dir(), "../tests/tools/slurm_way")
SCRIPT = "#!/bin/sh\nsleep 600\n"
# Jobs whose options lie in as many fields as can be together in one.
JOBS = [["account=a", "begin=now+1hour", "comment=x y", "cpus-per-task=2",
         "dependency=afterany:1", "distribution=cyclic", "exclusive",
         "licenses=tool:1", "mail-type=END,FAIL", "mail-user=root", "mem=1G",
         "nice=100", "nodelist=n2", "nodes=1", "ntasks=1", "partition=long",
         "qos=normal", "threads-per-core=1", "time=5", "time-min=2", "wckey=w"],
        ["exclusive=user", "gres=gpu:1", "mem-per-cpu=64", "mincpus=1",
         "nodes=1-2", "ntasks=2", "ntasks-per-node=1", "nodelist=n1,n2",
         "priority=10"],
        ["cpus-per-gpu=1", "gpus=1", "hold", "nodes=1", "ntasks=1"],
        ["gpus-per-task=1", "nodes=1", "ntasks=1"]]
# Of scontrol show job: what no option gives, and what tasks may be bound to.
OTHERS = {"JobId", "ArrayJobId", "Priority", "SubmitTime", "EligibleTime",
          "AccrueTime", "StartTime", "EndTime", "LastSchedEval", "Scheduler",
          "StdOut", "StdErr", "OOMKillStep", "TresPerTask", "TresBind",
          "SchedNodeList", "Reason", "AllocNode:Sid"}


def fields_of_job(cluster, options, *settings):
    job = subprocess.run(
        [TOOL, *settings, "submit", "ht-same", cluster.folder, "1", SCRIPT,
         *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, env={**os.environ, **cluster.environment}).stdout.strip()
    tap.true(job.isdigit(), (options, job))
    said = cluster.call("scontrol", "-o", "show", "job", job)
    cluster.call("scancel", job)
    return {name: value for name, value in
            re.findall(r" ([A-Z][A-Za-z_:/]*)=(.*?)(?= [A-Z][A-Za-z_:/]*=|$)",
                       " " + said.strip()) if name not in OTHERS}


def options_are_those_of_sbatch():
    slurm.require()
    with slurm.Cluster(nodes=2, gpus=1, config=["Licenses=tool:1"],
                       partitions={"main": "60", "long": "60"}) as own:
        # Job 1 has all nodes, so that the others wait.
        own.call("sbatch", "--nodes=2", "--exclusive", "--chdir=/",
                 "--output=/dev/null", input=SCRIPT)
        harness.wait_until(lambda: own.call("squeue", "-h", "-o", "%t") ==
                           "R\n", "job 1")
        for options in JOBS:
            tap.equal(fields_of_job(own, options, "rest=" + own.rest),
                      fields_of_job(own, options))


tap.run([options_are_those_of_sbatch])
