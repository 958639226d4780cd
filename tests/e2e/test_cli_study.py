"""A study from the command line, first spec to last trial."""

import csv
import json
import os
import signal
import subprocess
import sys

import tap
from cli_home import Home, Terminal
from harness import PATIENCE, wait_until

TRAIN = """
import sys, time
lr = float([a for a in sys.argv if a.startswith("--lr=")][0][5:])
for step in range(1, 4):
    print("step %d accuracy=%g" % (step, lr * step), flush=True)
"""
SLOW = TRAIN + "time.sleep(600)\n"


def spec(**changes):
    made = {"spec": 1, "name": "quick", "goal": "maximize accuracy",
            "parameters": {"lr": [0.1, 0.2, 0.3]}, "algorithm": "grid",
            "trials": 3, "parallel": 2, "grace": "1s",
            "metrics": {"stdout": "step {step} accuracy={accuracy}"},
            "command": ["python3", "train.py"]}
    made.update(changes)
    return made


def a_submitted_home(home, train=TRAIN, **changes):
    home.write("train.py", train)
    home.cli("submit", home.write("spec.yaml", spec(**changes)))


def run_shows_the_best_trial_and_how_to_repeat_it():
    with Home() as home:
        home.write("train.py", TRAIN)
        out, err = home.cli("run", home.write("spec.yaml", spec()))
        lines = out.splitlines()
        tap.equal(sum(" SUCCEEDED accuracy=" in line for line in lines), 3)
        tap.contains("study quick SUCCEEDED", err)
        tap.starts(lines[-3], "trial 3   accuracy=0.9 (step 3)")
        tap.equal(lines[-2:], ["  --lr=0.3",
                               "again: python3 train.py --lr=0.3"])


def values_in_variables_are_repeated_with_them():
    with Home() as home:
        home.write("train.sh", 'echo "step 1 accuracy=$LR"\n')
        out, _ = home.cli("run", home.write("spec.yaml", spec(
            env={"LR": "${lr}", "NOTE": "two words"}, args="none",
            command=["sh", "train.sh"])))
        again = out.splitlines()[-1]
        tap.equal(again, "again: env LR=0.3 'NOTE=two words' sh train.sh")
        tap.equal(subprocess.check_output(again[7:], shell=True,
                                          cwd=home.folder),
                  b"step 1 accuracy=0.3\n")


def a_virtual_environment_is_used_from_any_folder():
    with Home() as home:
        venv = os.path.join(home.folder, "venv")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv],
                       check=True)
        home.write("train.py",
                   "import sys\nprint('step 1 accuracy=' + "
                   "str(int(sys.prefix == '%s')))\n" % venv)
        path = home.write("spec.yaml",
                          spec(command=["python", "train.py"], trials=1))
        out, _ = home.cli(
            "run", path, "-o", "json", cwd="/", VIRTUAL_ENV=venv,
            PATH=os.path.join(venv, "bin") + ":" + os.environ["PATH"])
        best = json.loads(out.splitlines()[-1])
        tap.equal(best["hypertune"]["objective"], 1)


def flags_alone_are_enough():
    with Home() as home:
        home.write("train.py", TRAIN + "import subprocess\nsubprocess.run(['"
                   "hypertune', 'report', 'accuracy=%g' % lr])\n")
        path = os.path.dirname(os.path.realpath(sys.argv[1] + "/hypertune"))
        out, _ = home.cli("run", "--maximize", "accuracy", "--param",
                          "lr=log:0.01..0.1", "--param", "opt=adam,sgd", "-n",
                          "2", "-p2", "--seed", "1", "--algorithm", "random",
                          "-o", "args", "--", "python3", "train.py",
                          PATH=path + ":" + os.environ["PATH"])
        tap.starts(out.splitlines()[-1], "--lr=0.0", out)
        tap.equal(home.cli("list", "-o", "name")[0], "train\n")
        _, err = home.cli("check", "--maximize", "a", "--param", "lr=1,2", "--",
                          "no-such-program", want=2)
        tap.starts(err, "command line: error: command: no-such")


