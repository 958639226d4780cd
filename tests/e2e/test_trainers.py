"""Every way a trainer may report, fail or refuse to end, with real processes.

All studies are submitted at once and run four at a time; each case then looks
at the end of its own."""

import json
import os
import re
import stat
import subprocess
import sys

import checker
import harness
import tap
import tree

LIBRARY = os.path.join(harness.bin_dir(), "..", "lib", "libhypertune.so")

SPECS = {}


def study(name, command, **members):
    spec = {"spec": 1, "name": name, "goal": "maximize accuracy",
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "algorithm": "random", "trials": 1, "retries": 0, "seed": 1,
            "command": command}
    spec.update(members)
    SPECS[name] = spec


def script(name):
    return os.path.join(tree.TRAINERS, name)


def shell(text):
    return ["sh", "-c", text]


study("forks", ["python3", script("forks.py"), LIBRARY])
study("google", ["python3", script("google_reporter.py"), "5", "0"])
# 100 reports take longer than the second in which the runner looks again, also
# when that is late.
study("google-250", ["python3", script("google_reporter.py"), "250", "0.06"])
study("stdout", shell("for i in 1 2 3; do echo \"epoch $i acc=0.$i ok\"; done"),
      metrics={"stdout": "epoch {step} acc={accuracy} ok"}, args="none")
study("json-lines",
      shell("for i in 1 2 3; do echo \"{\\\"step\\\":$i,\\\"accuracy\\\":0.$i}\""
            " >>metrics-$CLOUD_ML_TRIAL_ID.jsonl; done"),
      metrics={"file": "metrics-1.jsonl"}, args="none")
study("csv",
      shell("printf 'step,accuracy\\n1,0.25\\n2,0.5\\n' >scores.csv"),
      metrics={"file": "scores.csv"}, args="none")
study("shell", shell("hypertune report accuracy=0.5 --step 1;"
                     "hypertune report accuracy=0.75 --step 2"), args="none")
study("nan", shell("hypertune report accuracy=0.5 --step 1;"
                   "hypertune report accuracy=nan --step 2"), args="none")
study("silent", shell("exit 0"), args="none")
study("exit-3", shell("exit 3"), args="none", retries=2)
study("memory", ["python3", "-c",
                 "raise MemoryError('CUDA out of memory')"], args="none")
study("flaky", shell("hypertune report accuracy=0.5 --step 1;"
                     "test -e flaky.mark || { touch flaky.mark; exit 3; }"),
      args="none", retries=1)
study("signal", shell("kill -SEGV $$"), args="none")
study("timeout", shell("hypertune report accuracy=0.5 --step 1; exec sleep 99"),
      args="none", trialTimeout="8s", grace="5s")
study("endless", shell("exec sleep 99"), args="none", trialTimeout="1s")
study("stubborn", ["sh", script("stubborn.sh")], args="none",
      trialTimeout="8s", grace="3s")
study("child", shell("sleep 300 & hypertune report accuracy=0.5"), args="none")
study("words", shell("printf '<%s>\\n' \"$0\" \"$@\";"
                     "hypertune report accuracy=1")
      + ["--rate=${rate}", "${other}", "$HOME"],
      parameters={"rate": 0.25, "name": ["two words", "it's"]})
study("environment", shell("env; hypertune report accuracy=1"), args="none",
      env={"COLOUR": "green"})


def finish(server, name):
    server.wait_study(name)
    return server.trial(name, 1)


