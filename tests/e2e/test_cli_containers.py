"""Specs with images on a person's own server, and runners started by hand."""

import json
import os
import signal
import tempfile

import engines
import tap
from cli_home import Home, Terminal, stop
from engines import shell, spec
from harness import PATIENCE, wait_until

NOWHERE = "unix:///nonexistent/engine.sock"


def runner_of(home, engine):
    """The runner of that engine, None when there is none online."""
    for one in json.loads(home.cli("runners", "-o", "json")[0]):
        if one["engine"] == engine and one["state"] == "ONLINE":
            return one
    return None


def pids_of_containers(home):
    """Runners that work in the folder of containers."""
    found = []
    for pid in home.runners():
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            if b"docker" in file.read().split(b"\0"):
                found.append(pid)
    return found


# --- without an engine ---

def an_image_without_an_engine_is_refused_with_what_to_do():
    with Home() as home:
        path = home.write("image.yaml", spec("image", shell("echo score=1")))
        _, err = home.cli("submit", path, want=2, DOCKER_HOST=NOWHERE)
        for words in ("no container engine answers on this machine",
                      "hypertune doctor", "hypertune submit %s -- sh -c" %
                      path):
            if words not in err:
                raise AssertionError("no %r in %s" % (words, err))
        tap.equal(home.cli("list", "-o", "name")[0], "")


def a_study_on_slurm_without_a_way_to_it_is_refused():
    with Home() as home:
        study = spec("far", ["/bin/true"], slurm={})
        del study["image"]
        _, err = home.cli("submit", home.write("far.yaml", study), want=1,
                          PATH=home.folder)
        tap.contains("far.yaml runs on Slurm, to which this machine has no way",
                     err)
        tap.equal(home.cli("list", "-o", "name")[0], "")


def a_runner_finds_the_own_server_by_itself():
    with Home() as home:
        home.cli("list")
        wait_until(lambda: runner_of(home, "process"), "the server's own")
        process = home.start("runner", "--slots", "3")
        try:
            def slots():
                return sorted(one["slots"] for one in json.loads(
                    home.cli("runners", "-o", "json")[0]))[-1:]
            wait_until(lambda: slots() == [3] and len(json.loads(
                home.cli("runners", "-o", "json")[0])) == 2, "a second")
            tap.equal(len(home.cli("runners", "-o", "name")[0].split()), 2)
            head = home.cli("runners")[0].splitlines()[0].split()
            tap.equal(head[:4], ["RUNNER", "ENGINE", "HOST", "STATE"])
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)


def a_runner_of_a_named_server_needs_its_token():
    with Home() as home:
        home.cli("list")
        _, err = home.cli("--server", home.note()["http"], "runner", want=2)
        tap.contains("--token-file FILE is required", err)
        home.cli("runner", "--help")


# --- with one ---

def an_image_just_works_on_the_own_server(engine):
    with Home() as home:
        path = home.write("image.yaml", spec(
            "image", shell("echo score=1; hypertune report score=2"),
            trials=2))
        out, err = home.cli("submit", path, "--wait", DOCKER_HOST=engine.host)
        tap.equal(out, "image\n")
        tap.contains("started a runner of containers", err)
        tap.equal(runner_of(home, "docker")["rules"]["images"], True)
        # Another image finds the same runner; a command the other one.
        other = home.write("other.yaml", spec("other", shell("echo score=3")))
        _, err = home.cli("submit", other, "--wait", DOCKER_HOST=engine.host)
        tap.lacks("started", err)
        tap.equal(len(pids_of_containers(home)), 1)
        plain = spec("plain", shell("echo score=4"))
        del plain["image"]
        plain = home.write("plain.yaml", plain)
        home.cli("submit", plain, "--wait", DOCKER_HOST=engine.host)
        ran = {name: json.loads(home.cli("trial", name + "/1", "-o", "json")[0])
               ["hypertune"]["runner"] for name in ("image", "other", "plain")}
        tap.equal(ran["image"], ran["other"])
        tap.true(ran["plain"] != ran["image"], ran)