def the_same_spec_attaches_and_another_conflicts():
    with Home() as home:
        a_submitted_home(home, SLOW)
        out, err = home.cli("submit", "spec.yaml")
        tap.equal(out, "quick\n")
        tap.contains("exists with the same spec", err)
        home.write("spec.yaml", spec(trials=9))
        _, err = home.cli("submit", "spec.yaml", want=5)
        for words in ("trials: 3 -> 9", "--name", "--continue", "--replace"):
            tap.contains(words, err)
        home.cli("submit", "spec.yaml", "--if-not-exists", want=5)
        tap.equal(home.cli("submit", "spec.yaml", "--name", "other")[0],
                  "other\n")
        home.cli("submit", "spec.yaml", "--continue")
        home.cli("submit", "spec.yaml", "--if-not-exists")
        home.cli("cancel", "quick", "--yes")
        home.cli("submit", "spec.yaml", "--wait", want=7)
        home.cli("submit", "spec.yaml", "--replace", want=2)
        home.cli("submit", "spec.yaml", "--replace", "--yes")
        tap.equal(json.loads(home.cli("describe", "quick", "-o",
                                      "json")[0])["maxTrialCount"], 9)


def every_format_is_written_or_refused():
    with Home() as home:
        a_submitted_home(home)
        home.cli("submit", "spec.yaml", "--wait")
        out, _ = home.cli("trials", "quick", "-o", "json")
        tap.equal([trial["id"] for trial in json.loads(out)], ["1", "2", "3"])
        tap.equal(len(out.splitlines()), 3, out)
        tap.equal(home.cli("trials", "quick", "-o", "json", "--state",
                           "failed")[0], "[]\n")
        studies = json.loads(home.cli("list", "-o", "json")[0])
        tap.equal([study["displayName"] for study in studies], ["quick"])
        out, _ = home.cli("trial", "quick/3", "-o", "csv")
        row, = csv.DictReader(out.splitlines())
        tap.equal((row["ID"], row["lr"]), ("3", "0.3"))
        out, _ = home.cli("describe", "quick", "-o", "csv")
        row, = csv.DictReader(out.splitlines())
        tap.equal((row["NAME"], row["STATE"]), ("quick", "SUCCEEDED"))
        home.cli("describe", "quick", "-o", "args", want=2)
        home.cli("list", "-o", "args", want=2)
        home.cli("list", "--state", "done", want=2)
        version = json.loads(home.cli("version", "-o", "json")[0])
        tap.equal("hypertune " + version["version"] + "\n",
                  home.cli("version")[0])


def what_cannot_be_written_is_an_error():
    with Home() as home, open("/dev/full", "wb") as full:
        process = home.start("help", "spec", stdout=full)
        _, err = process.communicate(timeout=PATIENCE)
        tap.equal((process.returncode, err), (
            1, "hypertune: cannot write to stdout: No space left on device\n"))
        reader, writer = os.pipe()
        os.close(reader)
        process = home.start("help", "spec", stdout=writer)
        os.close(writer)
        tap.equal(process.communicate(timeout=PATIENCE)[1], "")


def a_broken_spec_creates_nothing():
    with Home() as home:
        broken = spec(trials=0, goal="maximise accuracy")
        path = home.write("spec.yaml", json.dumps(broken, indent=1))
        _, err = home.cli("submit", path, want=2)
        tap.contains("spec.yaml:", err)
        tap.equal(err.splitlines()[-1], "2 errors, nothing was created")
        tap.true(not os.path.exists(home.state), "a server was started:")


def flags_change_a_spec_or_are_refused():
    with Home() as home:
        home.write("train.py", TRAIN)
        home.write("spec.yaml", spec())
        out, _ = home.cli("check", "spec.yaml", "-n", "7", "-p", "3", "--seed",
                          "5", "--retries", "0", "--name", "mine", "-o", "json")
        native = json.loads(out)
        tap.equal([native[key] for key in
                   ("trials", "parallel", "seed", "retries", "name")],
                  [7, 3, 5, 0, "mine"])
        _, err = home.cli("check", "spec.yaml", "-n", "0", "--seed", "x",
                          want=2)
        tap.contains("2 errors, nothing was created", err)
        _, err = home.cli("submit", "--algorithm", "random", want=2)
        tap.contains("--algorithm belongs into spec.yaml", err)
        home.cli("submit", "spec.yaml", "--param", "lr=1,2", want=2)
        for name in "bad name", "77", "-x":
            _, err = home.cli("check", "spec.yaml", "--name=" + name, want=2)
            tap.contains("--name: ", err)


