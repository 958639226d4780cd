"""`hypertune check -o sbatch`: the script that asks a Slurm cluster for slots."""

import shutil
import subprocess

import tap
from cli_home import Home


def spec(**members):
    return {"spec": 1, "goal": "maximize accuracy", "trials": 40,
            "parallel": 20, "parameters": {"x": [1, 2]},
            "command": ["python3", "train.py"], **members}


def script(home, document, *arguments):
    path = home.write("spec.yaml", document)
    return home.cli("check", "-o", "sbatch", path, *arguments)


def options(text):
    return [line[len("#SBATCH "):] for line in text.splitlines()
            if line.startswith("#SBATCH ")]


def it_has_the_places_of_the_runner_and_the_defaults_of_the_site():
    with Home() as home:
        site = home.write("site.yaml", "account: vision\npartition: cpu\n"
                          "modules: [gcc]\noptions: [--nice=1, --spread-job]\n")
        out, err = script(home, spec(
            resources={"cpus": 1.5, "memory": "1G", "gpus": 1},
            runOn={"gpu": "a100"}, grace="10s",
            slurm={"partition": "gpu", "time": "1-12:00:00",
                   "options": {"nice": 7}}), "--slurm-defaults", site)
        tap.equal(options(out), [
            "--job-name=RUNNER-NAME", "--array=0-19", "--chdir=/RUNNER/BATCH",
            "--output=/RUNNER/BATCH/%a.out", "--signal=B:USR1@10",
            "--no-requeue", "--account=vision", "--partition=gpu",
            "--time=2160", "--nodes=1", "--ntasks=1", "--cpus-per-task=2",
            "--mem=954M", "--gres=gpu:a100:1", "--spread-job", "--nice=7"])
        lines = out.splitlines()
        tap.equal(lines[0], "#!/bin/sh")
        tap.equal(lines[-2:], [
            "module load gcc || exit",
            "exec /RUNNER/hypertune-shim --slurm /RUNNER/BATCH"])
        tap.contains("the runner fills in RUNNER-NAME, /RUNNER/BATCH and "
                     "/RUNNER/hypertune-shim", err)


def what_cannot_be_sent_is_said_with_its_place():
    with Home() as home:
        home.write("spec.yaml", spec())
        site = home.write("site.yaml", "account: vision\ntime: 60\n")
        for arguments, words in (
                (("-o", "sbatch", "--slurm-defaults", site),
                 'site.yaml:2:7: time: "60" has no unit'),
                (("-o", "sbatch", "--slurm-defaults", "/absent"),
                 "cannot read /absent: No such file"),
                (("--slurm-defaults", site),
                 "--slurm-defaults is for check -o sbatch and --smoke")):
            _, err = home.cli("check", *arguments, want=2)
            tap.contains(words, err)
        for members, words in (
                ({"runOn": {"engine": "docker"}},
                 "runOn asks for the engine docker, not slurm"),
                ({"resources": {"gpu": 0.5}}, "Slurm gives whole GPUs"),
                ({"slurm": {"options": ["--output=x"]}},
                 "slurm.options[0]: --output is set by hypertune")):
            home.write("spec.yaml", spec(**members))
            _, err = home.cli("check", "-o", "sbatch", want=2)
            tap.contains(words, err)


def googles_job_files_ask_for_their_machines():
    aip = ("trainingInput:\n  scaleTier: CUSTOM\n"
           "  masterType: n1-standard-4\n  workerType: n1-standard-4\n"
           "  workerCount: 2\n  pythonModule: train\n"
           "hypertune: {runOn: {engine: slurm}, slurm: {qos: low}}\n")
    vertex = {"jobSpec": {"workerPoolSpecs": [{
        "machineSpec": {"machineType": "a2-highgpu-2g"}, "replicaCount": 1,
        "containerSpec": {"imageUri": "gcr.io/p/train"}}]},
        "hypertune": {"slurm": {"qos": "low", "container": "pyxis"}}}
    with Home() as home:
        for document, needs in (
                (aip, ["--nodes=3", "--ntasks=3", "--cpus-per-task=4",
                       "--mem=15360M"]),
                (vertex, ["--nodes=1", "--ntasks=1", "--cpus-per-task=24",
                          "--mem=174080M", "--gres=gpu:2"])):
            out, _ = script(home, document)
            tap.equal(options(out)[-len(needs) - 1:], ["--qos=low"] + needs)
        out, _ = home.cli("check", "-o", "aip",
                          home.write("spec.yaml", aip))
        tap.contains("engine: slurm", out)


def of_sbatch(home, text):
    """What sbatch says of a script where there is no cluster: it reads all
    options before it looks for one."""
    config = home.write("slurm.conf", "ClusterName=none\nSlurmctldPort=1\n"
                        "SlurmctldHost=localhost(127.0.0.1)\n"
                        "AuthType=auth/none\nMessageTimeout=1\n"
                        "GresTypes=gpu,fast\nNodeName=n1\n"
                        "PartitionName=p Nodes=n1\n")
    return subprocess.run(
        ["sbatch", "--test-only", home.write("batch.sh", text)],
        env=home.environment({"SLURM_CONF": config}), check=False,
        capture_output=True, encoding="utf-8", timeout=60).stderr


def sbatch_reads_every_option_of_it():
    if shutil.which("sbatch") is None:
        raise tap.Skip("slurm-client is not installed")
    with Home() as home:
        out, _ = script(home, spec(
            resources={"cpus": 2, "memory": "1G", "gpus": 1},
            replicas={"worker": {"count": 3, "resources": {
                "cpus": 2, "memory": "1G", "gpus": 1}}},
            slurm={"account": "a b", "partition": "gpu,short", "qos": "low",
                   "constraint": "[a|b]&c", "reservation": "r",
                   "gres": "fast:1", "exclusive": True, "time": "12h",
                   "modules": ["gcc"],
                   "options": {"mail-type": "END,FAIL", "spread-job": True,
                               "comment": "it's \"this\" # and \\ that"}}))
        tap.contains("Unable to contact slurm controller",
                     of_sbatch(home, out))
        tap.contains("unrecognized option '--nicer=1'", of_sbatch(
            home, out.replace("--qos=low", "--nicer=1")))


tap.run([it_has_the_places_of_the_runner_and_the_defaults_of_the_site,
         what_cannot_be_sent_is_said_with_its_place,
         googles_job_files_ask_for_their_machines,
         sbatch_reads_every_option_of_it])
