"""Trainers that hang: they are named everywhere, and stopped where the spec says
so; trials that print, pause or wait are not."""

import os
import re
import urllib.request

import harness
import tap

HANGS = "exec sleep 600"
# Reports as long as its file is not there, then hangs.
REPORTS = """
n=0
while [ ! -e "$0" ]; do
    n=$((n + 1)); hypertune report accuracy=0.5 --step $n; sleep 0.1
done
exec sleep 600
"""
# Prints as long as its file is not there, then hangs.
PRINTS = """
while [ ! -e "$0" ]; do echo at work; sleep 0.1; done
exec sleep 600
"""


def spec(name, command, **members):
    return dict({"spec": 1, "name": name, "goal": "maximize accuracy",
                 "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
                 "algorithm": "random", "trials": 1, "retries": 0, "seed": 1,
                 "args": "none", "grace": "1s", "command": command}, **members)


def environment():
    return {"PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]}


def own(server, study, trial=1):
    """Empty before there is such a trial."""
    path = harness.STUDIES + "%s/trials/%d" % (study, trial)
    return server.call("GET", path)[1].get("hypertune", {})


def wait_silent(server, study):
    harness.wait_until(lambda: "silence" in own(server, study), "a silent trial")
    return own(server, study)


def events(server, study, kind):
    found = server.get(harness.OURS + study + "/events?since=0")
    return [one for one in found["events"] if one["kind"] == kind]


def metrics(server):
    with open(server.token_file, encoding="ascii") as file:
        headers = {"Authorization": "Bearer " + file.read().strip()}
    request = urllib.request.Request(server.http + "/metrics", headers=headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def a_hanging_trial_is_named_everywhere():
    with harness.Server(slots=1) as server:
        server.submit(spec("hangs", ["sh", "-c", HANGS], silence="1s"),
                      env=environment())
        shown = wait_silent(server, "hangs")
        tap.equal(shown["state"], "ACTIVE")
        tap.true(re.match(r"silent for \d", shown["silence"]), shown["silence"])
        tap.true(shown["silentSince"].endswith("Z"), shown["silentSince"])
        words = "trial 1 is silent for "
        tap.contains("study hangs: " + words, server.cli("list").stderr)
        tap.contains("silent      " + words,
                     server.cli("describe", "hangs").stdout)
        tap.contains("it is silent for ", server.cli("trial",
                                                     "hangs/1").stdout)
        tap.contains("study hangs: " + words, server.cli("doctor").stdout)
        status = server.study("hangs")
        tap.equal([one["trial"] for one in status["silent"]], ["1"])
        tap.contains("\nhypertune_silent_trials 1\n", metrics(server))
        told, = events(server, "hangs", "trial.silent")
        tap.contains("silent for ", told["reason"])
        server.cli("stop-trial", "hangs/1")
        server.wait_study("hangs")
        tap.equal("silence" in own(server, "hangs"), False)
        tap.equal("silent" in server.study("hangs"), False)


def a_hanging_trial_is_stopped_and_tried_again():
    with harness.Server(slots=1) as server:
        # The first attempt hangs, the second one does not.
        server.submit(spec(
            "again", ["sh", "-c", "if [ -e $0 ]; then exec hypertune report "
                      "accuracy=0.5; fi; touch $0; exec sleep 600",
                      os.path.join(server.folder, "second")],
            silence="10s", onSilence="stop", retries=1), env=environment())
        status = server.wait_study("again")
        tap.equal(status["state"], "SUCCEEDED", status["reason"])
        first, second = own(server, "again")["attempts"]
        tap.equal((first["outcome"], first["hung"]), ("failed", True))
        tap.true(re.match(r"silent for \d", first["reason"]), first["reason"])
        tap.equal(second["outcome"], "succeeded")


def without_retries_it_has_failed():
    with harness.Server(slots=1) as server:
        server.submit(spec("once", ["sh", "-c", HANGS], silence="1s",
                           onSilence="stop"), env=environment())
        status = server.wait_study("once")
        tap.equal(status["state"], "FAILED", status["reason"])
        shown = own(server, "once")
        tap.equal(shown["state"], "FAILED")
        tap.true(re.match(r"silent for \d", shown["reason"]), shown["reason"])


def check_life(name, script):
    """What reports or prints is not silent; when it hangs, it is."""
    with harness.Server(slots=1) as server:
        stop = os.path.join(server.folder, "stop")
        server.submit(spec(name, ["sh", "-c", script, stop], silence="10s"),
                      env=environment())
        harness.wait_until(lambda: own(server, name).get("startTimeMs"),
                           "the trial's start")
        began = own(server, name)["startTimeMs"]
        harness.wait_until(
            lambda: server.get("/hypertune/v1/server")["uptimeMs"] > 22000,
            "a few silences long")
        tap.equal(events(server, name, "trial.silent"), [])
        with open(stop, "w", encoding="ascii"):
            pass
        wait_silent(server, name)
        told, = events(server, name, "trial.silent")
        tap.true(told["timeMs"] > began + 10000)


def reports_are_signs_of_life():
    check_life("reports", REPORTS)


def what_it_prints_is_a_sign_of_life():
    check_life("prints", PRINTS)


def a_silent_trial_that_prints_again_is_silent_no_longer():
    with harness.Server(slots=1) as server:
        wake = os.path.join(server.folder, "wake")
        server.submit(spec("wakes", ["sh", "-c", (
            "until [ -e $0 ]; do sleep 0.1; done; "
            "while :; do echo awake; sleep 0.1; done"), wake], silence="4s"),
                      env=environment())
        wait_silent(server, "wakes")
        with open(wake, "w", encoding="ascii"):
            pass
        harness.wait_until(lambda: "silence" not in own(server, "wakes"),
                           "the end of the silence")
        tap.equal(len(events(server, "wakes", "trial.silent")), 1)
        tap.equal(events(server, "wakes", "trial.changed")[0]["reason"],
                  "no longer silent")


def a_restarted_server_has_the_silence_stored():
    with harness.Server(slots=1) as server:
        server.submit(spec("kept", ["sh", "-c", HANGS], silence="1s"),
                      env=environment())
        since = wait_silent(server, "kept")["silentSince"]
        server.kill()
        server.start()
        harness.wait_until(lambda: server.study("kept")["silent"],
                           "the study after the restart")
        tap.equal(own(server, "kept")["silentSince"], since)
        tap.equal(len(events(server, "kept", "trial.silent")), 1)


tap.run([a_hanging_trial_is_named_everywhere,
         a_hanging_trial_is_stopped_and_tried_again,
         without_retries_it_has_failed, reports_are_signs_of_life,
         what_it_prints_is_a_sign_of_life,
         a_silent_trial_that_prints_again_is_silent_no_longer,
         a_restarted_server_has_the_silence_stored])