def a_program_that_is_not_there_is_found_at_check():
    with Home() as home:
        home.write("spec.yaml", spec(command=["pyhton3", "train.py"]))
        _, err = home.cli("check", "spec.yaml", want=2)
        tap.contains("pyhton3 is not in PATH", err)
        tap.contains("searched /", err)
        home.write("mine.sh", "exit 0\n")
        home.write("spec.yaml", spec(command="mine.sh"))
        _, err = home.cli("check", "spec.yaml", want=2)
        tap.contains("say ./mine.sh", err)
        home.write("spec.yaml", spec(command="./mine.sh"))
        _, err = home.cli("check", "spec.yaml", want=2)
        tap.contains(home.folder + "/mine.sh cannot be executed", err)
        tap.lacks("searched", err)


def exit_codes_are_those_of_the_manual():
    with Home() as home:
        a_submitted_home(home, "import sys\nsys.exit(3)\n", retries=0)
        home.cli(want=2)
        home.cli("lst", want=2)
        home.cli("list", "--frmat", "x", want=2)
        home.cli("best", "absent", want=3)
        home.cli("submit", "absent.yaml", want=3)
        home.cli("submit", "spec.yaml", "--wait", want=7)
        home.cli("watch", "quick", "--until", "failed")
        home.cli("watch", "quick", "--until", "succeeded", want=7)
        _, err = home.cli("best", "quick", want=3)
        tap.contains("no succeeded trial yet", err)


def waiting_ends_at_its_time():
    with Home() as home:
        a_submitted_home(home, SLOW)
        home.cli("watch", "quick", "--timeout", "300ms", want=8)
        home.cli("submit", "spec.yaml", "--wait", "--timeout", "300ms", want=8)
        tap.contains(" RUNNING ", home.cli("list")[0])


def ctrl_c_once_leaves_the_study_running():
    with Home() as home:
        home.write("train.py", SLOW)
        path = home.write("spec.yaml", spec())
        with Terminal(home, "run", path) as terminal:
            terminal.expect("RUNNING   ID")
            terminal.press("\x03")
            terminal.expect("stop: hypertune stop quick")
            tap.equal(terminal.wait(), 130)
        tap.equal(home.cli("list", "--state", "running", "-o", "name")[0],
                  "quick\n")


def ctrl_c_twice_stops_the_study():
    with Home() as home:
        home.write("train.py", SLOW)
        path = home.write("spec.yaml", spec())
        with Terminal(home, "run", path) as terminal:
            terminal.expect("RUNNING   ID")
            terminal.press("\x03")
            terminal.expect("Ctrl-C again")
            terminal.press("\x03")
            tap.equal(terminal.wait(), 130)
        home.cli("watch", "quick", "--until", "stopped")


def the_live_view_answers_keys_and_restores_the_terminal():
    with Home() as home:
        a_submitted_home(home, SLOW)
        with Terminal(home, "watch", "quick") as terminal:
            terminal.expect("quick  RUNNING  grid  maximize accuracy")
            terminal.press("p")
            terminal.expect("quick  PAUSED")
            terminal.press("p")
            terminal.expect("quick  RUNNING")
            terminal.press("l")
            terminal.expect("trial ")
            terminal.press("s")
            terminal.expect("continue? [y/N]")
            terminal.press("n")
            tap.equal(terminal.is_raw(), True)
            terminal.press("q")
            tap.equal(terminal.wait(), 0)
            tap.equal(terminal.is_raw(), False)
        with Terminal(home, "watch", "quick") as terminal:
            terminal.expect("RUNNING   ID")
            os.kill(terminal.pid, signal.SIGTERM)
            tap.equal(terminal.wait(), 143)
            tap.equal(terminal.is_raw(), False)


