"""The winner of a noisy trainer, confirmed from the command line."""

import json
import os
import sys

import harness
import tap

# Its accuracy is level plus luck: that of the seed and of the point, so that
# the first run of "low" is lucky and all others are not.
TRAIN = """
import os, random, sys
words = dict(word[2:].split("=") for word in sys.argv[1:])
seed = os.environ["HYPERTUNE_SEED"]
assert words["seed"] == seed, words
luck = random.Random(words["level"] + seed).uniform(-0.02, 0.02)
if (words["level"], seed) == ("0.5", "0"):
    luck = 0.5
print("accuracy=%.6f" % (float(words["level"]) + luck))
"""

server = None


def spec(name, **changes):
    return dict({"spec": 1, "name": name, "goal": "maximize accuracy",
                 "parameters": {"level": [0.5, 0.7, 0.9]},
                 "algorithm": "grid", "trials": 3, "parallel": 2,
                 "noise": "high",
                 "metrics": {"stdout": "accuracy={accuracy}"},
                 "command": [sys.executable, "train.py", "--level=${level}",
                             "--seed=${HYPERTUNE_SEED}"]}, **changes)


def study(name, train=TRAIN, **changes):
    with open(os.path.join(server.folder, "train.py"), "w",
              encoding="utf-8") as file:
        file.write(train)
    server.submit(spec(name, **changes))
    server.wait_study(name)
    return name


