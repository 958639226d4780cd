"""Several runners at one server: which trial goes where, who shares a GPU, and
what a person is told."""

import os

import harness
import tap
from runner_process import Runner

SMI = """#!/bin/sh
[ "$1" = -L ] && exit 0
echo "0, GPU-%(name)s-0, NVIDIA A100-SXM4-80GB, 81920"
echo "1, GPU-%(name)s-1, NVIDIA A100-SXM4-80GB, 81920"
"""

server = harness.Server("--runner", "none")


def start(name, *options, gpus=True):
    """A runner on a machine of its own; its GPUs are a program's words."""
    folder = os.path.join(server.folder, "smi-" + name)
    os.makedirs(folder, exist_ok=True)
    smi = os.path.join(folder, "nvidia-smi")
    with open(smi, "w", encoding="ascii") as file:
        file.write(SMI % {"name": name})
    os.chmod(smi, 0o700)
    before = os.environ["PATH"]
    os.environ["PATH"] = folder + os.pathsep + before
    os.environ["HYPERTUNE_RUNNER_GPUS"] = "2" if gpus else "none"
    try:
        runner = Runner(server, name, "--machine", name, *options,
                        url=server.http)
        return runner.__enter__()
    finally:
        os.environ["PATH"] = before
        del os.environ["HYPERTUNE_RUNNER_GPUS"]


def submit(name, script, **members):
    given = {"spec": 1, "name": name, "goal": "maximize score", "trials": 1,
             "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
             "algorithm": "random", "seed": 1, "retries": 0, "args": "none",
             "metrics": {"stdout": "score={score}"},
             "command": ["sh", "-c", script]}
    server.submit({**given, **members})


def path(name):
    return os.path.join(server.folder, name)


def touch(name):
    with open(path(name), "w", encoding="ascii"):
        pass


def wait_file(name):
    return "until [ -e %s ]; do sleep 0.02; done; " % path(name)


def runners():
    return {one["runner"]: one
            for one in server.get("/hypertune/v1/runners")["runners"]}


def await_reason(name, part):
    harness.wait_until(lambda: part in server.study(name)["reason"],
                       "%r in the reason of %s" % (part, name))


def ran_on(name, trial=1):
    return server.trial(name, trial)["hypertune"]["attempts"][-1]["runner"]


def output(name, trial=1):
    return server.cli("logs", "%s/%d" % (name, trial)).stdout


def trials_go_where_the_spec_says():
    box = start("box", "--label", "disk=fast,rack=7")
    pocket = start("pocket", gpus=False)
    try:
        harness.wait_until(lambda: len(runners()) == 2, "two runners")
        names = {one["rules"]["machine"]: one["runner"]
                 for one in runners().values()}
        tap.equal(len(names), 2, "machines")
        submit("by-label", "echo score=1", runOn={"label": {"disk": "fast"}})
        submit("by-gpu", "echo score=1", runOn={"gpu": "a100"})
        server.wait_study("by-label")
        server.wait_study("by-gpu")
        with_gpu = ran_on("by-label")
        tap.equal(ran_on("by-gpu"), with_gpu)
        without, = set(runners()) - {with_gpu}
        submit("by-name", "echo score=1", runOn={"machine": without})
        server.wait_study("by-name")
        tap.equal(ran_on("by-name"), without)
        submit("nowhere", "echo score=1", runOn={"gpu": "h100"})
        await_reason("nowhere", "1 of 1 wait: no runner has a h100")
        server.cli("cancel", "nowhere", "--yes")
        rules = runners()[with_gpu]["rules"]
        tap.equal(rules["labels"], {"disk": "fast", "rack": "7"})
        tap.equal(rules["gpuModels"]["0"]["uuid"], "GPU-box-0")
        tap.equal(abs(rules["skewMs"]) < 60000, True, "clock skew")
    finally:
        box.__exit__()
        pocket.__exit__()


def two_trials_share_one_gpu_and_a_whole_one_is_not_shared():
    box = start("box2")
    try:
        submit("halves", "echo gpu=$CUDA_VISIBLE_DEVICES order="
               "$CUDA_DEVICE_ORDER; mktemp %s-XXXXXX >&2; " % path("half") +
               wait_file("go") + "echo score=1",
               trials=2, parallel=2, resources={"gpu": 0.5})
        harness.wait_until(lambda: len([
            name for name in os.listdir(server.folder)
            if name.startswith("half-")]) == 2, "two halves")
        submit("whole", "echo gpu=$CUDA_VISIBLE_DEVICES; echo score=1",
               resources={"gpus": 1})
        submit("both", "echo score=1", resources={"gpus": 2})
        touch("go")
        server.wait_study("halves")
        server.wait_study("whole")
        server.wait_study("both")
        lines = {output("halves", 1).split("\n")[0],
                 output("halves", 2).split("\n")[0]}
        tap.equal(lines, {"gpu=0 order=PCI_BUS_ID"})
        tap.equal(output("whole").split("\n")[0], "gpu=1")
    finally:
        box.__exit__()


def a_restarted_runner_keeps_the_parts_that_it_gave():
    box = start("box3", "--slots", "4")
    submit("kept", "echo gpu=$CUDA_VISIBLE_DEVICES; touch %s; " %
           path("kept-up") + wait_file("kept-go") + "echo score=1",
           resources={"gpu": 0.75})
    harness.wait_until(lambda: os.path.exists(path("kept-up")), "its start")
    box.process.kill()
    box.process.wait()
    box = start("box3", "--slots", "4")
    try:
        submit("more", "echo gpu=$CUDA_VISIBLE_DEVICES; echo score=1",
               resources={"gpu": 0.5})
        server.wait_study("more")
        tap.equal(output("more").split("\n")[0], "gpu=1")
        touch("kept-go")
        server.wait_study("kept")
        tap.equal(output("kept").split("\n")[0], "gpu=0")
    finally:
        box.__exit__()


def runners_of_one_machine_share_its_slots():
    one = start("same", gpus=False)
    two = Runner(server, "same2", "--machine", "same", "--gpus", "none",
                 url=server.http).__enter__()
    try:
        harness.wait_until(lambda: len([
            row for row in runners().values() if row["state"] == "ONLINE"])
            == 2, "two runners")
        submit("crowd", wait_file("crowd-go") + "echo score=1", trials=4,
               parallel=4)
        await_reason("crowd", "2 of 4 wait: 2 slots")
        touch("crowd-go")
        server.wait_study("crowd")
    finally:
        one.__exit__()
        two.__exit__()


with server:
    tap.run([trials_go_where_the_spec_says,
             two_trials_share_one_gpu_and_a_whole_one_is_not_shared,
             a_restarted_runner_keeps_the_parts_that_it_gave,
             runners_of_one_machine_share_its_slots])
