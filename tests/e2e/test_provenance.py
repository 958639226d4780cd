"""What produced a trial is on record: spec, git commit and changes, Python and
its packages; `trial` shows it and `compare` what differs."""

import csv
import hashlib
import io
import json
import os
import subprocess
import sys

import tap
from cli_home import Home

TRAIN = "print('step 1 accuracy=0.5')\n"


def spec(**members):
    return {"spec": 1, "name": "told", "goal": "maximize accuracy",
            "parameters": {"x": [1, 2]}, "algorithm": "grid", "args": "none",
            "trials": 1, "retries": 0, "metrics":
            {"stdout": "accuracy={accuracy}"},
            "command": [sys.executable, "train.py"], **members}


def git(home, *words):
    return subprocess.run(
        ["git", "-C", home.folder, "-c", "user.email=a@b.c", "-c",
         "user.name=n", *words], check=True, stdout=subprocess.PIPE,
        encoding="utf-8").stdout


def repository(home):
    home.write("train.py", TRAIN)
    home.write(".gitignore", "state\n*.dist-info\nspec.yaml\n")
    git(home, "init", "-q", "-b", "work")
    git(home, "add", "train.py", ".gitignore")
    git(home, "commit", "-q", "-m", "first")
    return git(home, "rev-parse", "HEAD").strip()


def run(home, *arguments, **members):
    home.write("spec.yaml", spec(**members))
    home.cli("submit", "spec.yaml", "--wait", *arguments,
             PYTHONPATH=home.folder)


def facts_of(home, trial):
    out, _ = home.cli("trial", trial, "-o", "json")
    return json.loads(out)["hypertune"]["facts"]


def package(home, version):
    folder = os.path.join(home.folder, "xgboost-%s.dist-info" % version)
    os.mkdir(folder)
    with open(os.path.join(folder, "METADATA"), "w",
              encoding="utf-8") as file:
        file.write("Metadata-Version: 2.1\nName: xgboost\nVersion: %s\n" %
                   version)


def a_clean_commit_and_the_python_are_recorded():
    with Home() as home:
        commit = repository(home)
        package(home, "9.8.7")
        run(home)
        facts = facts_of(home, "told/1")
        tap.equal(facts["git"],
                  {"commit": commit, "branch": "work", "dirty": False})
        tap.equal(facts["python"]["version"], "%d.%d.%d" %
                  sys.version_info[:3])
        tap.equal(facts["python"]["program"], sys.executable)
        tap.equal(facts["python"]["packages"]["xgboost"], "9.8.7")
        tap.equal(len(facts["spec"]), 64)
        shown, _ = home.cli("trial", "told/1")
        for words in ("  git       %s on work\n" % commit[:12],
                      "  spec      %s\n" % facts["spec"][:12],
                      "  python    %s %s\n" % (facts["python"]["version"],
                                               sys.executable),
                      "xgboost 9.8.7"):
            tap.contains(words, shown)
        _, err = home.cli("trial", "told/1", "--diff", want=3)
        tap.contains("no changes on record", err)


def changes_are_kept_once_and_secrets_are_not():
    with Home() as home:
        repository(home)
        home.write("train.py", TRAIN + "# changed\n")
        home.write("key.txt", "secret words\n")
        run(home, trials=2)
        facts = facts_of(home, "told/1")
        patch, err = home.cli("trial", "told/1", "--diff")
        tap.equal(err, "")
        tap.equal(patch, git(home, "diff", "HEAD") + "? key.txt\n")
        tap.equal(facts["git"]["changes"],
                  {"sha256": hashlib.sha256(patch.encode()).hexdigest(),
                   "bytes": len(patch)})
        tap.equal(facts_of(home, "told/2")["git"], facts["git"])
        tap.contains("with changes that are not committed (%s, --diff" %
                     facts["git"]["changes"]["sha256"][:12],
                     home.cli("trial", "told/1")[0])
        with open(os.path.join(home.state, "hypertune.db"), "rb") as file:
            stored = file.read()
        with open(os.path.join(home.state, "hypertune.db-wal"), "rb") as file:
            stored += file.read()
        assert b"# changed" in stored and b"secret words" not in stored


def long_changes_are_cut_and_hashed_as_a_whole():
    with Home() as home:
        repository(home)
        home.write("train.py", TRAIN + "#%s\n" % ("long " * 20000))
        run(home)
        whole = git(home, "diff", "HEAD")
        patch, err = home.cli("trial", "told/1", "--diff")
        tap.equal(patch, whole[:65536])
        tap.contains("the first 65536 of %d bytes" % len(whole), err)
        tap.equal(facts_of(home, "told/1")["git"]["changes"]["sha256"],
                  hashlib.sha256(whole.encode()).hexdigest())


def what_differs_between_trials_is_shown():
    with Home() as home:
        repository(home)
        run(home)
        home.write("train.py", TRAIN.replace("0.5", "0.75"))
        git(home, "commit", "-qam", "second")
        run(home, "--name", "later", seed=7)
        out, _ = home.cli("compare", "told/1", "later/1", "-o", "json")
        rows = {(row["what"], row["name"]): row["values"]
                for row in json.loads(out)["rows"]}
        first, second = (facts_of(home, one) for one in ("told/1", "later/1"))
        tap.equal(rows[("metric", "accuracy")], ["0.5", "0.75"])
        tap.equal(rows[("code", "commit")],
                  [first["git"]["commit"], second["git"]["commit"]])
        tap.equal(rows[("code", "spec")], [first["spec"], second["spec"]])
        for equal in (("machine", "host"), ("python", "version"),
                      ("code", "branch")):
            assert equal not in rows, rows
        out, _ = home.cli("compare", "told/1", "later/1", "--all", "-o", "csv")
        table = {(row["WHAT"], row["NAME"]): row
                 for row in csv.DictReader(io.StringIO(out))}
        tap.equal(table[("machine", "host")]["told/1"], first["host"])
        tap.equal(table[("code", "commit")]["later/1"],
                  second["git"]["commit"])
        out, _ = home.cli("compare", "told/1", "later/1")
        tap.contains(first["git"]["commit"][:12], out)
        assert first["git"]["commit"] not in out, out
        _, err = home.cli("compare", "told/1", "told/1")
        tap.contains("nothing differs", err)
        home.cli("compare", "told/1", want=2)
        home.cli("compare", "told/1", "told/9", want=3)


tap.run([a_clean_commit_and_the_python_are_recorded,
         changes_are_kept_once_and_secrets_are_not,
         long_changes_are_cut_and_hashed_as_a_whole,
         what_differs_between_trials_is_shown])