def trials_are_filtered_sorted_and_written_as_csv():
    with Home() as home:
        a_submitted_home(home)
        home.cli("submit", "spec.yaml", "--wait")
        out, _ = home.cli("trials", "quick", "--sort", "-accuracy", "--where",
                          "lr>0.1 state=succeeded", "-o", "csv")
        rows = list(csv.DictReader(out.splitlines()))
        tap.equal([row["lr"] for row in rows], ["0.3", "0.2"])
        tap.equal([row["ID"] for row in rows], ["3", "2"])
        out, err = home.cli("trials", "quick", "--limit", "1")
        tap.equal(len(out.splitlines()), 2)
        tap.contains("1 of 3 trials", err)
        home.cli("trials", "quick", "--sort", "lrr", want=2)
        home.cli("trials", "quick", "--where", "lr", want=2)
        _, err = home.cli("trials", "quick", "--where", "lrr>0", want=2)
        tap.contains('no "lrr" (did you mean lr?)', err)
        _, err = home.cli("trials", "quick", "--where", "lr>0.1")
        tap.equal(err, "2 of 3 trials match\n")
        _, err = home.cli("trials", "quick", "--state", "suceeded", want=2)
        tap.contains("there are REQUESTED, ACTIVE,", err)
        tap.equal(home.cli("best", "quick", "-o", "args")[0], "--lr=0.3\n")
        tap.equal(home.cli("best", "quick", "-o", "name")[0], "quick/3\n")
        lines = home.cli("trials", "quick", "-o", "jsonl")[0].splitlines()
        tap.equal([json.loads(line)["id"] for line in lines], ["1", "2", "3"])


# Each metric is its own record; the memory comes last and only once.
SEVERAL = """
import sys
lr = float([a for a in sys.argv if a.startswith("--lr=")][0][5:])
for step in (1, 2):
    print("step %d accuracy=%g" % (step, lr * step), flush=True)
    print("latency %g" % (7 if lr < 0.2 else 9), flush=True)
print("memory %g" % (20 * lr), flush=True)
"""


def a_home_of_several_goals(home, **changes):
    a_submitted_home(home, SEVERAL, **dict({
        "goal": ["maximize accuracy", "minimize latency"], "retries": 0,
        "metrics": {"stdout": ["step {step} accuracy={accuracy}",
                               "latency {latency}", "memory {memory}"]}},
        **changes))


def several_goals_have_several_best_trials():
    with Home() as home:
        a_home_of_several_goals(home)
        out, _ = home.cli("run", "spec.yaml")
        lines = out.splitlines()
        ended = [line for line in lines if "SUCCEEDED accuracy=0.2" in line]
        tap.equal((len(ended), "latency=7" in ended[0]), (1, True), lines)
        tap.equal(lines[-3].split()[:4], ["ID", "STATE", "ACCURACY", "LATENCY"])
        tap.equal([line.split()[:4] for line in lines[-2:]],
                  [["3", "SUCCEEDED", "0.6", "9"],
                   ["1", "SUCCEEDED", "0.2", "7"]])
        tap.equal(home.cli("best", "quick")[0].splitlines(), lines[-3:])
        found = json.loads(home.cli("best", "quick", "-o", "json")[0])
        tap.equal([trial["id"] for trial in found], ["3", "1"])
        _, err = home.cli("best", "quick", "-o", "args", want=2)
        tap.contains("--metric NAME", err)
        tap.equal(home.cli("best", "quick", "--metric", "latency", "-o",
                           "args")[0], "--lr=0.1\n")
        _, err = home.cli("best", "quick", "--metric", "latencie", want=2)
        tap.contains("did you mean latency?", err)
        rows = list(csv.DictReader(home.cli("trials", "quick", "-o",
                                            "csv")[0].splitlines()))
        tap.equal([row["LATENCY"] for row in rows], ["7", "9", "9"])
        tap.contains("accuracy=0.6 of 2", home.cli("list")[0])


def only_trials_within_their_bounds_are_best():
    with Home() as home:
        a_home_of_several_goals(home, safety="memory <= 4",
                                goal="maximize accuracy")
        home.cli("submit", "spec.yaml", "--wait")
        tap.equal(home.cli("best", "quick", "-o", "name")[0], "quick/2\n")
        out, _ = home.cli("best", "quick")
        tap.contains("accuracy=0.4 memory=4", out)
        home.cli("best", "quick", "--metric", "memory", want=2)
        home.cli("delete", "quick", "--yes")
        a_home_of_several_goals(home, safety=["memory <= 1"])
        home.cli("submit", "spec.yaml", "--wait", want=7)
        _, err = home.cli("best", "quick", want=3)
        tap.contains("no trial within its bounds (3 succeeded outside)", err)


def a_metric_that_never_came_makes_a_trial_infeasible():
    with Home() as home:
        a_home_of_several_goals(home, safety="speed >= 1",
                                parameters={"lr": [0.1]}, trials=1)
        home.cli("submit", "spec.yaml", "--wait", want=7)
        trial = json.loads(home.cli("trial", "quick/1", "-o", "json")[0])
        tap.equal((trial["hypertune"]["state"],
                   trial["hypertune"]["reason"].split(";")[0]),
                  ("INFEASIBLE", "ended without reporting speed"))


