"""The cases of tests/unit/runner/cluster/test_engine_slurm.c, on a real Slurm."""

import os
import subprocess

import harness
import slurm
import tap


def all_cases_pass():
    slurm.require()
    program = os.path.join(harness.bin_dir(),
                           "../tests/unit/runner/cluster/test_engine_slurm")
    with slurm.Cluster() as cluster:
        said = subprocess.run(
            [program], env={**os.environ, **cluster.environment}, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8").stdout
    cases = [line for line in said.splitlines()
             if line.startswith(("ok ", "not ok "))]
    tap.true(len(cases) > 0, said)
    for case in cases:
        tap.true(case.startswith("ok ") and "# SKIP" not in case, said)


tap.run([all_cases_pass])
