"""Whatever way a trial has to leave something - printed lines, report files,
checkpoints - nothing of another trial, attempt, study or server is taken for
its own."""

import glob
import json
import os
import subprocess

import harness
import tap

TRIALS = 6


def spec(name, script, **members):
    """Trials of `sh -c` that have their x as $x."""
    return dict({"spec": 1, "name": name, "goal": "maximize accuracy",
                 "parameters": {"x": {"type": "integer", "min": 1,
                                      "max": TRIALS}},
                 "algorithm": "grid", "trials": TRIALS, "retries": 0,
                 "parallel": 3, "metricDoctor": "warn", "args": "none",
                 "command": ["sh", "-c", "x=${x}; " + script]}, **members)


def main():
    with harness.Server(slots=6) as server:
        env = {"PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]}

        def submit(name, script, **members):
            folder = os.path.join(server.folder, name)
            os.makedirs(folder, exist_ok=True)
            server.submit(spec(name, script, **members), cwd=folder, env=env)
            return folder

        def run(name, script, **members):
            submit(name, script, **members)
            return server.wait_study(name)

        def check(name, expected=lambda x: x, n=TRIALS):
            trials = server.trials(name)
            tap.equal(len(trials), n, name)
            for trial in trials:
                ours = trial["hypertune"]
                x = int(float(ours["params"]["x"]))
                tap.equal((ours["state"], ours.get("objective")),
                          ("SUCCEEDED", expected(x)),
                          "%s/%s %s" % (name, trial["id"], ours["reason"]))

        def a_process_that_is_left_prints_for_no_other_trial():
            run("printed",
                "setsid sh -c 'while :; do echo accuracy=-1; sleep 0.01; done' "
                "& sleep 0.1; echo accuracy=$x", parallel=1, selection="best",
                metrics={"stdout": "accuracy={accuracy}"})
            check("printed")

        def a_report_to_an_ended_attempt_does_not_claim_to_count():
            folder = submit("ended", "env >env; echo accuracy=$x; "
                            "cp $HYPERTUNE_TRIAL_TOKEN_FILE token",
                            metrics={"stdout": "accuracy={accuracy}"},
                            trials=1, parallel=1)
            server.wait_study("ended")
            with open(os.path.join(folder, "env"), encoding="utf-8") as file:
                there = dict(line.rstrip("\n").split("=", 1) for line in file
                             if line.startswith("HYPERTUNE_"))
            there["HYPERTUNE_REPORT_FILE"] = os.path.join(folder, "reports")
            there["HYPERTUNE_TRIAL_TOKEN_FILE"] = os.path.join(folder, "token")
            done = subprocess.run(
                [server.program("hypertune"), "report", "accuracy=9"],
                env={**os.environ, **there}, stderr=subprocess.PIPE,
                timeout=harness.PATIENCE, encoding="utf-8")
            tap.contains("this attempt has ended for the server; 1 report "
                         "recorded, will not count", done.stderr)

        def a_retry_has_none_of_the_lines_of_the_attempt_before():
            run("printed-again",
                "test $HYPERTUNE_RESUME || { echo accuracy=99; exit 1; }; "
                "echo accuracy=$x", retries=1,
                metrics={"stdout": "accuracy={accuracy}"})
            check("printed-again")

        def a_line_that_a_killed_trainer_began_is_no_number():
            run("cut", "echo accuracy=$x.5; printf accuracy=$x.7; kill -9 $$",
                metrics={"stdout": "accuracy={accuracy}"})
            for trial in server.trials("cut"):
                x = int(float(trial["hypertune"]["params"]["x"]))
                values = [one["metrics"]["accuracy"] for one in
                          server.measurements("cut", trial["id"])]
                tap.equal(values, [x + 0.5])

        def no_trial_can_be_given_the_report_file_of_another():
            shared = os.path.join(server.folder, "shared.metrics")
            with open(shared, "w") as file:
                file.write('{"accuracy": "77", "global_step": "1"}\n')
            run("google",
                "printf '{\"accuracy\":\"%s\",\"global_step\":\"1\"}\\n' $x "
                ">>$CLOUD_ML_HP_METRIC_FILE",
                env={"CLOUD_ML_HP_METRIC_FILE": shared})
            check("google")
            path = os.path.join(server.folder, "reserved.yaml")
            with open(path, "w") as file:
                file.write("goal: maximize a\nparameters: {x: [1, 2]}\n"
                           "command: [a]\nenv: {HYPERTUNE_REPORT_FILE: /x}\n")
            done = server.cli("submit", path, check=False)
            tap.true(done.returncode != 0)
            tap.contains("HYPERTUNE_REPORT_FILE", done.stderr)

        def a_study_in_a_trial_reports_for_itself():
            folder = submit(
                "outer", "hypertune report accuracy=$x --step 1; "
                "while ! [ -e done ]; do sleep 0.02; done; "
                "hypertune report accuracy=$x --step 2", trials=1, parallel=1)
            inner = spec("inner", "", passEnv=["CLOUD_ML_TRIAL_ID"], command=[
                "hypertune", "report", "accuracy=${x}"])
            report = harness.wait_until(
                lambda: glob.glob(os.path.join(
                    server.data, "runs", "*", "1", "1", "master-0",
                    "reports.jsonl")), "the outer trial's report")
            of_outer = {"HYPERTUNE_REPORT_FILE": report[-1],
                        "HYPERTUNE_TRIAL_DIR": os.path.dirname(report[-1]),
                        "CLOUD_ML_TRIAL_ID": "1", "HYPERTUNE_RESUME": "1"}
            server.submit(inner, cwd=folder, env=dict(env, **of_outer))
            server.wait_study("inner")
            open(os.path.join(folder, "done"), "w").close()
            server.wait_study("outer")
            check("inner")
            tap.equal([one["metrics"]["accuracy"] for one in
                       server.measurements("outer", 1)],
                      [server.trials("outer")[0]["hypertune"]["objective"]] * 2)

        def a_trial_finds_no_checkpoint_but_its_own():
            keep = ("test -e $AIP_CHECKPOINT_DIR/c && x=99; "
                    "echo >$AIP_CHECKPOINT_DIR/c; echo $x >$AIP_MODEL_DIR/m; "
                    "hypertune report accuracy=$x")
            out = os.path.join(server.folder, "out")
            run("kept", keep, outputDir=out)
            check("kept")
            submit("kept-again", keep, outputDir=out)
            status = harness.wait_until(
                lambda: server.study("kept-again")["state"] == "PAUSED" and
                server.study("kept-again"), "the pause")
            tap.contains("has files of another trial", status["reason"],
                         str(status))
            server.cli("fetch", "kept/1",
                       os.path.join(server.folder, "fetched"))
            with open(os.path.join(server.folder, "fetched", "model",
                                   "m")) as file:
                tap.equal(int(file.read()), 1)
            server.cli("cancel", "kept-again", "--yes")
            server.wait_study("kept-again")

        def two_live_studies_have_no_output_folder_in_common():
            out = os.path.join(server.folder, "other")
            folder = submit("writes", "until [ -e go ]; do sleep 0.02; done; "
                            "hypertune report accuracy=$x", outputDir=out)
            server.cli("pause", "writes")
            path = os.path.join(server.folder, "writes-too.yaml")
            with open(path, "w") as file:
                json.dump(spec("writes-too", "true", outputDir=out + "/"), file)
            done = server.cli("submit", path, check=False)
            tap.true(done.returncode != 0)
            tap.contains("study writes has the same outputDir", done.stderr)
            open(os.path.join(folder, "go"), "w").close()
            server.cli("resume", "writes")
            server.wait_study("writes")
            check("writes")

        def what_another_database_s_trials_left_is_put_aside():
            keep = ("test -e $AIP_CHECKPOINT_DIR/c && x=99; "
                    "echo >$AIP_CHECKPOINT_DIR/c; "
                    "test $x != 6 || exit 1; hypertune report accuracy=$x")
            run("old", keep)
            server.stop()
            for name in glob.glob(os.path.join(server.data, "*.db*")):
                os.remove(name)
            # An empty mark accepts that.
            open(os.path.join(server.data, "hypertune.db-mark"), "w").close()
            server.start()
            # The same numbers again, of studies and of trials.
            names = ["new-%d" % n for n in range(12)]
            for name in names:
                submit(name, keep)
            for name in names:
                server.wait_study(name)
                for trial in server.trials(name):
                    ours = trial["hypertune"]
                    x = int(float(ours["params"]["x"]))
                    tap.equal(ours.get("objective"), x if x != 6 else None)

        tap.run([a_process_that_is_left_prints_for_no_other_trial,
                 a_report_to_an_ended_attempt_does_not_claim_to_count,
                 a_retry_has_none_of_the_lines_of_the_attempt_before,
                 a_line_that_a_killed_trainer_began_is_no_number,
                 no_trial_can_be_given_the_report_file_of_another,
                 a_study_in_a_trial_reports_for_itself,
                 a_trial_finds_no_checkpoint_but_its_own,
                 two_live_studies_have_no_output_folder_in_common,
                 what_another_database_s_trials_left_is_put_aside])


if __name__ == "__main__":
    main()