def events_are_lines_for_people_and_for_machines():
    with Home() as home:
        a_submitted_home(home, trials=1)
        home.cli("submit", "spec.yaml", "--wait")
        lines = home.cli("watch", "quick")[0].splitlines()
        tap.contains(" trial 1 ACTIVE runner=", lines[0])
        tap.true(lines[0].endswith(" lr=0.1"), lines[0])
        tap.equal(lines[1].split(" ", 1)[1],
                  "trial 1 SUCCEEDED accuracy=0.3 step=3 best=0.3")
        tap.contains(" study quick SUCCEEDED ", lines[2])
        events = [json.loads(line) for line in home.cli(
            "watch", "quick", "-o", "jsonl")[0].splitlines()]
        tap.equal([event["revision"] for event in events],
                  list(range(1, len(events) + 1)))
        tap.equal(events[0]["kind"], "study.created")


def a_retried_trial_is_shown_with_its_reason():
    with Home() as home:
        a_submitted_home(home, "import sys\nsys.exit(3)\n", trials=1,
                         retries=1)
        home.cli("submit", "spec.yaml", "--wait", want=7)
        lines = home.cli("watch", "quick", want=7)[0].splitlines()
        tap.equal(sum(" trial 1 ACTIVE " in line for line in lines), 2)
        tap.equal(sum("trial 1 REQUESTED" in line and "exit 3" in line
                      for line in lines), 1, lines)
        out, _ = home.cli("trial", "quick/1")
        tap.equal(len([line for line in out.splitlines()
                       if line.startswith("attempt ")]), 2, out)


def more_trials_reopen_a_finished_study():
    with Home() as home:
        a_submitted_home(home, trials=1)
        home.cli("submit", "spec.yaml", "--wait")
        home.cli("set", "quick", "trials=2", "parallel=1")
        home.cli("watch", "quick")
        tap.equal(len(home.cli("trials", "quick", "-o", "name")[0].split()), 2)
        _, err = home.cli("set", "quick", "-n", "+1", "parallel=+3")
        tap.equal(err.splitlines()[-1], "study quick is RUNNING: "
                  "3 trials, 4 at a time")
        home.cli("watch", "quick")
        tap.equal(len(home.cli("trials", "quick", "-o", "name")[0].split()), 3)
        for words in (["-n", "2"], ["trials=2"]):
            _, err = home.cli("set", "quick", *words, want=2)
            tap.contains("2 is below the 3 trials that study quick has made",
                         err)
        home.cli("set", "quick", "-n", "3")
        for words in (["-n", "+0"], ["trials=+"], ["trials=++1"],
                      ["-n", "+99999"], ["-n", "+9223372036854775807"],
                      ["-p", "+1x"]):
            home.cli("set", "quick", *words, want=2)
        _, err = home.cli("submit", "spec.yaml", "-n", "+4", want=2)
        tap.contains('--trials needs a whole number from 0, not "+4"', err)
        home.cli("set", "quick", "trails=2", want=2)
        home.cli("set", "quick", want=2)
        _, err = home.cli("set", "quick", "trials=0", want=2)
        tap.equal(err, "hypertune: trials must be 1 to 100000, is 0\n")
        home.cli("set", "quick", "-p", "1001", want=2)


def what_has_ended_is_said_to_have():
    with Home() as home:
        a_submitted_home(home, trials=1)
        home.cli("submit", "spec.yaml", "--wait")
        for verb in ("cancel", "stop", "pause", "resume"):
            _, err = home.cli(verb, "quick", want=1)
            tap.equal(err, "hypertune: study quick had already ended: "
                      "SUCCEEDED; nothing to %s\n" % verb)
        _, err = home.cli("stop-trial", "quick/1", want=1)
        tap.contains("trial 1 has ended: SUCCEEDED", err)
        _, err = home.cli("retry", "quick/1", want=1)
        tap.contains("trial 1 has succeeded", err)
        home.write("train.py", SLOW)  # which does not end by itself
        for verb, state in (("stop", "STOPPED"), ("cancel", "CANCELLED")):
            home.cli("submit", "spec.yaml", "--name", verb, "-n", "1")
            home.cli(verb, verb, "--yes")
            home.run("watch", verb)
            _, err = home.cli(verb, verb)
            tap.equal(err, "study %s was already %s\n" %
                      (verb, state))


