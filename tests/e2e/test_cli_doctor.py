"""doctor: what this machine can run, and what to do about the rest."""

import json
import os
import shutil
import socket
import subprocess

import engines
import tap
from cli_home import Home
from harness import bin_dir, wait_until

NOWHERE = "unix:///nonexistent/engine.sock"


def doctor(home, *arguments, want=0, **variables):
    """The findings by subject, and what was said on stderr."""
    variables.setdefault("DOCKER_HOST", NOWHERE)
    out, err = home.cli("doctor", "-o", "json", *arguments, want=want,
                        **variables)
    found = {}
    for one in json.loads(out):
        found.setdefault(one["subject"], []).append(one)
    return found, err


def only(found, subject):
    tap.equal(len(found[subject]), 1, found[subject])
    return found[subject][0]


def it_starts_nothing_and_says_what_there_is():
    with Home() as home:
        found, _ = doctor(home)
        tap.true(not os.path.exists(home.state))
        tap.equal(only(found, "programs")["level"], "ok")
        tap.equal(int(only(found, "cores")["text"].split(",")[0]),
                  len(os.sched_getaffinity(0)))
        tap.starts(only(found, "data")["text"], home.state + ": ",
                   found["data"])
        tap.contains("does not run", only(found, "server")["text"])
        tap.equal(len(found["ports"]), 2, found["ports"])
        for subject in ("memory", "gpus", "clock", "python", "git"):
            only(found, subject)


def an_engine_that_answers_is_named():
    with Home() as home, engines.FakeEngine(home.folder) as docker:
        found, _ = doctor(home, DOCKER_HOST=docker.host)
        tap.contains("does not keep limits", found["containers"][1]["text"],
                     found["containers"])
        docker.play(info={"MemoryLimit": True, "CpuCfsQuota": True})
        found, _ = doctor(home, DOCKER_HOST=docker.host)
        one = only(found, "containers")
        tap.equal(one["level"], "ok")
        tap.starts(one["text"], "Docker 20.10", one)
        tap.contains(docker.host, one["text"], one)
    with Home() as home, \
            engines.FakeEngine(home.folder, "podman") as podman:
        found, _ = doctor(home, DOCKER_HOST=podman.host)
        texts = [one["text"] for one in found["containers"]]
        tap.starts(texts[0], "Podman 4.", texts)
        tap.contains("no GPUs", texts[-1], texts)


def an_engine_that_does_not_answer_comes_with_its_repair():
    with Home() as home, socket.socket(socket.AF_UNIX) as deaf:
        one = only(doctor(home)[0], "containers")
        tap.equal(one["level"], "warn")
        tap.equal(one["repair"], "start that engine, or unset DOCKER_HOST")
        one = only(doctor(home, DOCKER_HOST="docker")[0], "containers")
        tap.contains("is no address", one["text"], one)
        path = os.path.join(home.folder, "deaf")
        deaf.bind(path)
        one = only(doctor(home, DOCKER_HOST="unix://" + path)[0],
                   "containers")
        tap.equal(one["level"], "warn", "no server listens: %s" % one)


def something_that_is_no_engine_is_recognised():
    with Home() as home:
        home.cli("list")
        url = home.note()["http"].replace("http:", "tcp:")
        one = only(doctor(home, DOCKER_HOST=url)[0], "containers")
        tap.equal((one["level"], "does not answer as an engine" in
                   one["text"]), ("warn", True), one)


def the_own_server_and_its_runners_are_shown():
    with Home() as home:
        home.cli("list")
        wait_until(lambda: "ONLINE" in home.cli("runners")[0], "a runner")
        found, _ = doctor(home)
        server = only(found, "server")
        tap.starts(server["text"], "your own at " + home.note()["http"],
                   server)
        tap.starts(only(found, "runner")["text"], "process on ",
                   found["runner"])
        tap.equal(only(found, "access")["level"], "ok")
        os.chmod(os.path.join(home.state, "token"), 0o644)
        one = only(doctor(home)[0], "access")
        tap.equal(one["level"], "warn")
        tap.equal(one["repair"], "chmod 600 %s/token" % home.state)


def a_named_server_that_does_not_answer_is_a_warning():
    with Home() as home, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d" % unused.getsockname()[1]
        one = only(doctor(home, HYPERTUNE_SERVER=url)[0], "server")
        tap.equal((one["level"], "cannot reach " + url in one["text"]),
                  ("warn", True), one)


def where_nothing_can_run_it_fails():
    with Home() as home:
        blocked = home.write("file", "")
        found, err = doctor(home, "--data", blocked + "/state", want=1)
        tap.equal(only(found, "data")["level"], "fail")
        tap.equal(err, "hypertune: no trial can run here\n")


def a_program_that_is_missing_is_named():
    with Home() as home:
        alone = os.path.join(home.folder, "bin")
        os.mkdir(alone)
        shutil.copy(os.path.join(bin_dir(), "hypertune"), alone)
        done = subprocess.run(
            [os.path.join(alone, "hypertune"), "doctor"], encoding="utf-8",
            env=home.environment({"PATH": "/nonexistent",
                                  "DOCKER_HOST": NOWHERE}),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        tap.equal(done.returncode, 1)
        for name in ("hypertuned", "hypertune-runner", "hypertune-shim"):
            if "%s is neither beside hypertune nor in PATH" % name not in \
                    done.stdout:
                raise AssertionError(done.stdout)


def a_table_has_the_repair_below_its_line():
    with Home() as home:
        lines = home.cli("doctor", DOCKER_HOST=NOWHERE)[0].splitlines()
        at = [i for i, line in enumerate(lines) if "no engine is at" in line]
        tap.equal(len(at), 1, lines)
        tap.equal(lines[at[0]].split()[:2], ["warn", "containers"])
        tap.equal(lines[at[0] + 1].strip(),
                  "start that engine, or unset DOCKER_HOST")


if __name__ == "__main__":
    tap.run([it_starts_nothing_and_says_what_there_is,
             an_engine_that_answers_is_named,
             an_engine_that_does_not_answer_comes_with_its_repair,
             something_that_is_no_engine_is_recognised,
             the_own_server_and_its_runners_are_shown,
             a_named_server_that_does_not_answer_is_a_warning,
             where_nothing_can_run_it_fails,
             a_program_that_is_missing_is_named,
             a_table_has_the_repair_below_its_line])
