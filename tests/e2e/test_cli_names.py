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


if __name__ == "__main__":
    with Home() as own:
        for made in (SWEEP, ONCE):
            own.cli("submit", own.write("spec.yaml", made), "--wait", "-q")
        cases = Cases(own)
        tap.run([cases.a_trial_is_behind_the_last_slash,
                 cases.a_custom_job_is_its_only_trial,
                 cases.a_name_that_a_trial_has_is_refused_before_anything_is_sent
                 ])