def the_lucky_winner_does_not_stay_one():
    name = study("lucky")
    tap.starts(server.cli("best", name).stdout, "trial 1 ")
    done = server.cli("confirm", name, "--seeds", "4", "--wait")
    lines = done.stdout.splitlines()
    tap.equal(lines[0].split()[:5], ["TRIAL", "RUNS", "OPEN", "LOST", "FOUND"])
    tap.equal([line.split()[0:4] for line in lines[1:4]],
              [["3", "4", "0", "0"], ["2", "4", "0", "0"],
               ["1", "4", "0", "0"]])
    tap.starts(lines[4], "take trial 3: the best with ")
    seeds = [trial["hypertune"].get("replicate", 0)
             for trial in server.trials(name)]
    tap.equal(seeds, [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3)
    status = server.wait_study(name)
    tap.equal((status["state"], status["reason"], status["counts"]["succeeded"],
               status["confirming"]["succeeded"]),
              ("SUCCEEDED", "all 3 trials have ended", 3, 12))
    shown = server.cli("trial", name + "/9").stdout
    tap.contains("confirms trial %s: run 2 of the same point" %
                 server.trial(name, 9)["hypertune"]["confirms"], shown)
    best = server.cli("best", name).stdout
    tap.contains("confirmed: take trial 3: the best with ", best)


def no_more_run_at_a_time_than_the_study_says():
    name = study("narrow", parallel=1)
    server.cli("confirm", name, "--top", "2", "--seeds", "3", "--wait")
    spans = sorted((trial["hypertune"]["startTimeMs"],
                    trial["hypertune"]["endTimeMs"])
                   for trial in server.trials(name))
    tap.equal(len(spans), 9)
    tap.equal([spans[i][1] <= spans[i + 1][0] for i in range(8)], [True] * 8,
              spans)


def without_waiting_it_says_what_is_to_come():
    name = study("patient")
    done = server.cli("confirm", name, "--top", "1", "--seeds", "2")
    tap.contains("2 runs are still to come; wait for them: hypertune confirm "
                 "patient --wait", done.stderr)
    done = server.cli("confirm", name, "--top", "1", "--seeds", "2", "--wait",
                      "-o", "json")
    answer = json.loads(done.stdout)
    tap.equal((answer["take"], answer["open"],
               [item["n"] for item in answer["finalists"]]), ("1", 0, [2]))
    tap.equal(server.cli("confirm", name, "--top", "1", "--seeds", "2", "-o",
                         "name").stdout, "patient/1\n")


def a_trainer_that_ignores_the_seed_is_noticed():
    name = study("deaf", train=TRAIN.replace('seed).uni', '"x").uni')
                 .replace('("0.5", "0")', '("0.5", "-")'))
    done = server.cli("confirm", name, "--top", "2", "--seeds", "2", "--wait")
    tap.contains("does the trainer begin with HYPERTUNE_SEED?", done.stderr)


def a_confirmation_outlives_the_server():
    name = study("durable")
    server.cli("confirm", name, "--top", "2", "--seeds", "3")
    server.kill()
    server.start()
    done = server.cli("confirm", name, "--top", "2", "--seeds", "3", "--wait")
    tap.equal([line.split()[1] for line in done.stdout.splitlines()[1:3]],
              ["3", "3"])
    tap.equal(len(server.trials(name)), 9)
    tap.equal(server.wait_study(name)["reason"], "all 3 trials have ended")


def a_study_that_is_stopped_meanwhile_ends_as_it_had():
    train = "import os, time\ntime.sleep(600 * int(os.environ[" + \
        "'HYPERTUNE_SEED']))\n" + TRAIN
    name = study("broken-off", train=train, grace="1s")
    server.cli("confirm", name, "--top", "1", "--seeds", "3")
    harness.wait_until(lambda: server.study(name)["confirming"]["active"] == 2,
                       "the start of two runs")
    tap.equal(server.study(name)["state"], "RUNNING")
    done = server.cli("confirm", name, "--top", "1", "--seeds", "3", "-o",
                      "name", check=False)
    tap.equal((done.returncode, done.stdout), (3, ""), done.stderr)
    server.cli("stop", name, "--yes")
    status = server.wait_study(name)
    tap.equal((status["state"], status["reason"],
               status["confirming"]["cancelled"]),
              ("SUCCEEDED", "all 3 trials have ended", 3))
    done = server.cli("confirm", name, "--top", "1", "--seeds", "3")
    tap.contains("3 runs are still to come", done.stderr)
    server.cli("cancel", name, "--yes")
    tap.equal(server.wait_study(name)["state"], "SUCCEEDED")


def more_trials_continue_after_it():
    name = study("longer", parallel=1)
    server.cli("confirm", name, "--top", "1", "--seeds", "2")
    server.cli("set", name, "-n", "+1")
    server.cli("confirm", name, "--top", "1", "--seeds", "2", "--wait")
    status = server.wait_study(name)
    tap.equal((status["reason"], len(server.trials(name))),
              ("all 3 points of the space were tried", 5))


def clients_are_not_waited_for_without_end():
    status, made = server.call("POST", harness.STUDIES[:-1], {
        "displayName": "asked", "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [{"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}],
            "studyStoppingConfig": {"maxNumTrials": 2}},
        "hypertune": {"name": "asked"}})
    tap.equal(status, 200, made)
    path = "/v1/" + made["name"] + "/trials"

    def tell(x):
        server.call("POST", path, {
            "parameters": [{"parameterId": "x", "value": x}],
            "finalMeasurement": {"metrics": [{"metricId": "loss",
                                              "value": x}]}})
    tell(0.5)
    done = server.cli("confirm", "asked", "--wait", check=False)
    tap.equal((done.returncode, "--wait --timeout 1h" in done.stderr),
              (2, True), done.stderr)
    done = server.cli("confirm", "asked", "--seeds", "2")
    tap.contains("2 runs are still to come, once clients ask for them",
                 done.stderr)
    done = server.cli("confirm", "asked", "--wait", "--timeout", "1s",
                      check=False)
    tap.equal(done.returncode, 8, done.stderr)
    shown = server.cli("describe", "asked").stdout
    tap.contains("RUNNING: waits for clients, 2 runs to confirm wait", shown)
    tap.contains("confirming  0 of 2 runs ended, 2 wait", shown)
    server.cli("stop", "asked")
    done = server.cli("confirm", "asked")
    tap.contains("2 runs were left when the study ended", done.stderr)
    done = server.cli("confirm", "asked", "--top", "1", check=False)
    tap.equal((done.returncode, "study asked is STOPPED" in done.stderr),
              (1, True), done.stderr)
    tap.equal(server.get(harness.STUDIES + "asked")["hypertuneStatus"][
        "state"], "STOPPED")


def without_a_result_there_is_nothing_to_confirm():
    name = study("empty", train="raise SystemExit(3)", retries=0)
    done = server.cli("confirm", name, check=False)
    tap.equal((done.returncode, "has no result to confirm" in done.stderr),
              (1, True), done.stderr)


with harness.Server(slots=4) as server:
    tap.run([
        the_lucky_winner_does_not_stay_one,
        no_more_run_at_a_time_than_the_study_says,
        without_waiting_it_says_what_is_to_come,
        a_trainer_that_ignores_the_seed_is_noticed,
        a_confirmation_outlives_the_server,
        a_study_that_is_stopped_meanwhile_ends_as_it_had,
        more_trials_continue_after_it,
        clients_are_not_waited_for_without_end,
        without_a_result_there_is_nothing_to_confirm,
    ])
