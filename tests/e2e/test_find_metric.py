"""A study without a file finds its metric in what its own trainers print: by
--metric, by what is recognised, by one key; never with a wrong value."""

import json
import os
import sqlite3

import harness
import tap
from cli_home import Home
from tmux import Tmux

# Each kind prints one value in its own words, and notes it beside the server.
TRAINER = """
import os, sys
kind = sys.argv[1]
x = float(sys.argv[2].split("=")[1])
best, last = round(x, 3), round(x / 2, 3)
trial = os.environ["CLOUD_ML_TRIAL_ID"]
print("loading data: 60000 rows")
if kind == "plain":
    print("accuracy=%s" % best)
    last = best
elif kind == "percent":
    last = round(100 * x, 1)
    print("acc: %s%%" % last)
elif kind == "epochs":
    for i in range(3):
        print("epoch %d/3 loss %.2f accuracy=%s" % (i + 1, 9 - i, last + i))
    last += 2
elif kind == "steps":
    print("step 10 loss 0.5 Accuracy: %s" % best)
    print("step 20 loss 0.25 Accuracy: %s" % last)
elif kind == "json":
    print('{"epoch": 1, "accuracy": %s}' % best)
    print('{"epoch": 2, "accuracy": %s}' % last, end="")
elif kind == "nan":
    print("accuracy=nan")
elif kind == "long":
    print("accuracy=%s" % best)
    for i in range(6000):
        print("%04d a line that says nothing at all" % i)
    print("accuracy=%s" % last)
elif kind == "fails":
    print("accuracy=%s" % best)
    sys.exit(3)
with open(os.path.join("truth", kind + "-" + trial), "w") as file:
    file.write(repr(last))
"""

PRINTED = {  # kind: what --metric says, the pattern that is recognised
    "plain": ("accuracy={accuracy}", "accuracy={accuracy}"),
    "percent": ("acc: {accuracy}", "acc: {accuracy}"),
    "epochs": ("epoch {step}/3 {*} accuracy={accuracy}",
               "accuracy={accuracy}"),
    "steps": ("step {step} loss {loss} Accuracy: {accuracy}",
              "Accuracy: {accuracy}"),
    "json": ('"accuracy": {accuracy}', 'accuracy": {accuracy}')}


def words(kind, name, *more, trials=3):
    return ["run", "--name", name, "--maximize", "accuracy", "--param",
            "x=0.1..0.9", "--algorithm", "random", "--seed", "7", "-n",
            str(trials), "-p", "1", "--retries", "0", *more, "--", "python3",
            "train.py", kind]


def prepare(folder):
    os.makedirs(os.path.join(folder, "truth"), exist_ok=True)
    with open(os.path.join(folder, "train.py"), "w", encoding="ascii") as file:
        file.write(TRAINER)


def truth(folder, kind, trial):
    path = os.path.join(folder, "truth", "%s-%s" % (kind, trial))
    with open(path, encoding="ascii") as file:
        return float(file.read())


