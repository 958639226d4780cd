"""Names with a slash in them: of a study, and of a trial behind one."""

import os

import tap
from cli_home import Home
from harness import wait_until

WRITES = ("echo score=1; mkdir -p $AIP_MODEL_DIR; "
          "echo model >$AIP_MODEL_DIR/model.txt")
SWEEP = {"spec": 1, "name": "team/sweep", "goal": "maximize score",
         "parameters": {"x": [1, 2]}, "algorithm": "grid", "trials": 1,
         "command": ["sh", "-c", WRITES], "args": "none",
         "metrics": {"stdout": "score={score}"}}
ONCE = {"displayName": "once", "hypertune": {"name": "team/once"},
        "jobSpec": {"workerPoolSpecs": [{"replicaCount": 1, "containerSpec": {
            "command": ["sh", "-c", WRITES]}}]}}


class Cases:
    def __init__(self, home):
        self.home = home

    def a_trial_is_behind_the_last_slash(self):
        home = self.home
        out, _ = home.cli("logs", "team/sweep/1")
        tap.equal(out, "score=1\n")
        out, _ = home.cli("trial", "team/sweep/1", "-o", "json")
        tap.contains('"x":1', out.replace(" ", ""), out)
        for word, folder in (("team/sweep/1", "of-trial"),
                             ("team/sweep/best", "of-best")):
            home.cli("fetch", word, folder)
            tap.equal(os.listdir(os.path.join(home.folder, folder)),
                      ["model"], word)
        # Where nothing comes within a person's patience, nothing is offered.
        wait_until(lambda: home.cli("complete", "curves", "team/sweep/1",
                                    "--metric", "s")[0].strip() == "score",
                   "a metric of the study")

    def a_custom_job_is_its_only_trial(self):
        home = self.home
        out, _ = home.cli("logs", "team/once")
        tap.equal(out, "score=1\n")
        home.cli("fetch", "team/once", "of-once")
        tap.equal(os.listdir(os.path.join(home.folder, "of-once")), ["model"])

    def a_name_that_a_trial_has_is_refused_before_anything_is_sent(self):
        home = self.home
        for name, words in (
                ("team/7", "would be taken for trial 7 of the study team"),
                ("team/sweep/best",
                 "would be taken for the best of the study team/sweep")):
            path = home.write("named.yaml", dict(SWEEP, name=name))
            for asked in (("check", path), ("submit", path),
                          ("submit", home.write("sweep.yaml", SWEEP),
                           "--name", name)):
                _, err = home.cli(*asked, want=2)
                tap.contains(words, err)
        out, _ = home.cli("list", "-o", "name")
        tap.equal(sorted(out.split()), ["team/once", "team/sweep"])


