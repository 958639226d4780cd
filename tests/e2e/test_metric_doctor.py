"""Every wrong way to report, with real processes: what is said of the trial, a
study that pauses for it, and the same said before by `check --smoke`."""

import contextlib
import fcntl
import json
import os
import re
import subprocess

import harness
import tap

LACK = "ended without reporting accuracy"
DEFAULT_FILE = "/tmp/hypertune/output.metrics"


def shell(text):
    return ["sh", "-c", text]


def spec(name, command, **members):
    return dict({"spec": 1, "name": name, "goal": "maximize accuracy",
                 "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
                 "algorithm": "random", "trials": 1, "retries": 0, "seed": 1,
                 "args": "none", "command": command}, **members)


def first_words(server, study):
    """What a watch of the study says on stderr at first, two lines."""
    watch = subprocess.Popen(
        [os.path.join(harness.bin_dir(), "hypertune"), "watch", study],
        env=dict(os.environ, HYPERTUNE_SERVER=server.http,
                 HYPERTUNE_TOKEN_FILE=server.token_file),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, encoding="utf-8")
    with watch:
        said = watch.stderr.readline() + watch.stderr.readline()
        watch.kill()
    return said


def seconds(span):
    """Of a time as commands print it: 870ms, 11.2s, 1m02s."""
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    return sum(float(number) * units[unit] for number, unit in
               re.findall(r"([\d.]+)(ms|s|m|h)", span))


# Name: the spec's command and members, the reason behind LACK, a hint.
WRONG = {
    "library": (
        shell("hypertune report acuracy=0.5 --step 1;"
              "hypertune report acuracy=0.75 loss=1 --step 2"), {},
        "; saw: acuracy, loss; acuracy (reports.jsonl, line 2) may be meant",
        None),
    "google": (
        shell("printf '%s\\n' '{\"trial\":\"1\",\"global_step\":\"1\","
              "\"acc\":\"0.5\"}' >$CLOUD_ML_HP_METRIC_FILE"), {},
        "; saw: acc; acc (output.metrics, line 1) may be meant", None),
    "printed": (
        shell("echo start; echo 'Accuracy: 0.93'"), {},
        "; line 2 of stdout looks like it: Accuracy: 0.93",
        "such lines are read with the pattern: Accuracy: {accuracy}"),
    "keras": (
        shell("echo '10/10 - 1s - loss: 0.4 - accuracy: 0.9' >&2"), {},
        "; line 1 of stderr looks like it: 10/10 - 1s - loss: 0.4 - accuracy: "
        "0.9", "patterns read stdout alone: print it there, or begin "
        "the command with sh -c 'exec \"$0\" \"$@\" 2>&1'"),
    "unmatched": (
        shell("echo 'nothing here'"), {"metrics": {"stdout": "acc={accuracy}"}},
        "; no line of stdout matches acc={accuracy}", None),
    "missing": (
        shell("true"), {"metrics": {"file": "scores.csv"}},
        "; the metrics file scores.csv is missing", None),
    "empty": (
        shell(": >scores.csv"), {"metrics": {"file": "scores.csv"}},
        "; the metrics file scores.csv is empty", None),
    "columns": (
        shell("printf 'step,loss\\n1,0.5\\n' >scores.csv"),
        {"metrics": {"file": "scores.csv"}},
        "; scores.csv has step, loss but no accuracy", None),
    "lines": (
        shell("echo '{\"step\":1,\"acuracy\":0.5}' >scores.jsonl"),
        {"metrics": {"file": "scores.jsonl"}},
        "; acuracy (scores.jsonl, line 1) may be meant", None),
    "worker": (
        shell("until [ -e told ]; do sleep 0.02; done"),
        {"replicas": {"worker": {
            "count": 1, "command": shell(
                "hypertune report accuracy=0.5 --step 1; touch told")}}},
        "; worker-0 reported accuracy, but only the reports of master-0 count",
        None),
    "nothing": (shell("true"), {}, "", None),
}


