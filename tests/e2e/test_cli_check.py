"""`hypertune check`: what will run is shown as it will run, and a script that is
missing is found before anything is started."""

import json
import os
import shlex
import sys
import tempfile

import engines
import tap
from cli_home import Home
from harness import wait_until

# The end of the master ends the others, so it waits for their line.
DUMP = """
import json, os, sys, time
print(json.dumps({"argv": open("/proc/self/cmdline").read().split("\\0")[:-1],
                  "cwd": os.getcwd(), "env": dict(os.environ),
                  "exe": os.path.realpath(sys.executable)}), flush=True)
if os.environ["HYPERTUNE_REPLICA"] != "master-0":
    open("worker.printed", "w").close()
while "--wait" in sys.argv and not os.path.exists("worker.printed"):
    time.sleep(0.01)
print("accuracy=1")
"""


def spec(**members):
    return {"spec": 1, "name": "plan", "goal": "maximize accuracy",
            "parameters": {"x": [1, 2]}, "algorithm": "grid", "trials": 1,
            "retries": 0, "command": ["python3", "train.py"], **members}


def warnings(home, *arguments, **members):
    home.write("spec.yaml", spec(**members))
    _, err = home.cli("check", *arguments)
    return err


def a_missing_script_is_found():
    with Home() as home:
        home.write("trian.py", "")
        err = warnings(home)
        tap.contains("warning: command: train.py is not in %s, so python3 will "
                     "fail" % home.folder, err)
        tap.contains("did you mean trian.py?", err)
        home.write("train.py", "")
        tap.equal(warnings(home), "")
        tap.equal(warnings(home, command=["python3", "-c", "1", "no.py"]), "")
        tap.equal(warnings(home, command=["sh", "-c", "no.sh", "${x}"]), "")
        tap.contains("no.sh is not in %s" % home.folder,
                     warnings(home, "spec.yaml", "--", "sh", "no.sh",
                              "${x}"))


def a_module_is_missing_only_when_its_package_is_there():
    with Home() as home:
        tap.equal(warnings(home, command=["python3", "-m", "trainer.task"]),
                  "")
        os.mkdir(os.path.join(home.folder, "trainer"))
        home.write("trainer/__init__.py", "")
        tap.contains("task.py is not in %s/trainer" % home.folder,
                     warnings(home, command=["python3", "-m", "trainer.task"]))
        home.write("trainer/task.py", "")
        tap.equal(warnings(home, command=["python3", "-m", "trainer.task"]),
                  "")


def planned(home, *arguments, **variables):
    """The lines of the plan by their labels."""
    out, _ = home.cli("check", *arguments, **variables)
    lines, label = {}, None
    for line in out.splitlines()[1:]:
        label = line[2:13].strip() or label
        lines.setdefault(label, []).append(line[14:])
    return lines


def got(home, trial, *arguments):
    out, err = home.cli("logs", trial, *arguments)
    assert out.startswith("{"), out + err
    return json.loads(out.splitlines()[0])


def a_process_runs_as_it_was_shown():
    with Home() as home:
        home.write("train.py", DUMP)
        os.mkdir(os.path.join(home.folder, "jobs"))
        home.write("spec.yaml", spec(
            parameters={"x": [1]}, metrics={"stdout": "accuracy={accuracy}"},
            jobDir="jobs", passEnv=["MINE"],
            env={"LEVEL": "${x}", "MODE": "a b"},
            replicas={"worker": {"count": 1}},
            command=[sys.executable, "train.py", "--wait", "--level=${x}"]))
        plan = planned(home, MINE="my own")
        home.cli("submit", "--wait", MINE="my own")
        for label, arguments in (("for example", ()),
                                 ("worker", ("--replica", "worker-0"))):
            seen = got(home, "plan/1", *arguments)
            tap.equal(shlex.split(plan[label][0]), seen["argv"])
            tap.equal(plan["folder"], [seen["cwd"]])
            tap.equal(os.path.realpath(plan["program"][0]), seen["exe"])
            prefix = "worker: " if arguments else ""
            own = [line[len(prefix):] for line in plan["environment"]
                   if line.startswith("worker: ") == bool(prefix)]
            tap.equal(own, ["%s=%s" % (name, seen["env"][name])
                            for name in ("LEVEL", "MODE")])
        tap.equal(plan["from shell"], ["PATH MINE"])
        tap.equal(seen["env"]["MINE"], "my own")
        assert "--job-dir=%s/jobs/1" % home.folder in seen["argv"], seen


def an_engine(folder):
    """Its image has an entry point and arguments, read when it is started."""
    engine = engines.FakeEngine(folder)
    engine.play(config={engines.TINY: {"Entrypoint": ["sh", "-c"],
                                       "Cmd": ["exit 9"]}})
    return engine


def a_container_runs_as_it_was_shown():
    with tempfile.TemporaryDirectory() as folder, \
            an_engine(folder) as fake, Home() as home:
        script = ("until [ -e $AIP_MODEL_DIR/go ]; do sleep 0.1; done; "
                  "tr '\\0' '\\n' </proc/$$/cmdline; hypertune report score=1; echo $MODE")
        path = home.write("image.json", {
            "displayName": "image", "maxTrialCount": 1,
            "parallelTrialCount": 1,
            "studySpec": {
                "metrics": [{"metricId": "score", "goal": "MAXIMIZE"}],
                "parameters": [{"parameterId": "x", "integerValueSpec": {
                    "minValue": "1", "maxValue": "1"}}]},
            "trialJobSpec": {"workerPoolSpecs": [{
                "replicaCount": "1",
                "containerSpec": {"imageUri": engines.TINY, "args": [script],
                                  "env": [{"name": "MODE",
                                           "value": "a b"}]}}]},
            "hypertune": {
                "container": {"network": "none", "user": "%d:%d" % (
                    os.getuid(), os.getgid())}}})
        plan = planned(home, path, DOCKER_HOST=fake.host)
        home.cli("submit", path, DOCKER_HOST=fake.host)
        wait_until(lambda: fake.containers("hypertune.replica=master-0"),
                   "a container")
        name, = fake.containers("hypertune.replica=master-0")
        found = fake.engine.inspect(name)
        tap.equal(plan["image"], [engines.TINY])
        tap.equal(plan["network"], [found["HostConfig"]["NetworkMode"]])
        tap.equal(plan["user"], [found["Config"]["User"]])
        wait_until(lambda: "facts" in hypertune_of(home)["attempts"][0] and
                   "output" in hypertune_of(home)["attempts"][0]["facts"],
                   "the folder of outputs")
        output = hypertune_of(home)["attempts"][0]["facts"]["output"]
        with open(os.path.join(output, "model", "go"), "w", encoding="ascii"):
            pass
        home.cli("watch", "image", "--until", "succeeded")
        out, _ = home.cli("logs", "image/1")
        words = shlex.split(plan["entry point"][0]) + \
            shlex.split(plan["for example"][0])
        tap.equal(out, "\n".join(words) + "\na b\n")
        tap.equal(plan["environment"], ["MODE=a b"])


def hypertune_of(home):
    out, _ = home.cli("trial", "image/1", "-o", "json")
    return json.loads(out)["hypertune"]


tap.run([a_missing_script_is_found,
         a_module_is_missing_only_when_its_package_is_there,
         a_process_runs_as_it_was_shown,
         a_container_runs_as_it_was_shown])