def ending_a_study_asks_first():
    with Home() as home:
        a_submitted_home(home, SLOW)
        wait_until(lambda: home.cli("trials", "quick", "--state", "active",
                                    "-o", "name")[0].count("\n") == 2,
                   "two running trials")
        _, err = home.cli("stop", "quick", want=2)
        tap.contains("2 running trials; say --yes", err)
        home.cli("delete", "quick", "--yes", want=5)
        with Terminal(home, "stop", "quick") as terminal:
            terminal.expect("continue? [y/N]")
            terminal.press("n\n")
            tap.equal(terminal.wait(), 1)
        home.cli("stop", "quick", "--yes")
        home.cli("watch", "quick", "--until", "stopped")
        with Terminal(home, "delete", "quick") as terminal:
            terminal.expect("type the name to continue:")
            terminal.press("quick\n")
            tap.equal(terminal.wait(), 0)
        tap.equal(home.cli("list", "-o", "name")[0], "")


def logs_cannot_steer_the_terminal():
    with Home() as home:
        a_submitted_home(home, "print('step 1 accuracy=1 \\x1b[2J')\n",
                         trials=1)
        home.cli("submit", "spec.yaml", "--wait")
        tap.equal(home.cli("logs", "quick/1")[0],
                  "step 1 accuracy=1 \\x1b[2J\n")
        tap.equal(home.cli("logs", "quick/1", "--raw", "-f")[0],
                  "step 1 accuracy=1 \x1b[2J\n")
        home.cli("logs", "quick", want=2)
        home.cli("logs", "quick/9", want=3)


def smoke_says_whether_the_objective_was_seen():
    with Home() as home:
        home.write("train.py", TRAIN)
        home.write("spec.yaml", spec())
        _, err = home.cli("check", "spec.yaml", "--smoke", "--full")
        tap.contains("reported accuracy=0.3 (step 3)", err)
        home.write("train.py", "print('nothing useful')\n")
        _, err = home.cli("check", "spec.yaml", "--smoke", want=7)
        for words in ("ended without reporting accuracy", "  seen      no metric",
                      "  nothing useful"):
            tap.contains(words, err)
        tap.equal(home.cli("list", "-o", "name")[0], "")


def init_writes_a_spec_that_checks():
    with Home() as home:
        home.write("train.py", TRAIN)
        home.cli("init")
        out, _ = home.cli("check")
        tap.starts(out, "spec.yaml is valid")
        tap.contains("default search", out)
        home.cli("init", want=5)
        home.cli("init", "--force")


def check_prints_the_native_form():
    with Home() as home:
        home.write("train.py", TRAIN)
        home.write("spec.yaml", spec())
        out, _ = home.cli("check", "-o", "yaml")
        home.write("again.yaml", out)
        tap.equal(home.cli("check", "again.yaml", "-o", "yaml")[0], out)


if __name__ == "__main__":
    tap.run([run_shows_the_best_trial_and_how_to_repeat_it,
             values_in_variables_are_repeated_with_them,
             a_virtual_environment_is_used_from_any_folder,
             flags_alone_are_enough,
             the_same_spec_attaches_and_another_conflicts,
             every_format_is_written_or_refused,
             what_cannot_be_written_is_an_error,
             a_broken_spec_creates_nothing,
             flags_change_a_spec_or_are_refused,
             a_program_that_is_not_there_is_found_at_check,
             exit_codes_are_those_of_the_manual,
             waiting_ends_at_its_time,
             ctrl_c_once_leaves_the_study_running,
             ctrl_c_twice_stops_the_study,
             the_live_view_answers_keys_and_restores_the_terminal,
             trials_are_filtered_sorted_and_written_as_csv,
             several_goals_have_several_best_trials,
             only_trials_within_their_bounds_are_best,
             a_metric_that_never_came_makes_a_trial_infeasible,
             events_are_lines_for_people_and_for_machines,
             a_retried_trial_is_shown_with_its_reason,
             more_trials_reopen_a_finished_study,
             what_has_ended_is_said_to_have,
        ending_a_study_asks_first,
             logs_cannot_steer_the_terminal,
             smoke_says_whether_the_objective_was_seen,
             init_writes_a_spec_that_checks,
             check_prints_the_native_form])