def main():
    with harness.Server(slots=2) as server:
        prepare(server.folder)

        def run(kind, name, *more, code=0, trials=3):
            done = server.cli(*words(kind, name, *more, trials=trials),
                              check=False)
            tap.equal(done.returncode, code, done.stdout + done.stderr)
            return done

        def metric(name, *patterns, code=0):
            more = [word for text in patterns for word in ("--metric", text)]
            done = server.cli("set", name, *more, check=False)
            tap.equal(done.returncode, code, done.stderr)
            return done.stderr

        def check_values(kind, name, trials=3):
            found = server.trials(name)
            tap.equal(len(found), trials, name)
            for trial in found:
                ours = trial["hypertune"]
                tap.equal((ours["state"], ours["objective"]),
                          ("SUCCEEDED", truth(server.folder, kind,
                                              trial["id"])), name)

        def check_replay(name):
            verdicts = server.replay(name)
            tap.true(len(verdicts) > 1, name)
            tap.equal([v["verdict"] for v in verdicts],
                      ["SAME"] * len(verdicts), str(verdicts))

        def patterns_on_the_command_line_read_every_trainer():
            for kind, (pattern, _) in PRINTED.items():
                run(kind, "say-" + kind, "--metric", pattern)
                check_values(kind, "say-" + kind)

        def auto_takes_what_is_recognised_and_reads_the_first_again():
            for kind, (_, pattern) in PRINTED.items():
                name = "auto-" + kind
                said = run(kind, name, "--metric", "auto").stderr
                tap.contains("study %s reads stdout with the pattern: %s\n"
                             "  1 trial got the result from the log\n"
                             % (name, pattern), said)
                check_values(kind, name)
                check_replay(name)

        def values_read_later_come_as_those_that_are_reported():
            for kind in PRINTED:
                read, reported = [
                    server.measurements("auto-" + kind, n) for n in (1, 2)]
                tap.true(len(read) > 0, kind)
                tap.equal([(m["step"], sorted(m["metrics"])) for m in read],
                          [(m["step"], sorted(m["metrics"]))
                           for m in reported], kind)
                begun, ended = [server.trial("auto-" + kind, 1)["hypertune"][
                    key] for key in ("startTimeMs", "endTimeMs")]
                for one in read:
                    tap.true(begun <= one["timeMs"] <= ended, "%s: %s in %s-%s"
                             % (kind, one, begun, ended))

        def replay_stays_exact_when_results_come_later():
            words_of = words("plain", "later", trials=14)
            words_of[words_of.index("random")] = "bayesian"
            server.cli(*["submit"] + words_of[1:])
            harness.wait_until(lambda: server.study("later")["state"] ==
                               "PAUSED", "the pause of later")
            server.cli("resume", "later")
            harness.wait_until(
                lambda: server.study("later")["counts"].get("infeasible", 0)
                >= 5, "trials without a result")
            server.cli("pause", "later")
            harness.wait_until(
                lambda: not server.study("later")["counts"].get("active"),
                "the end of what runs")
            said = metric("later", "auto")
            tap.contains("study later is PAUSED", said)
            server.cli("resume", "later")
            tap.equal(server.wait_study("later")["counts"]["succeeded"], 14)
            check_values("plain", "later", trials=14)
            check_replay("later")

        def what_prints_nothing_finds_nothing():
            done = run("nothing", "none", "--metric", "auto", code=7)
            tap.lacks("reads stdout", done.stderr)
            tap.contains("as it is: hypertune resume none", done.stderr)
            tap.lacks("read such lines", done.stderr)
            said = metric("none", "auto", code=1)
            tap.contains("no line that study none printed is recognised as "
                         "accuracy; say how such lines look: --metric "
                         "'accuracy: {accuracy}'", said)
            said = metric("none", "acc={accuracy}", code=1)
            tap.contains("no log of the 1 trial without accuracy has it, "
                         "nothing was changed; trial 1: no line of its stdout "
                         "matches", said)
            spec = server.get(harness.OURS + "none/spec?form=native")["spec"]
            tap.equal("metrics" in spec, False, str(spec))
            tap.equal(server.study("none")["state"], "PAUSED")

        def the_pause_names_the_command_that_reads_them():
            done = run("steps", "asks", code=7)
            advice = ("\n  read such lines: hypertune set asks --metric "
                      "'Accuracy: {accuracy}'")
            tap.contains(advice, done.stderr)
            listed = server.cli("list").stderr
            tap.contains(advice, listed)
            # Of several only the newest is explained.
            tap.contains("1 more study is paused by the server: hypertune "
                         "list --state paused", listed)
            tap.lacks("study none is", listed)
            tap.equal(server.study("asks")["metricPattern"],
                      "Accuracy: {accuracy}")
            said = metric("asks", "auto")
            tap.equal(said, "study asks reads stdout with the pattern: "
                            "Accuracy: {accuracy}\n"
                            "  1 trial got the result from the log\n"
                            "  study asks is RUNNING\n")
            server.wait_study("asks")
            check_values("steps", "asks")
            tap.equal("metricPattern" in server.study("asks"), False)
            events = server.get(harness.OURS + "asks/events?since=0")["events"]
            moved = [e for e in events if e["kind"] == "trial.moved" and
                     e["from"] == "INFEASIBLE"]
            tap.equal([(e["trial"], e["to"], e["reason"]) for e in moved],
                      [(1, "SUCCEEDED", "accuracy was read from its log with "
                        "the pattern Accuracy: {accuracy}")])
            tap.true(moved[0]["actor"] != "core", str(moved))
            check_replay("asks")

        def a_study_that_failed_for_it_ends_well():
            run("plain", "one", code=7, trials=1)
            tap.equal(server.study("one")["state"], "FAILED")
            metric("one", "auto")
            tap.equal(server.wait_study("one")["state"], "SUCCEEDED")
            check_values("plain", "one", trials=1)

        def a_log_that_is_cut_gives_no_value():
            run("long", "cut", code=7)
            path = os.path.join(server.data, "logs.db")
            study = int(server.get(harness.OURS + "cut")["name"]
                        .rsplit("/", 1)[1])
            with sqlite3.connect(path, timeout=30) as logs:
                rows = [row for row, in logs.execute(
                    "SELECT id FROM chunk WHERE study=? AND stream='stdout' "
                    "ORDER BY start", (study,))]
                tap.true(len(rows) > 2, "%d chunks" % len(rows))
                logs.execute("DELETE FROM chunk WHERE id=?", (rows[1],))
            said = metric("cut", "accuracy={accuracy}", code=1)
            tap.contains("trial 1: its log is cut: bytes from ", said)
            tap.equal(server.trial("cut", 1)["hypertune"]["state"],
                      "INFEASIBLE")
            tap.equal(server.measurements("cut", 1), [])

        def nan_is_no_result_and_a_failure_stays_one():
            run("nan", "nan", code=7)
            said = metric("nan", "accuracy={accuracy}", code=1)
            tap.contains("trial 1: accuracy was NaN at step 1", said)
            tap.equal(server.measurements("nan", 1), [])
            run("fails", "fails", code=7)
            metric("fails", "accuracy={accuracy}")
            tap.equal({t["hypertune"]["state"]
                       for t in server.trials("fails")}, {"FAILED"})

        def what_is_no_pattern_is_refused_with_its_place():
            for text, fault in (
                    ("accuracy", "--metric: \"accuracy\" is no pattern: that "
                     "is the text around the value, with the metric in braces, "
                     "such as 'accuracy: {accuracy}'; or auto"),
                    ("acc: {accuracy",
                     "--metric: \"acc: {accuracy\": a brace is not closed")):
                tap.contains(fault, run("plain", "bad", "--metric", text,
                                        code=2).stderr)
                tap.contains(fault, metric("one", text, code=2))
            code, answer = server.call(
                "POST", harness.OURS + "one:readLogs",
                {"patterns": ["loss={accuracy}", "a={b}"]})
            tap.equal(code, 400)
            tap.contains("patterns[1]: reads no metric of the study, such as "
                         "accuracy={accuracy}", json.dumps(answer))
            tap.contains("say --wait, or run it", server.cli(
                *["submit"] + words("plain", "bad", "--metric", "auto")[1:],
                check=False).stderr)

        def a_spec_file_gets_the_pattern_as_well():
            spec = {"spec": 1, "name": "filed", "goal": "maximize accuracy",
                    "parameters": {"x": {"type": "double", "min": 0.1,
                                         "max": 0.9}},
                    "metrics": {"stdout": "loss={loss}"}, "trials": 2,
                    "seed": 1, "algorithm": "random",
                    "command": ["python3", "train.py", "plain"]}
            with open(os.path.join(server.folder, "filed.yaml"), "w",
                      encoding="ascii") as file:
                json.dump(spec, file)
            server.cli("run", "filed.yaml", "--metric", "accuracy={accuracy}")
            check_values("plain", "filed", trials=2)
            got = server.get(harness.OURS + "filed/spec?form=native")["spec"]
            tap.equal(got["metrics"]["stdout"],
                      ["accuracy={accuracy}", "loss={loss}"])

        def one_key_takes_it():
            with Home() as home, Tmux(home, 100) as terminal:
                prepare(home.folder)
                terminal.type("hypertune " + " ".join(words("json", "keyed")))
                terminal.expect("keyed  PAUSED", "METRIC    [m] read such "
                                "lines: accuracy\": {accuracy}", "[r]esume")
                terminal.press("m")
                terminal.expect("keyed  SUCCEEDED", "best   ")
                terminal.expect_prompt()
                for trial in home.trials("keyed"):
                    tap.equal(trial["metrics"]["accuracy"],
                              truth(home.folder, "json", trial["id"]))

        tap.run([patterns_on_the_command_line_read_every_trainer,
                 auto_takes_what_is_recognised_and_reads_the_first_again,
                 values_read_later_come_as_those_that_are_reported,
                 replay_stays_exact_when_results_come_later,
                 what_prints_nothing_finds_nothing,
                 the_pause_names_the_command_that_reads_them,
                 a_study_that_failed_for_it_ends_well,
                 a_log_that_is_cut_gives_no_value,
                 nan_is_no_result_and_a_failure_stays_one,
                 what_is_no_pattern_is_refused_with_its_place,
                 a_spec_file_gets_the_pattern_as_well,
                 one_key_takes_it])


if __name__ == "__main__":
    main()
