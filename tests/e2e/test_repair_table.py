"""What happens to a study that exists, for each state that it can be in and each
command that a person may type then. Every advice is typed as it was printed."""

import os
import re
import subprocess

import harness
import tap
from cli_home import Home

TRIALS, MORE = 4, 6
# Trial 1 fails and says nothing, or all end without the metric, until `repaired`
# is there; the others wait for `go`.
TRAINER = """
[ -e repaired ] || { [ -e silent ] && exit 0; [ "$1" = 1 ] && exit 3; }
until [ -e go ]; do sleep 0.05; done
echo "m=$1"
"""


def spec(name, **changes):
    return {"spec": 1, "name": name, "goal": "maximize m", "grace": "1s",
            "parameters": {"x": ["1", "2", "3", "4", "5", "6"]},
            "algorithm": "grid", "trials": TRIALS, "parallel": 2, "retries": 0,
            "metrics": {"stdout": "m={m}"}, "args": "none",
            "command": ["sh", "train.sh", "${x}"], **changes}


class Cell:
    """A study in a folder of its own, brought into a state."""

    def __init__(self, home, name):
        self.home, self.name = home, name
        self.path = harness.bin_dir() + os.pathsep + os.environ["PATH"]
        os.mkdir(os.path.join(home.folder, name))
        self.write("train.sh", TRAINER)
        self.write("spec.json", spec(name))

    def write(self, name, content=""):
        self.home.write(os.path.join(self.name, name), content)

    def cli(self, *words, want=0):
        """stdout and stderr together."""
        return "".join(self.home.cli(
            *words, want=want, PATH=self.path,
            cwd=os.path.join(self.home.folder, self.name)))

    def type(self, command, want=0):
        """A line as a person pastes it."""
        done = subprocess.run(
            command, shell=True, capture_output=True, encoding="utf-8",
            timeout=harness.PATIENCE, stdin=subprocess.DEVNULL, check=False,
            cwd=os.path.join(self.home.folder, self.name),
            env=self.home.environment({"PATH": self.path}))
        tap.equal(done.returncode, want, command + done.stdout + done.stderr)
        return done.stdout + done.stderr

    def status(self):
        return self.home.describe(self.name)["hypertuneStatus"]

    def id(self):
        return self.home.describe(self.name)["name"]

    def wait(self, condition, what):
        harness.wait_until(lambda: condition(self.status()), what)

    def wait_end(self, succeeded, failed=0):
        self.wait(lambda s: s["state"] == "SUCCEEDED", "the end")
        counts = self.status()["counts"]
        tap.equal((counts["succeeded"], counts["failed"]), (succeeded, failed))

    def repair(self):
        self.write("repaired")
        self.write("go")

    def close(self):
        self.home.run("cancel", self.name, "--yes")


def advice(said):
    """The commands in what was printed."""
    return re.findall(r"hypertune [-a-z].*?(?=   |$)", said, re.MULTILINE)


# ---- the states ----

def paused_by_the_doctor(cell):
    cell.write("silent")
    cell.cli("submit", "spec.json")
    # A third trial may have begun before the second one ended.
    cell.wait(lambda s: s["state"] == "PAUSED" and s["counts"]["active"] == 0,
              "the pause")
    tap.true(cell.status()["held"], cell.status())
    tap.true(cell.status()["counts"]["failed"] in (2, 3), cell.status())


def running(cell):
    cell.cli("submit", "spec.json")
    cell.wait(lambda s: s["counts"]["failed"] == 1 and
              s["counts"]["active"] == 2, "two running trials")


def paused_by_the_user(cell):
    running(cell)
    cell.cli("pause", cell.name)
    cell.write("go")
    cell.wait(lambda s: s["counts"]["succeeded"] == 2, "two results")
    tap.equal(cell.status()["state"], "PAUSED")


def ended(cell):
    cell.write("go")
    cell.cli("submit", "spec.json")
    cell.wait_end(TRIALS - 1, 1)


# ---- the commands ----

def the_changed_spec_is_refused(cell):
    """Each of the choices is typed in turn."""
    before = cell.status()["state"]
    said = cell.cli("submit", "spec.json", want=5)
    tap.contains("trials: 4 -> 6", said)
    tap.equal(cell.status()["state"], before)
    choices = advice(said)
    tap.equal([word for line in choices for word in line.split()
               if word[:2] == "--"],
              ["--name", "--continue", "--replace", "--yes"], said)
    first = cell.id()
    cell.repair()
    tap.contains(cell.name + "-2", cell.type(choices[0]))
    harness.wait_until(lambda: cell.home.describe(cell.name + "-2")[
        "hypertuneStatus"]["state"] == "SUCCEEDED", "the other study")
    cell.type(choices[1])
    cell.wait(lambda s: s["state"] == "SUCCEEDED", "the end")
    tap.equal((cell.id(), sum(cell.status()["counts"][key] for key in
                              ("succeeded", "failed"))), (first, MORE))
    cell.type(choices[2])
    tap.true(cell.id() != first, "the study is another one")
    cell.wait_end(MORE)


