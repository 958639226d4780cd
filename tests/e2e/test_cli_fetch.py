"""fetch: what a trial wrote, copied to where a person is."""

import os
import subprocess

import tap
from cli_home import Home
from harness import bin_dir

WRITES = ("echo score=$0; mkdir -p $AIP_MODEL_DIR/deep; "
          "echo model $0 >$AIP_MODEL_DIR/deep/model.txt; "
          "ln -s /etc/passwd $AIP_MODEL_DIR/link")
SPEC = {"spec": 1, "name": "writes", "goal": "maximize score",
        "parameters": {"x": [1, 2, 3]}, "algorithm": "grid", "trials": 3,
        "command": ["sh", "-c", WRITES, "${x}"],
        "metrics": {"stdout": "score={score}"}}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Cases:
    def __init__(self, home):
        self.home = home

    def the_best_trial_is_copied_without_links_and_attempts(self):
        out, err = self.home.cli("fetch", "writes/best")
        name = out.strip()
        tap.starts(name, "writes-", out)
        folder = os.path.join(self.home.folder, name)
        tap.equal(read(folder, "model", "deep", "model.txt"), "model 3\n")
        tap.true(not os.path.lexists(os.path.join(folder, "model", "link")))
        found = [os.path.relpath(os.path.join(where, file), folder)
                 for where, _, files in os.walk(folder) for file in files]
        tap.equal(found, ["model/deep/model.txt"])
        for words in ("(score=3): 1 file, 8 B in " + name,
                      "left out: 1 links or special files"):
            tap.contains(words, err)

    def nothing_is_overwritten_unless_it_is_asked_for(self):
        home = self.home
        home.cli("fetch", "writes/1", "mine")
        path = os.path.join(home.folder, "mine", "model", "deep", "model.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("my own\n")
        _, err = home.cli("fetch", "writes/1", "mine", want=5)
        tap.contains("--force", err)
        tap.equal(read(path), "my own\n")
        home.cli("fetch", "writes/1", "mine", "--force")
        tap.starts(read(path), "model ")

    def what_is_no_trial_is_said(self):
        for word, code, words in (
                ("writes", 2, "STUDY/best"),
                ("writes/x", 3, "no study writes/x"),
                ("writes/9", 3, "writes has no trial 9; its trials are 1 to "),
                ("nothing/best", 3, "no study nothing")):
            _, err = self.home.cli("fetch", word, want=code)
            tap.contains(words, err)

    def from_another_machine_the_runner_sends_them(self):
        words = "hostname elsewhere && exec %s fetch writes/1" % os.path.join(
            bin_dir(), "hypertune")
        done = subprocess.run(
            ["unshare", "--uts", "sh", "-c", words], encoding="utf-8",
            cwd=self.home.folder, env=self.home.environment({}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False)
        if "unshare" in done.stderr or "hostname:" in done.stderr:
            raise tap.Skip("no host name of its own: " + done.stderr.strip())
        tap.equal(done.returncode, 0, done.stderr)
        tap.contains("trial 1 ran on %s: its runner sends what it wrote" %
                     os.uname().nodename, done.stderr)
        tap.equal(done.stdout, "writes-1\n")
        folder = os.path.join(self.home.folder, "writes-1")
        tap.starts(read(folder, "model", "deep", "model.txt"), "model ")
        tap.equal(os.listdir(folder), ["model"])

    def a_trial_shows_where_it_ran_and_what_it_wrote(self):
        out, _ = self.home.cli("trial", "writes/1")
        lines = [line.split(None, 1) for line in out.splitlines()]
        facts = {words[0]: words[1] for words in lines if len(words) == 2}
        tap.equal(facts["host"], os.uname().nodename)
        tap.starts(facts["output"], self.home.state, out)


if __name__ == "__main__":
    with Home() as own:
        own.cli("submit", own.write("writes.yaml", SPEC), "--wait", "-q")
        cases = Cases(own)
        tap.run([cases.the_best_trial_is_copied_without_links_and_attempts,
                 cases.nothing_is_overwritten_unless_it_is_asked_for,
                 cases.what_is_no_trial_is_said,
                 cases.from_another_machine_the_runner_sends_them,
                 cases.a_trial_shows_where_it_ran_and_what_it_wrote])