def what_died_is_started_again_by_the_next_command(engine):
    with Home() as home:
        waits = "until [ -e $AIP_MODEL_DIR/go ]; do sleep 0.1; done; " \
                "echo score=1"
        path = home.write("image.yaml", spec("image", shell(waits)))
        home.cli("submit", path, DOCKER_HOST=engine.host)
        wait_until(lambda: json.loads(home.cli(
            "trials", "image", "-o", "json", DOCKER_HOST=engine.host)[0]),
            "a trial")
        wait_until(lambda: (json.loads(home.cli(
            "trial", "image/1", "-o", "json", DOCKER_HOST=engine.host)[0])
            ["hypertune"]["attempts"] or [{}])[-1].get("state") == "RUNNING",
            "a trial that runs")
        for pid in pids_of_containers(home):
            stop(pid, signal.SIGKILL)
        stop(home.note()["pid"], signal.SIGKILL)
        home.cli("list", DOCKER_HOST=engine.host)
        wait_until(lambda: runner_of(home, "docker"), "a new runner")
        output = json.loads(home.cli("trial", "image/1", "-o", "json")[0])[
            "hypertune"]["facts"]["output"]
        with open(os.path.join(output, "model", "go"), "w", encoding="ascii"):
            pass
        home.cli("watch", "image", DOCKER_HOST=engine.host)
        trial = json.loads(home.cli("trial", "image/1", "-o", "json")[0])
        tap.equal(len(trial["hypertune"]["attempts"]), 1, "attempts:")


KATIB = """
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: {name: katib}
spec:
  objective: {type: maximize, objectiveMetricName: score}
  algorithm: {algorithmName: grid}
  maxTrialCount: 2
  parameters:
    - {name: x, parameterType: discrete, feasibleSpace: {list: ["1", "3"]}}
%s
  trialTemplate:
    primaryContainerName: main
    trialParameters: [{name: theirs, reference: x}]
    trialSpec:
      apiVersion: batch/v1
      kind: Job
      spec:
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: main
                image: %s
                command: [sh, -c, "echo score=$0$ADD >>$1"]
                args: ["${trialParameters.theirs}", %s]
                env: [{name: ADD, value: ".5"}]
"""

# A file of text lines becomes the standard output, whose lines patterns read.
FILE = """  metricsCollectorSpec:
    collector: {kind: File}
    source: {fileSystemPath: {path: /logs/out.log, kind: File}}"""


def jobs_of_katib_run_in_their_image(engine):
    for collector, path in (("", "/dev/stderr"), (FILE, "/logs/out.log")):
        with Home() as home:
            spec_file = home.write("katib.yaml", KATIB % (
                collector, engines.TINY, path))
            home.cli("submit", spec_file, "--wait", DOCKER_HOST=engine.host)
            best = json.loads(home.cli("best", "katib", "-o", "json")[0])
            tap.equal([one["value"] for one in
                       best["finalMeasurement"]["metrics"]], [3.5], path)


def a_runner_says_what_it_does_before_a_trial_runs(engine):
    with Home() as home:
        path = home.write("image.yaml", spec(
            "image", shell("echo score=1"), image="localhost/not-here:1"))
        home.cli("submit", path, "--wait", want=7, DOCKER_HOST=engine.host)
        out, _ = home.cli("logs", "image/1", "--stream", "runner")
        tap.contains("localhost/not-here:1", out)


def a_pull_is_seen_in_the_live_view(engine):
    engine.play({"method": "POST", "path": "/images/create", "do": "hang"})
    with Home() as home:
        path = home.write("slow.yaml", spec(
            "slow", shell("echo score=1"), image="localhost/slow:1"))
        home.cli("submit", path, DOCKER_HOST=engine.host)
        with Terminal(home, "watch", "slow",
                      DOCKER_HOST=engine.host) as terminal:
            terminal.expect("pulling local")
            terminal.press("q")
            tap.equal(terminal.wait(), 0)
    engine.play()


def cases_of(engine):
    def bound(case):
        def on_engine():
            case(engine)
        on_engine.__name__ = "%s_on_%s" % (case.__name__, engine.name)
        return on_engine
    return [bound(case) for case in (
        an_image_just_works_on_the_own_server,
        what_died_is_started_again_by_the_next_command,
        jobs_of_katib_run_in_their_image,
        a_runner_says_what_it_does_before_a_trial_runs)]


if __name__ == "__main__":
    cases = [an_image_without_an_engine_is_refused_with_what_to_do,
             a_study_on_slurm_without_a_way_to_it_is_refused,
             a_runner_finds_the_own_server_by_itself,
             a_runner_of_a_named_server_needs_its_token]
    with tempfile.TemporaryDirectory() as folder, \
            engines.FakeEngine(folder) as fake:
        for place in [fake] + engines.here():
            cases += cases_of(place)

        def a_pull_is_seen():
            a_pull_is_seen_in_the_live_view(fake)
        tap.run(cases + [a_pull_is_seen])