def rerun(cell, state, trials):
    if trials != TRIALS:
        the_changed_spec_is_refused(cell)
    elif state is paused_by_the_doctor:
        failed = cell.status()["counts"]["failed"]
        cell.repair()
        said = cell.cli("run", "spec.json")
        tap.contains("study %s continues: %d failed trials run again" % (
            cell.name, failed), said)
        cell.wait_end(TRIALS)
    elif state is paused_by_the_user:
        said = cell.cli("run", "spec.json", want=7)
        tap.contains("study %s is paused\n" % cell.name, said)
        tap.contains("hypertune resume", cell.cli("submit", "spec.json"))
        tap.contains("hypertune resume",
                     cell.cli("submit", "spec.json", "--wait", want=7))
        command = next(one for one in advice(said) if "resume" in one)
        cell.type(command)
        cell.wait_end(TRIALS - 1, 1)
    else:
        first = cell.id()
        cell.write("go")
        said = cell.cli("run", "spec.json")
        tap.contains("exists with the same spec", said)
        tap.contains("m=4", said)
        tap.equal(cell.id(), first)


def go_on(cell, state, trials):
    """--continue"""
    first = cell.id()
    failed = 0 if state is paused_by_the_doctor else 1
    if failed == 0:
        cell.repair()
    cell.write("go")
    said = cell.cli("run", "spec.json", "--continue")
    if state is ended and trials == TRIALS:
        tap.contains("has this spec now, and is SUCCEEDED", said)
    else:
        tap.contains("study %s continues" % cell.name, said)
    cell.wait_end(trials - failed, failed)
    tap.equal(cell.id(), first)


def replace(cell, state, trials):
    first = cell.id()
    cell.repair()
    if state is paused_by_the_doctor:
        cell.cli("run", "spec.json", "--replace")
    else:
        said = cell.cli("run", "spec.json", "--replace", want=2)
        tap.contains("replace removes study %s with" % cell.name, said)
        tap.equal(cell.id(), first)
        command, = advice(said)
        cell.type(command)
    tap.true(cell.id() != first, "the study is another one")
    cell.wait_end(trials)


def retry(cell, state, trials):
    """The file of the spec does not matter to it."""
    del trials
    first = cell.id()
    cell.repair()
    said = cell.cli("retry", cell.name)
    tap.contains("trial %s/1 runs again" % cell.name, said)
    if state is paused_by_the_user:
        tap.equal(cell.status()["state"], "PAUSED")
        command, = advice(said)
        cell.type(command)
    cell.wait_end(TRIALS)
    tap.equal(cell.id(), first)


def cell_of(home, number, trials, state, command):
    def case():
        cell = Cell(home, "cell-%d" % number)
        try:
            state(cell)
            cell.write("spec.json", spec(cell.name, trials=trials))
            command(cell, state, trials)
        finally:
            cell.close()
    case.__name__ = "%s_of_the_%s_spec_of_a_study_%s" % (
        command.__name__, "same" if trials == TRIALS else "changed",
        state.__name__)
    return case


# ---- beside the table ----

def a_study_without_a_file(home):
    def a_choice_has_all_words_that_were_typed():
        cell = Cell(home, "typed")
        cell.write("the train.sh", "exec hypertune report m=0.5\n")
        tail = ["--maximize", "m", "--param", "x=1,2,3", "--", "sh",
                "the train.sh", "--name", "--yes"]
        head = ["--data", home.state, "submit", "--name", cell.name, "-n"]
        cell.cli(*head, "1", "--wait", *tail)
        said = cell.cli(*head, "2", "--replace", *tail, want=2)
        command, = advice(said)
        rest = (" -n 2 --maximize m --param x=1,2,3 -- sh 'the train.sh' "
                "--name --yes")
        tap.equal(command, "hypertune --data %s submit --replace --yes --name "
                  "typed%s" % (home.state, rest))
        said = cell.cli(*head, "2", *tail, want=5)
        tap.equal(advice(said)[0], "hypertune --data %s submit --name typed-2%s"
                  % (home.state, rest))
        for command in advice(said):
            cell.type(command)
            cell.wait(lambda s: s["state"] == "SUCCEEDED", "the end")
        cell.wait_end(2)
    return a_choice_has_all_words_that_were_typed