class Messages:
    """What a wrong word was meant to be."""

    def __init__(self, home):
        self.home = home

    def refused(self, *rows):
        for line, code, words in rows:
            _, err = self.home.cli(*line.split(), want=code)
            tap.contains(words, err, line)

    def a_study_that_is_not_there_has_the_nearest_name(self):
        self.refused(
            ("best team/swep", 3,
             "there is no study team/swep (did you mean team/sweep?)"),
            ("describe team/swep", 3, "(did you mean team/sweep?)"),
            ("watch team/swep", 3, "(did you mean team/sweep?)"))
        _, err = self.home.cli("best", "nothing", want=3)
        tap.contains("there is no study nothing\n", err)

    def a_trial_that_is_not_there_has_the_numbers_that_are(self):
        for command in ("trial", "logs", "fetch", "curves"):
            self.refused((command + " team/sweep/99", 3,
                          "study team/sweep has no trial 99; its trials are "
                          "1 to 1"))

    def the_best_trial_is_named_as_such(self):
        home = self.home
        out, _ = home.cli("logs", "team/sweep/best")
        tap.equal(out, "score=1\n")
        out, _ = home.cli("trial", "team/sweep/best")
        tap.starts(out, "trial 1 ")
        out, _ = home.cli("curves", "team/sweep/best", "-o", "csv")
        tap.equal(out.splitlines()[1][:2], "1,")
        path = home.write("none.yaml", dict(SWEEP, name="none",
                                            command=["sh", "-c", "exit 1"]))
        home.cli("run", path, want=7)
        for command in ("logs", "trial", "curves"):
            self.refused((command + " none/best", 3,
                          'study "none" has no succeeded trial yet'))

    def names_of_metrics_topics_and_states_have_a_hint(self):
        self.refused(
            ("help rnu", 3, 'no help on "rnu" (did you mean run?)'),
            ("help spce", 3, "(did you mean spec?)"),
            ("importance team/sweep --metric scor", 2,
             'the study has no "scor" (did you mean score?)'),
            ("health team/sweep --metric scor", 2,
             'the study has no "scor" (did you mean score?)'),
            ("curves team/sweep --metric scor", 3, "(did you mean score?)"),
            ("trials team/sweep --sort scor", 2, "(did you mean score?)"),
            ("trials team/sweep --where scor>1", 2, "(did you mean score?)"),
            ("trials team/sweep --state succeded", 2,
             'no state "succeded" (did you mean SUCCEEDED?); there are '),
            ("list --state runnning", 2, "(did you mean RUNNING?)"),
            ("list -o tabel", 2, "(did you mean table?)"),
            ("logs team/sweep/1 --replica mastr-0", 3,
             'no replica "mastr-0" (did you mean master-0?); there is '
             "master-0\n"))

    def what_is_no_command_is_explained(self):
        home = self.home
        home.write("spec.yaml", SWEEP)
        home.write("train.py", "print(1)\n")
        home.write("go", "#!/bin/sh\n", mode=0o755)
        run = "hypertune run --maximize METRIC --param NAME=FORM -- "
        self.refused(
            ("spec.yaml", 2, "run it: hypertune run spec.yaml\n"),
            ("team/sweep", 2,
             "team/sweep is a study, no command; see it: hypertune watch "
             "team/sweep"),
            ("wacth", 2, 'no command "wacth" (did you mean watch?)'),
            ("nothing", 2, 'no command "nothing"; "hypertune help"'),
            ("--maximize acc", 2, "hypertune run --maximize ..."),
            ("--wrong", 2, "hypertune has no option --wrong"),
            ("python3 train.py", 2, run + "python3 train.py\n"),
            ("run python3 train.py", 2, run + "python3 train.py\n"),
            ("run --maximize a --param x=1..2 python3 train.py", 2,
             run + "python3 train.py\n"),
            ("train.py", 2, run + "python3 train.py\n"),
            ("run train.py", 2, run + "python3 train.py\n"),
            ("submit go", 2, run + "./go\n"),
            ("run nowhere.py", 3, "no file nowhere.py"))

    def studies_are_deleted_together_or_not_at_all(self):
        home = self.home
        for name in ("one", "two"):
            home.cli("submit", home.write("d.yaml", dict(SWEEP, name=name)),
                     "--wait", "-q")
        home.cli("submit", home.write("d.yaml", dict(
            SWEEP, name="busy", command=["sleep", "600"])), "-q")
        _, err = home.cli("delete", "one", "busy", "two", "--yes", want=5)
        tap.contains("end it first: hypertune stop busy", err)
        _, err = home.cli("delete", "one", "tow", "--yes", want=3)
        tap.contains("(did you mean two?)", err)
        tap.equal(home.describe("one")["hypertuneStatus"]["name"], "one")
        home.cli("delete", "one", "two", "--yes")
        for name in ("one", "two"):
            home.cli("describe", name, want=3)



if __name__ == "__main__":
    with Home() as own:
        for made in (SWEEP, ONCE):
            own.cli("submit", own.write("spec.yaml", made), "--wait", "-q")
        cases = Cases(own)
        said = Messages(own)
        tap.run([cases.a_trial_is_behind_the_last_slash,
                 cases.a_custom_job_is_its_only_trial,
                 cases.a_name_that_a_trial_has_is_refused_before_anything_is_sent,
                 said.a_study_that_is_not_there_has_the_nearest_name,
                 said.a_trial_that_is_not_there_has_the_numbers_that_are,
                 said.the_best_trial_is_named_as_such,
                 said.names_of_metrics_topics_and_states_have_a_hint,
                 said.what_is_no_command_is_explained,
                 said.studies_are_deleted_together_or_not_at_all])