@contextlib.contextmanager
def alone():
    """No other test that comes here runs meanwhile: what is at the default
    place is seen by the trials of all servers."""
    place = os.open("/tmp", os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def main():
    with alone(), harness.Server(slots=4) as server:
        env = {"PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]}

        def submit(name, command, **members):
            folder = os.path.join(server.folder, name)
            os.makedirs(folder)
            server.submit(spec(name, command, **members), cwd=folder, env=env)

        def every_wrong_way_is_explained():
            for name, (command, members, _, _) in WRONG.items():
                submit(name, command, **members)
            for name, (_, _, reason, hint) in WRONG.items():
                server.wait_study(name)
                ours = server.trial(name, 1)["hypertune"]
                tap.equal(ours["state"], "INFEASIBLE", name)
                tap.equal(ours["reason"], LACK + reason, name)
                doctor = ours["doctor"]
                tap.equal(doctor["metric"], "accuracy", name)
                if hint is not None:
                    tap.contains(hint, doctor["hints"], str(doctor))

        def the_values_are_shown_with_their_places():
            seen = server.trial("library", 1)["hypertune"]["doctor"]["seen"]
            tap.equal(seen[0], {"name": "acuracy", "replica": "master-0",
                                "count": 2, "first": "0.5", "last": "0.75",
                                "file": "reports.jsonl", "line": 2})
            out = server.cli("trial", "library/1").stdout
            for words in ("seen      acuracy = 0.5 .. 0.75, 2 times, master-0 "
                          "reports.jsonl line 2",
                          "hint      acuracy (reports.jsonl, line 2) may be"):
                tap.contains(words, out)

        def a_good_report_needs_no_doctor():
            submit("good", shell("hypertune report accuracy=0.5 --step 1"))
            server.wait_study("good")
            ours = server.trial("good", 1)["hypertune"]
            tap.equal((ours["state"], "doctor" in ours), ("SUCCEEDED", False))

        def a_file_at_the_default_place_is_noticed():
            # What it holds does not matter; someone else's is left as it is.
            there = os.path.exists(DEFAULT_FILE)
            if there and not os.access(DEFAULT_FILE, os.W_OK):
                raise tap.Skip(DEFAULT_FILE + " is somebody else's")
            submit("elsewhere", shell("mkdir -p ${0%/*} && touch $0")
                   + [DEFAULT_FILE])
            server.wait_study("elsewhere")
            reason = server.trial("elsewhere", 1)["hypertune"]["reason"]
            if not there:
                os.remove(DEFAULT_FILE)
            tap.equal(reason, LACK + "; " + DEFAULT_FILE + " was written "
                      "meanwhile: the trial's own file is "
                      "CLOUD_ML_HP_METRIC_FILE")

        def a_study_pauses_and_continues_for_good_when_resumed():
            submit("burns", shell("echo 'Accuracy: 0.93'"), trials=8,
                   parallel=2)
            status = harness.wait_until(
                lambda: server.study("burns")
                if server.study("burns")["state"] == "PAUSED" else None,
                "the pause of burns")
            want = ("paused, as the first 2 trials all " + LACK +
                    "; line 1 of stdout looks like it: Accuracy: 0.93")
            tap.equal(status["reason"], want)
            listed = server.cli("list")
            tap.contains("PAUSED", listed.stdout)
            for said in (listed.stderr, first_words(server, "burns")):
                tap.starts(said, "study burns is %s\n"
                                 "  repaired: hypertune retry burns --failed   "
                                 "as it is: hypertune resume burns" % want)
            tap.contains(want, server.cli("describe", "burns").stdout)
            events = server.get(harness.OURS + "burns/events?since=0")["events"]
            tap.equal([e["reason"] for e in events if e["to"] == "PAUSED"],
                      [want])
            # Who submits it again may have repaired it, or not.
            done = server.cli("submit", "burns.yaml", "--wait", check=False,
                              cwd=os.path.join(server.folder, "burns"), env=env)
            tap.equal((done.returncode, "study burns is " + want in
                       done.stderr), (7, True), done.stderr)
            tap.contains("failed trials run again", done.stderr)
            server.cli("resume", "burns")
            server.wait_study("burns")
            tap.equal(len(server.trials("burns")), 8)

        def check(command, *flags, **members):
            path = os.path.join(server.folder, "smoke.yaml")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(spec("smoke", command, **members), file)
            done = server.cli("check", "--smoke", path, *flags, check=False,
                              env=env)
            tap.lacks("smoke", server.cli("list", "-o", "name").stdout,
                      "the study of the smoke test is left")
            return done.returncode, done.stderr

        def smoke_says_the_same_before():
            code, err = check(shell("echo 'Accuracy: 0.93'"), trials=9)
            tap.equal((code, err), (7, """\
smoke: running one trial...
hypertune: smoke: the trial ended without reporting accuracy
  seen      no metric
  hint      line 1 of stdout looks like it: Accuracy: 0.93
  hint      such lines are read with the pattern: Accuracy: {accuracy}
last lines of stdout:
  Accuracy: 0.93
"""))
            code, err = check(shell("hypertune report acuracy=0.5 --step 1"))
            tap.equal((code, err), (7, """\
smoke: running one trial...
hypertune: smoke: the trial ended without reporting accuracy
  seen      acuracy = 0.5, master-0 reports.jsonl line 1
  hint      acuracy (reports.jsonl, line 1) may be meant
"""))

        def smoke_tells_what_a_trial_that_died_had_reported():
            code, err = check(shell("hypertune report loss=2.5 --step 1;"
                                    "echo no memory >&2; exit 3"))
            head, *rest = err.splitlines()[1:]
            tap.equal((code, head.startswith(
                "hypertune: smoke: the trial ended FAILED: exit 3")),
                      (7, True), err)
            tap.equal(rest, [
                "  seen      loss = 2.5, master-0 reports.jsonl line 1",
                "last lines of stderr:", "  no memory"])

        def smoke_stops_when_it_has_seen_enough():
            code, err = check(shell(
                "for i in 1 2 3; do hypertune report accuracy=0.$i --step $i;"
                " sleep 0.2; done; exec sleep 600"))
            tap.equal(code, 0, err)
            for words in ("reported accuracy=0.", "the trial was stopped; with "
                          "--full it tells", "between reports"):
                tap.contains(words, err)

        def smoke_to_the_end_estimates_the_study():
            code, err = check(shell(
                "for i in 1 2 3; do hypertune report accuracy=0.$i --step $i;"
                " done"), "--full", trials=20, parallel=2)
            tap.equal(code, 0, err)
            one, = re.findall(r"one trial ran in (\S+) and reported "
                              r"accuracy=0\.3 \(step 3\)", err)
            all_, = re.findall(r"20 trials, 2 at a time, may take about (\S+)",
                               err)
            tap.true(9 < seconds(all_) / seconds(one) < 11, err)

        def smoke_is_bounded():
            code, err = check(shell("exec sleep 600"), "--timeout", "2s")
            tap.equal(code, 8, err)
            tap.equal(err.splitlines()[1:], [
                "hypertune: smoke: the trial did not report accuracy within "
                "2s; --timeout gives it more", "  seen      no metric"])

        def submit_may_look_first():
            path = os.path.join(server.folder, "first.yaml")
            for command, code in ((shell("true"), 7), (shell(
                    "hypertune report accuracy=0.5 --step 1"), 0)):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(spec("first", command), file)
                done = server.cli("submit", "--smoke", path, check=False,
                                  env=env)
                tap.equal(done.returncode, code, done.stderr)
                tap.equal(done.stdout, "" if code else "first\n")

        tap.run([every_wrong_way_is_explained,
                 the_values_are_shown_with_their_places,
                 a_good_report_needs_no_doctor,
                 a_file_at_the_default_place_is_noticed,
                 a_study_pauses_and_continues_for_good_when_resumed,
                 smoke_says_the_same_before,
                 smoke_tells_what_a_trial_that_died_had_reported,
                 smoke_stops_when_it_has_seen_enough,
                 smoke_to_the_end_estimates_the_study,
                 smoke_is_bounded,
                 submit_may_look_first])


if __name__ == "__main__":
    main()