def a_spec_that_can_never_continue(home):
    def what_cannot_change_is_said_with_the_choices_that_are_left():
        cell = Cell(home, "turned")
        ended(cell)
        cell.write("spec.json", spec(cell.name, goal="minimize m"))
        said = cell.cli("submit", "spec.json", "--continue", want=5)
        tap.contains("study turned cannot change in this, clone it (hypertune "
                 "clone turned): goal: maximize m -> minimize m", said)
        choices = advice(said.split("choose:")[1])
        tap.equal([line.split()[2] for line in choices],
                  ["--name", "--replace"], said)
        for command in choices:
            cell.type(command)
            cell.wait(lambda s: s["state"] == "SUCCEEDED", "the end")
        tap.equal(cell.home.describe("turned-2")["studySpec"]["metrics"][0]
                  ["goal"], "MINIMIZE")
    return what_cannot_change_is_said_with_the_choices_that_are_left


def a_study_that_a_user_cancelled(home):
    def a_cancelled_study_is_not_offered_to_continue():
        cell = Cell(home, "gone")
        running(cell)
        cell.cli("cancel", cell.name, "--yes")
        cell.wait(lambda s: s["state"] == "CANCELLED", "the end")
        cell.write("spec.json", spec(cell.name, trials=MORE))
        cell.write("go")
        for words in ([], ["--continue"]):
            said = cell.cli("submit", "spec.json", *words, want=5)
            tap.equal([line.split()[2] for line in advice(said)],
                      ["--name", "--replace"], said)
        cell.type(advice(said)[1])
        cell.wait_end(MORE - 1, 1)
    return a_cancelled_study_is_not_offered_to_continue


def a_study_without_a_result(home):
    def every_advice_at_the_end_of_a_failed_run_works():
        cell = Cell(home, "broken")
        cell.write("train.sh", "[ -e repaired ] || exit 3; echo m=$1\n")
        said = cell.cli("run", "spec.json", want=7)
        tap.equal([line.split()[1] for line in advice(said)],
                  ["trials", "logs", "retry"], said)
        cell.write("repaired")
        for command in advice(said):
            cell.type(command)
        cell.wait_end(TRIALS)

    def every_advice_of_a_pause_works():
        for number, order in enumerate(("retry", "resume", "stop")):
            cell = Cell(home, "held-%d" % number)
            paused_by_the_doctor(cell)
            held = cell.status()["counts"]["failed"]
            said = cell.cli("list")
            tap.equal(said.count("study %s is paused, as" % cell.name), 1, said)
            cell.repair()
            cell.type(next(line for line in advice(
                said.split("study %s is paused" % cell.name)[1])
                if line.split()[1] == order))
            cell.wait(lambda s: s["state"] not in ("PAUSED", "RUNNING",
                                                   "STOPPING"), "the end")
            counts = cell.status()["counts"]
            tap.equal((counts["succeeded"], counts["failed"]),
                      {"retry": (TRIALS, 0), "resume": (TRIALS - held, held),
                       "stop": (0, held)}[order])

    return [every_advice_at_the_end_of_a_failed_run_works,
            every_advice_of_a_pause_works]


def crashes(home):
    def crashes_alike_pause_and_retries_add_none():
        cell = Cell(home, "crash")
        cell.write("train.sh", "[ -e repaired ] || { echo $1 >>starts; "
                   "echo \"ModuleNotFoundError: No module 'torch' ($$)\" >&2; "
                   "exit 1; }; echo m=$1\n")
        cell.write("spec.json", spec(cell.name, trials=MORE, retries=1))
        said = cell.cli("run", "spec.json", want=7)
        tap.contains("is paused, as 3 attempts in a row failed alike: exit 1: "
                     "ModuleNotFoundError: No module 'torch' (", said)
        with open(os.path.join(home.folder, "crash", "starts"),
                  encoding="utf-8") as file:
            # One more may have begun before the third one ended.
            tap.true(file.read().count("\n") in (3, 4), said)
        cell.cli("run", "spec.json", want=7)  # repaired? not yet
        tap.contains("failed alike", cell.status()["reason"])
        cell.write("repaired")
        cell.cli("run", "spec.json")
        cell.wait_end(MORE)

    def a_study_that_only_warns_runs_all_of_them():
        cell = Cell(home, "warned")
        cell.write("train.sh", "echo no torch >&2; exit 1\n")
        cell.write("spec.json", spec(cell.name, metricDoctor="warn"))
        tap.contains("no trial succeeded", cell.cli("run", "spec.json", want=7))
        tap.equal(cell.status()["counts"]["failed"], TRIALS)

    return [crashes_alike_pause_and_retries_add_none,
            a_study_that_only_warns_runs_all_of_them]


with Home() as shared:
    tap.run([
        a_study_without_a_file(shared),
        a_spec_that_can_never_continue(shared),
        a_study_that_a_user_cancelled(shared),
        *a_study_without_a_result(shared), *crashes(shared)] + [
        cell_of(shared, number, *which) for number, which in enumerate(
        (trials, state, command) for trials in (TRIALS, MORE)
        for state in (paused_by_the_doctor, paused_by_the_user, ended, running)
        for command in (rerun, go_on, replace, retry))])