def main():
    with harness.Server(slots=4) as server:
        path = harness.bin_dir() + os.pathsep + os.environ["PATH"]

        def submit_all():
            for name, spec in SPECS.items():
                tap.equal(server.submit(spec, env={"PATH": path}), name)

        def ends(name, state, reason=None, objective=None, step=None):
            trial = finish(server, name)
            ours = trial["hypertune"]
            tap.equal(ours["state"], state, name + " " + ours["reason"])
            if reason and not re.search(reason, ours["reason"]):
                raise AssertionError("%s: no %r in %r" %
                                     (name, reason, ours["reason"]))
            tap.equal(ours.get("objective"), objective, name + " objective")
            if step is not None:
                tap.equal(ours["step"], str(step), name + " step")
            return ours

        def steps(name):
            return sorted(int(m["step"])
                          for m in server.measurements(name, 1))

        def output(name, stream="stdout"):
            return server.get(harness.OURS + name + "/trials/1/logs"
                              "?replica=master-0&stream=%s&offset=0"
                              % stream)["data"]

        def the_server_takes_all_studies():
            submit_all()

        def workers_after_a_fork_report_for_themselves():
            if harness.is_sanitized():
                raise tap.Skip("an interpreter without the sanitizer cannot "
                               "load a library that has it")
            ends("forks", "SUCCEEDED", objective=0.99, step=1000)
            tap.equal(steps("forks"), sorted(
                [1, 1000] + [w * 100 + n for w in range(1, 5)
                             for n in range(5)]))

        def googles_own_reporter_works_unchanged():
            ends("google", "SUCCEEDED", objective=0.005, step=5)
            tap.equal(steps("google"), [1, 2, 3, 4, 5])

        def googles_window_of_100_records_loses_nothing():
            ends("google-250", "SUCCEEDED", objective=0.25, step=250)
            tap.equal(steps("google-250"), list(range(1, 251)))

        def a_metric_is_read_from_what_a_trainer_prints():
            ends("stdout", "SUCCEEDED", objective=0.3, step=3)
            tap.equal(steps("stdout"), [1, 2, 3])

        def a_metric_is_read_from_json_lines():
            ends("json-lines", "SUCCEEDED", objective=0.3, step=3)
            tap.equal(steps("json-lines"), [1, 2, 3])

        def a_metric_is_read_from_a_csv_file():
            ends("csv", "SUCCEEDED", objective=0.5, step=2)
            tap.equal(steps("csv"), [1, 2])

        def a_shell_script_reports_with_the_command():
            ends("shell", "SUCCEEDED", objective=0.75, step=2)

        def a_last_value_that_is_not_a_number_is_infeasible():
            ends("nan", "INFEASIBLE", reason="accuracy|finite|NaN")
            tap.equal([m["metrics"]["accuracy"]
                       for m in server.measurements("nan", 1)], [0.5, "NaN"])

        def a_trial_that_never_reports_is_infeasible():
            ends("silent", "INFEASIBLE", reason="accuracy|report")

        def a_failing_trial_is_tried_again_as_often_as_asked():
            ours = ends("exit-3", "FAILED", reason="exit 3")
            tap.equal([(a["attempt"], a["state"], a["outcome"], a["exit"])
                       for a in ours["attempts"]],
                      [(n, "ENDED", "failed", 3) for n in (1, 2, 3)])

        def a_failing_trial_says_its_last_words():
            ours = ends("memory", "FAILED")
            why = "exit 1: MemoryError: CUDA out of memory"
            tap.equal([ours["reason"], ours["attempts"][0]["reason"]],
                      [why, why])
            tap.contains(why, server.study("memory")["reason"],
                         server.study("memory"))

        def a_second_attempt_may_succeed():
            ours = ends("flaky", "SUCCEEDED", objective=0.5)
            tap.equal([a["outcome"] for a in ours["attempts"]],
                      ["failed", "succeeded"])

        def a_crash_names_its_signal():
            ours = ends("signal", "FAILED", reason="signal 11|SIGSEGV")
            tap.equal(ours["attempts"][0]["outcome"], "failed")
            tap.equal(ours["attempts"][0]["signal"], 11)

        def a_trial_that_takes_too_long_keeps_what_it_reported():
            ours = ends("timeout", "STOPPED", reason="ran longer than 8s",
                        objective=0.5, step=1)
            tap.equal(ours["attempts"][0]["outcome"], "timeout")

        def a_trial_that_takes_too_long_in_silence_has_failed():
            ours = ends("endless", "FAILED", reason="ran longer than 1s")
            tap.equal(ours["attempts"][0]["outcome"], "timeout")

        def a_trial_that_ignores_sigterm_is_killed():
            ours = ends("stubborn", "STOPPED", reason="ran longer than 8s",
                        objective=0.5)
            attempt = ours["attempts"][0]
            tap.equal((attempt["outcome"], attempt["signal"]), ("timeout", 9))
            tap.contains("asked to end", output("stubborn"))

        def a_child_left_in_the_background_is_killed():
            ends("child", "SUCCEEDED", objective=0.5)

        def arguments_arrive_word_by_word():
            ours = ends("words", "SUCCEEDED", objective=1)
            name = ours["params"]["name"]
            tap.equal(output("words").splitlines(), [
                "<--rate=0.25>", "<${other}>", "<$HOME>",
                "<--name=%s>" % name])

        def the_environment_is_what_google_promises():
            ends("environment", "SUCCEEDED", objective=1)
            variables = dict(line.split("=", 1) for line in
                             output("environment").splitlines()
                             if re.match(r"[A-Z_]+=", line))
            tap.equal(variables["CLOUD_ML_TRIAL_ID"], "1")
            tap.equal(variables["CLOUD_ML_JOB_ID"], "environment")
            tap.equal(variables["CLOUD_ML_HP_METRIC_TAG"], "accuracy")
            tap.equal(variables["HYPERTUNE_REPLICA"], "master-0")
            tap.equal(variables["PYTHONUNBUFFERED"], "1")
            tap.equal(variables["COLOUR"], "green")
            cluster = json.loads(variables["CLUSTER_SPEC"])
            tap.equal(cluster["task"]["type"], "master")
            tap.equal(cluster["task"]["trial"], "1")
            tap.equal(list(cluster["cluster"]), ["master"])
            tap.equal(json.loads(variables["TF_CONFIG"])["task"]["index"], 0)
            folder = variables["HYPERTUNE_TRIAL_DIR"]
            tap.equal(os.path.dirname(variables["HYPERTUNE_REPORT_FILE"]),
                      folder)
            for word in variables.values():
                if word == open(server.token_file, encoding="ascii").read(
                        ).strip():
                    raise AssertionError("a trial sees the admin token")

        def a_virtual_environment_and_its_package_just_work():
            if not os.path.isdir(os.path.join(tree.PACKAGE, "hypertune")):
                raise tap.Skip("there is no Python package in this tree")
            venv = os.path.join(server.folder, "venv")
            subprocess.run([sys.executable, "-m", "venv", "--without-pip",
                            venv], check=True)
            site = subprocess.run(
                [venv + "/bin/python", "-c",
                 "import sysconfig; print(sysconfig.get_path('purelib'))"],
                check=True, stdout=subprocess.PIPE, encoding="utf-8")
            with open(os.path.join(site.stdout.strip(), "hypertune.pth"), "w",
                      encoding="utf-8") as file:
                file.write(tree.PACKAGE + "\n")
            study("venv", ["python", script("package.py")], args="none")
            server.submit(SPECS["venv"], env={
                "PATH": venv + "/bin" + os.pathsep + path,
                "VIRTUAL_ENV": venv})
            ends("venv", "SUCCEEDED", objective=0.75, step=3)
            tap.equal(steps("venv"), [1, 2, 3])

        def tokens_and_folders_are_for_their_owner_alone():
            for name in ("", "token", "runner-token", "hypertune.db", "runs"):
                mode = os.stat(os.path.join(server.data, name)).st_mode
                tap.equal(stat.S_IMODE(mode) & 0o077, 0, name or "data")

        def nothing_is_left_running_and_the_records_agree():
            harness.wait_until(lambda: not checker.leftovers(server.data),
                               "the end of every process of a trial")
            tap.equal(server.stop(), 0, "exit of the server")
            tap.equal(checker.check(server.data)[1], [])

        tap.run([case for case in list(locals().values())
                 if callable(case) and case not in
                 (submit_all, ends, steps, output)])


main()
