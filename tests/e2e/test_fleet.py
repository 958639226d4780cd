"""Several runners at one server: which trial goes where, who shares a GPU, and
what a person reads."""

import hashlib
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


def online(*machines):
    """The names of their runners, once all are online."""
    ids = [hashlib.sha256(b"hypertune:" + machine.encode()).hexdigest()
           for machine in machines]

    def names():
        found = {row["rules"]["machine"]: name
                 for name, row in runners().items()
                 if row["state"] == "ONLINE"}
        return [found[one] for one in ids if one in found]

    harness.wait_until(lambda: len(names()) == len(ids), "runners online")
    return names()


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
        with_gpu, without = online("box", "pocket")
        submit("by-label", "echo score=1", runOn={"label": {"disk": "fast"}})
        submit("by-gpu", "echo score=1", runOn={"gpu": "a100"})
        server.wait_study("by-label")
        server.wait_study("by-gpu")
        tap.equal(ran_on("by-label"), with_gpu)
        tap.equal(ran_on("by-gpu"), with_gpu)
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
        same = hashlib.sha256(b"hypertune:same").hexdigest()
        harness.wait_until(lambda: [
            row["rules"]["machine"] for row in runners().values()
            if row["state"] == "ONLINE"].count(same) == 2, "two runners")
        submit("crowd", wait_file("crowd-go") + "echo score=1", trials=4,
               parallel=4, runOn={"machine": same})
        await_reason("crowd", "2 of 4 wait")
        touch("crowd-go")
        server.wait_study("crowd")
    finally:
        one.__exit__()
        two.__exit__()


def a_drained_runner_gets_no_trials_until_it_is_resumed():
    one = start("old", gpus=False)
    two = start("new", gpus=False)
    try:
        name, other = online("old", "new")
        server.cli("runners", "drain", name)
        submit("avoid", "echo score=1", trials=4, parallel=1)
        server.wait_study("avoid")
        tap.equal({ran_on("avoid", n) for n in range(1, 5)}, {other})
        tap.equal(runners()[name]["drain"], "DRAINS")
        server.cli("runners", "drain", other)
        submit("stuck", "echo score=1")
        await_reason("stuck", "are draining")
        server.stop()
        server.start()
        tap.equal([runners()[one]["drain"] for one in (name, other)],
                  ["DRAINS", "DRAINS"])
        server.cli("runners", "resume", name)
        server.wait_study("stuck")
        tap.equal(ran_on("stuck"), name)
        wrong = server.cli("runners", "drain", "absent", check=False)
        tap.contains('there is no runner "absent"', wrong.stderr)
        server.cli("runners", "resume", other)
    finally:
        one.__exit__()
        two.__exit__()


def trials_move_where_another_runner_may_run_them():
    one = start("leaving", gpus=False)
    two = None
    try:
        name, = online("leaving")
        submit("moves", "[ -e %s ] && { echo score=2; exit; }; touch %s; "
               "exec sleep 300" % (path("moved"), path("moved")),
               retries=0, grace="5s")
        submit("stays", "touch %s; " % path("stays-up") +
               wait_file("stays-go") + "echo score=1",
               runOn={"machine": name})
        for mark in ("moved", "stays-up"):
            harness.wait_until(lambda: os.path.exists(path(mark)), mark)
        two = start("arriving", gpus=False)
        other, = online("arriving")
        said = server.cli("runners", "drain", name, "--move").stderr
        tap.contains("of 2 that run 1 continue elsewhere", said)
        tap.equal(server.wait_study("moves")["state"], "SUCCEEDED")
        trial = server.trial("moves", 1)["hypertune"]
        tap.equal([row["runner"] for row in trial["attempts"]], [name, other])
        tap.equal(trial["failures"] if "failures" in trial else 0, 0)
        tap.equal(server.study("stays")["state"], "RUNNING")
        touch("stays-go")
        tap.equal(server.wait_study("stays")["state"], "SUCCEEDED")
        tap.equal(ran_on("stays"), name)
    finally:
        one.__exit__()
        if two:
            two.__exit__()


def a_project_has_a_share_and_a_quota():
    one = start("quota", "--slots", "4", gpus=False)
    try:
        online("quota")
        server.cli("projects", "set", "local", "share=3", "slots=1")
        submit("limited", wait_file("limited-go") + "echo score=1", trials=2,
               parallel=2)
        await_reason("limited",
                     "1 of 2 wait: project local has all its 1 slots")
        project = server.get("/hypertune/v1/projects/local")
        tap.equal((project["share"], project["slots"], project["busySlots"]),
                  (3, 1, 1))
        server.cli("projects", "set", "local", "slots=0")
        harness.wait_until(lambda: server.get(
            "/hypertune/v1/projects/local")["busySlots"] == 2, "two slots")
        touch("limited-go")
        server.wait_study("limited")
        used = server.get("/hypertune/v1/projects/local")["usedSlotSeconds"]
        server.stop()
        server.start()
        again, = server.get("/hypertune/v1/projects")["projects"]
        tap.equal((again["name"], again["share"]), ("local", 3))
        tap.equal(used > 0 and again["usedSlotSeconds"] > 0, True, "use")
        for wrong in ("share=0", "slots=-1", "gpus=x", "speed=1"):
            tap.equal(server.cli("projects", "set", "local", wrong,
                                 check=False).returncode != 0, True, wrong)
    finally:
        one.__exit__()


with server:
    tap.run([trials_go_where_the_spec_says,
             two_trials_share_one_gpu_and_a_whole_one_is_not_shared,
             a_restarted_runner_keeps_the_parts_that_it_gave,
             runners_of_one_machine_share_its_slots,
             a_drained_runner_gets_no_trials_until_it_is_resumed,
             trials_move_where_another_runner_may_run_them,
             a_project_has_a_share_and_a_quota])
