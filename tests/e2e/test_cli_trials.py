"""Single trials from the command line: added, stopped, run again, exported."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import urllib.request

import tap
from cli_home import Home
from harness import PATIENCE, wait_until

TRAIN = """
lr=${1#--lr=}
for step in 1 2 3; do echo "step $step accuracy=$lr loss=$step.5"; done
[ ! -e wait ] || sleep 600
[ ! -e fail ] || exit 3
"""


def spec(**changes):
    made = {"spec": 1, "name": "quick", "goal": "maximize accuracy",
            "parameters": {"lr": {"type": "double", "min": 0.1, "max": 0.9},
                           "opt": ["adam", "-O2"], "fixed": 3},
            "algorithm": "random", "seed": 1, "trials": 3, "parallel": 2,
            "grace": "1s", "retries": 0,
            "metrics": {"stdout": "step {step} accuracy={accuracy} "
                                  "loss={loss}"},
            "command": ["sh", "train.sh"]}
    made.update(changes)
    return made


def a_home_with(home, *marks, **changes):
    """Submits a study whose trials wait or fail while such a file exists."""
    home.write("train.sh", TRAIN)
    for mark in marks:
        home.write(mark, "")
    home.cli("submit", home.write("spec.json", spec(**changes)))


def ended(home, **changes):
    a_home_with(home, **changes)
    home.cli("submit", "spec.json", "--wait")


def post(home, path, body):
    with open(os.path.join(home.state, "token"), encoding="ascii") as file:
        token = file.read().strip()
    request = urllib.request.Request(
        home.note()["http"] + "/v1/projects/local/locations/local" + path,
        json.dumps(body).encode(), {"Authorization": "Bearer " + token,
                                    "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


def what_was_given_is_shown():
    with Home() as home:
        a_home_with(home)
        post(home, "/studies", {"displayName": "mine", "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [
                {"parameterId": "bits",
                 "discreteValueSpec": {"values": [8, 16.5]}},
                {"parameterId": "opt",
                 "categoricalValueSpec": {"values": ["a", "b"]}}]}})
        post(home, "/studies/mine/trials:suggest", {
            "suggestionCount": 3, "contexts": [
                {"description": "night shift", "parameters": [
                    {"parameterId": "opt", "value": "b"},
                    {"parameterId": "bits", "value": 16.5}]},
                {"parameters": [{"parameterId": "opt", "value": "a"}]}, {}]})
        shown = [[line for line in home.cli("trial", "mine/%d" % trial)[0]
                  .splitlines() if line.startswith("given")]
                 for trial in (1, 2, 3)]
        tap.equal(shown, [["given bits=16.5, opt=b (night shift)"],
                          ["given opt=a"], []])


def with_input(home, text, *arguments, want=0):
    process = subprocess.run(
        [os.path.join(sys.argv[1], "hypertune")] + list(arguments),
        input=text, env=home.environment({}), cwd=home.folder, timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    tap.equal(process.returncode, want, process.stdout + process.stderr)
    return process.stdout, process.stderr


def params(home, trial):
    out, _ = home.cli("trial", trial, "-o", "json")
    return json.loads(out)["hypertune"]["params"]


def a_point_is_added_in_every_spelling():
    with Home() as home:
        a_home_with(home, "wait", parallel=1)
        one, _ = home.cli("add", "quick", "lr=0.5", "opt=adam")
        tap.true(re.fullmatch(r"quick/\d+\n", one) is not None, one)
        two, _ = home.cli("add", "--lr=0.25", "quick", "--opt=-O2", "-q")
        shown, _ = home.cli("add", "quick", "lr=0.75", "opt=adam", "-o",
                            "jsonl")
        tap.equal(params(home, one.strip()),
                  {"lr": 0.5, "opt": "adam", "fixed": "3"})
        tap.equal(params(home, two.strip())["opt"], "-O2")
        three = "quick/" + json.loads(shown)["id"]
        tap.equal(params(home, three)["lr"], 0.75)


def wrong_points_are_refused_before_anything_is_added():
    with Home() as home:
        a_home_with(home, "wait", parallel=1)
        for words, said in (
                (["lr=0.5", "op=adam"], 'did you mean "opt"?'),
                (["lr=5", "opt=adam"], "5 is outside [0.1, 0.9]"),
                (["lr=0.5", "lr=0.6", "opt=adam"], "is given twice"),
                (["--lr", "0.5"], "a value is --lr=VALUE"),
                (["stray", "lr=0.5"], '"stray" is no NAME=VALUE'),
                ([], "say a study and a point"),
                (["lr=1", "--file", "x.csv"], "say a study and a point")):
            _, err = home.cli("add", "quick", *words, want=2)
            tap.contains(said, err)
        home.cli("add", "absent", "lr=1", want=3)
        home.cli("add", "quick", "--file", "absent.csv", want=3)
        out, _ = home.cli("trials", "quick", "-o", "name")
        tap.contains(out, ("", "quick/1\n"))  # the search's own


def points_come_from_csv_and_json_lines():
    with Home() as home:
        a_home_with(home, "wait", parallel=1)
        home.write("points.csv", "opt,lr\r\nadam,0.11\r\n'-O2,0.12\r\n")
        out, _ = home.cli("add", "quick", "--file", "points.csv")
        names = out.split()
        tap.equal(len(names), 2)
        tap.equal(params(home, names[1]),
                  {"lr": 0.12, "opt": "-O2", "fixed": "3"})
        out, _ = with_input(home, '{"lr": 0.13, "opt": "adam"}\n\n'
                            '{"opt": "-O2", "lr": 0.14}\n',
                            "add", "quick", "--file", "-")
        tap.equal(params(home, out.split()[1])["lr"], 0.14)
        before = home.cli("trials", "quick", "-o", "name")[0]
        _, err = with_input(home, "lr,opt\n0.15,adam\n7,adam\n0.2\n",
                            "add", "quick", "--file", "-", want=2)
        for said in ("<stdin>:3:1: error: lr: 7 is outside",
                     "<stdin>:4:1: error: has 1 fields",
                     "2 errors, nothing was added"):
            tap.contains(said, err)
        tap.equal(home.cli("trials", "quick", "-o", "name")[0], before)


def what_a_point_lacks_is_chosen_by_the_search():
    with Home() as home:
        a_home_with(home, "wait", parallel=1,
                    constraints=["lr <= 0.5"])
        name, _ = home.cli("add", "quick", "opt=-O2")
        point = params(home, name.strip())
        tap.equal((point["opt"], 0.1 <= point["lr"] <= 0.5, point["fixed"]),
                  ("-O2", True, "3"), point)
        shown, _ = home.cli("trial", name.strip())
        tap.contains("given opt=-O2", shown)
        _, err = home.cli("add", "quick", "lr=0.6", want=2)
        tap.contains("constraint lr <= 0.5 does not hold for lr=0.6", err)
        out, _ = with_input(home, "lr,opt\n0.2,\n,adam\n",
                            "add", "quick", "--file", "-")
        first, second = [params(home, word) for word in out.split()]
        tap.equal((first["lr"], second["opt"], len(second)), (0.2, "adam", 3))
        _, err = with_input(home, "lr,opt\n0.2,\n0.7,adam\n",
                            "add", "quick", "--file", "-", want=2)
        tap.contains("<stdin>:3:1: error: constraint lr <= 0.5 does not hold "
                     "for lr=0.7", err)
        out, _ = home.cli("replay", "quick")
        tap.lacks(" differ", out)


def adding_to_an_ended_study_says_how_to_reopen_it():
    with Home() as home:
        ended(home)
        _, err = home.cli("add", "quick", "lr=0.5", "opt=adam", want=1)
        tap.contains("hypertune set quick -n +1", err)


def one_trial_is_stopped_and_the_others_continue():
    with Home() as home:
        a_home_with(home, "wait")
        wait_until(lambda: home.cli("trials", "quick", "--state", "active",
                                    "-o", "name")[0].count("\n") == 2,
                   "two running trials")
        _, err = home.cli("stop-trial", "quick/1", "quick/99", want=3)
        tap.contains("trial quick/1 stops", err)
        tap.contains("trial quick/99: ", err)
        wait_until(lambda: "STOPPED" in home.cli("trial", "quick/1")[0],
                   "the end of trial 1")
        tap.contains("ACTIVE", home.cli("trial", "quick/2")[0])
        home.cli("stop-trial", "quick", want=2)
        home.cli("stop-trial", want=2)


def failed_trials_run_again():
    with Home() as home:
        a_home_with(home, "fail", trials=2)
        home.cli("submit", "spec.json", "--wait", want=7)
        os.unlink(os.path.join(home.folder, "fail"))
        _, err = home.cli("retry", "quick", "--failed")
        tap.equal(err, "trial quick/1 runs again\ntrial quick/2 runs again\n")
        home.cli("watch", "quick", "--until", "succeeded")
        tap.equal(home.cli("trials", "quick", "--state", "succeeded", "-o",
                           "name")[0], "quick/1\nquick/2\n")
        _, err = home.cli("retry", "quick", "--failed", want=3)
        tap.equal(err, "hypertune: study quick has no failed trial\n")
        home.cli("retry", "quick/1", want=1)
        _, err = home.cli("retry", "quick", want=3)
        tap.equal(err, "hypertune: study quick has no failed trial\n")
        home.cli("retry", "quick", "quick/1", want=2)
        home.cli("retry", "quick/1", "--failed", "more", want=2)


def curves_have_every_measurement():
    with Home() as home:
        ended(home)
        out, _ = home.cli("curves", "quick", "-o", "csv")
        rows = list(csv.DictReader(io.StringIO(out)))
        tap.equal(list(rows[0]), ["trial", "attempt", "replica", "step",
                                  "time", "accuracy"])
        tap.equal([row["trial"] for row in rows], list("111222333"))
        tap.equal([row["step"] for row in rows], list("123" * 3))
        out, _ = home.cli("curves", "quick/2", "quick/3", "--metric", "loss",
                          "-o", "jsonl")
        lines = [json.loads(line) for line in out.splitlines()]
        tap.equal([(line["trial"], line["step"], line["loss"])
                   for line in lines[2:5]], [(2, 3, 3.5), (3, 1, 1.5),
                                             (3, 2, 2.5)])
        out, _ = home.cli("curves", "quick", "-o", "json")
        tap.equal(len(json.loads(out)), 9)
        for locale, curve in (("C", "_=#"), ("C.UTF-8", "▁▄▇")):
            out, _ = home.cli("curves", "quick/1", "--metric", "loss",
                              LC_ALL=locale)
            tap.equal(out.splitlines()[1].split(),
                      ["1", "3", "3", "1.5", "3.5", "3.5", curve])
        _, err = home.cli("curves", "quick", "--metric", "los", want=3)
        tap.contains("there are accuracy, loss", err)
        home.cli("curves", "quick", "other", want=2)
        home.cli("curves", "quick", "-o", "args", want=2)


def an_export_has_a_row_for_every_trial():
    with Home() as home:
        ended(home)
        out, _ = home.cli("export", "quick")
        rows = list(csv.DictReader(io.StringIO(out)))
        tap.equal(list(rows[0]),
                  ["id", "state", "value", "params.lr", "params.opt",
                   "params.fixed", "metrics.accuracy", "metrics.loss", "step",
                   "attempt", "runner", "created", "started", "ended",
                   "reason"])
        tap.equal([row["id"] for row in rows], ["1", "2", "3"])
        for row in rows:
            tap.equal(row["value"], row["metrics.accuracy"])
            tap.contains(row["params.opt"], ("adam", "'-O2"), row)
            tap.equal(row["metrics.loss"], "3.5")
        path = os.path.join(home.folder, "all.json")
        _, err = home.cli("export", "quick", "-o", "json", "--out", path)
        tap.equal(err, "wrote 3 trials to %s\n" % path)
        with open(path, encoding="utf-8") as file:
            records = json.load(file)
        tap.equal([record["id"] for record in records], [1, 2, 3])
        tap.equal(records[0]["params"]["fixed"], "3")
        tap.equal(records[0]["metrics"]["loss"], 3.5)
        lines = home.cli("export", "quick", "-o", "jsonl")[0].splitlines()
        tap.equal([json.loads(line) for line in lines], records)
        tap.equal(home.cli("export", "quick", "--out", "-")[0], out)
        home.cli("export", "quick", "-o", "yaml", want=2)
        home.cli("export", "quick", "--out", "/nowhere/x.csv", want=1)
        tap.equal(sorted(name for name in os.listdir(home.folder)
                         if name.startswith("all")), ["all.json"])


def a_page_to_send_has_all_but_secrets():
    with Home() as home:
        ended(home, env={"PASSWORD": "in-no-page"}, trials=2,
              parameters={"lr": {"type": "double", "min": 0.1, "max": 0.9,
                                 "scale": "log"}, "note": ["<b>&amp;"]})
        page, _ = home.cli("export", "quick", "-o", "html")
        best = home.describe("quick")["hypertuneStatus"]["best"]
        for text in ("<title>quick", "maximize accuracy", "2/2",
                     "Best: trial %s<" % best["id"],
                     "--lr=%r " % best["hypertune"]["params"]["lr"],
                     "&lt;b&gt;&amp;amp;", "Learning curves", ">lr</text>",
                     "3.5", "PASSWORD: &quot;(not shown)&quot;",
                     "default-src 'none'"):
            tap.contains(text, page)
        for text in ("in-no-page", "<b>", "<script"):
            tap.lacks(text, page)
        path = os.path.join(home.folder, "page.html")
        _, err = home.cli("export", "quick", "-o", "html", "--out", path)
        tap.equal(err, "wrote 2 trials to %s\n" % path)
        with open(path, encoding="utf-8") as file:
            tap.equal(len(file.read().splitlines()), len(page.splitlines()))
        home.cli("export", "other", "-o", "html", want=3)


def parameters_under_conditions_have_columns():
    with Home() as home:
        path = home.write("cond.yaml", """
name: cond
goal: maximize accuracy
parameters:
  momentum: {type: double, min: 0.5, max: 0.9, when: {opt: sgd}}
  opt: [adam, sgd]
  beta: {type: double, min: 0.95, max: 0.99, when: {opt: adam}}
algorithm: random
trials: 6
seed: 1
command: [sh, -c, "echo accuracy=0.5"]
metrics: {stdout: "accuracy={accuracy}"}
args: none
""")
        home.cli("run", path)
        rows = list(csv.DictReader(io.StringIO(home.cli("export", "cond")[0])))
        tap.equal([name for name in rows[0] if name.startswith("params.")],
                  ["params.momentum", "params.opt", "params.beta"])
        for row in rows:
            sgd = row["params.opt"] == "sgd"
            tap.equal((row["params.momentum"] != "", row["params.beta"] != ""),
                      (sgd, not sgd), row)
        out, _ = home.cli("trials", "cond", "--sort", "-momentum", "--where",
                          "momentum>0", "-o", "csv")
        values = [float(row["momentum"])
                  for row in csv.DictReader(io.StringIO(out))]
        tap.equal(values, sorted(values, reverse=True))
        tap.contains(len(values), range(1, 6), out)
        out, _ = home.cli("trials", "cond")
        for line in out.splitlines()[1:]:
            tap.equal(line.split().count("-"), 1, out)
        tap.contains("beta=", home.cli("complete", "add", "cond", "")[0])


def what_was_measured_beside_the_goal_is_a_column():
    with Home() as home:
        path = home.write("beside.yaml", """
spec: 1
name: beside
goal: maximize accuracy
parameters:
  n: {type: integer, min: 1, max: 9}
algorithm: grid
trials: 9
command: [sh, -c, 'hypertune report accuracy=${n}; hypertune report zeit=7;
           hypertune report latency=$((10-${n}))']
args: none
""")
        home.cli("run", path)
        out, _ = home.cli("trials", "beside", "--sort", "latency", "--where",
                          "latency<4", "-o", "csv")
        rows = list(csv.DictReader(io.StringIO(out)))
        tap.equal([(row["ACCURACY"], row["LATENCY"], row["ZEIT"])
                   for row in rows],
                  [("9", "1", "7"), ("8", "2", "7"), ("7", "3", "7")])
        for key, best in (("best", ["9", "8"]), ("-best", ["1", "2"])):
            out, _ = home.cli("trials", "beside", "--sort", key, "--limit",
                              "2", "-o", "csv")
            tap.equal([row["ACCURACY"]
                       for row in csv.DictReader(io.StringIO(out))], best)
        tap.equal(home.cli("trials", "beside")[0].split("\n")[0].split()[:6],
                  ["ID", "STATE", "ACCURACY", "LATENCY", "ZEIT", "STEP"])
        _, err = home.cli("trials", "beside", "--where", "latenzy<4", want=2)
        tap.contains("latency", err)


def an_export_that_cannot_be_written_leaves_no_file():
    with Home() as home:
        ended(home)
        with open("/dev/full", "wb") as full:
            process = home.start("export", "quick", stdout=full)
            _, err = process.communicate(timeout=PATIENCE)
            tap.equal(process.returncode, 1, err)
        folder = os.path.join(home.folder, "folder")
        os.mkdir(folder)
        home.cli("export", "quick", "--out", folder, want=1)
        tap.equal(os.listdir(folder), [])
        tap.equal([name for name in os.listdir(home.folder)
                   if name.startswith("folder.")], [])


def an_export_goes_through_all_pages():
    with Home() as home:
        home.cli("list")
        post(home, "/studies", {"displayName": "many", "studySpec": {
            "metrics": [{"metricId": "m", "goal": "MAXIMIZE"}],
            "parameters": [{"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}]}})
        for i in range(430):
            post(home, "/studies/many/trials", {
                "parameters": [{"parameterId": "x", "value": i / 1000}],
                "finalMeasurement": {"stepCount": "1", "metrics": [
                    {"metricId": "m", "value": i}]}})
        rows = list(csv.DictReader(io.StringIO(home.cli("export", "many")[0])))
        tap.equal([int(row["id"]) for row in rows], list(range(1, 431)))
        tap.equal([float(row["metrics.m"]) for row in rows],
                  list(range(430)))
        tap.equal(len(home.cli("trials", "many", "--limit", "0", "-o",
                               "name")[0].split()), 430)
        out, _ = home.cli("trials", "many", "--where", "m>=427", "--sort",
                          "-m", "-o", "name")
        tap.equal(out, "many/430\nmany/429\nmany/428\n")


def a_limit_ends_the_questions():
    with Home() as home:
        ended(home, trials=9)
        out, err = home.cli("trials", "quick", "--limit", "2")
        tap.equal(len(out.splitlines()), 3)
        tap.contains("2 of 9 trials; use --limit 0", err)
        out, _ = home.cli("trials", "quick", "--limit", "2", "--sort", "-id",
                          "-o", "name")
        tap.equal(out, "quick/9\nquick/8\n")
        out, _ = home.cli("trials", "quick", "--limit", "1", "--where", "lr>0",
                          "--state", "succeeded", "-o", "name")
        tap.equal(out, "quick/1\n")
        for name in "b", "c":
            home.cli("submit", "spec.json", "--name", name, "--wait")
        tap.equal(home.cli("list", "--limit", "2", "-o", "name")[0], "c\nb\n")
        tap.equal(home.cli("list", "-o", "name")[0], "c\nb\nquick\n")
        tap.equal(home.cli("list", "--state", "failed", "-o", "name")[0], "")


def custom_jobs_and_studies_are_found_like_tuning_jobs():
    with Home() as home:
        ended(home, trials=1)
        pool = {"machineSpec": {"machineType": "n1-standard-4"},
                "replicaCount": "1",
                "containerSpec": {"command": ["sh", "-c", "echo hello"]}}
        post(home, "/customJobs", {"displayName": "once", "jobSpec": {
            "workerPoolSpecs": [pool]}})
        post(home, "/studies", {"displayName": "asked", "studySpec": {
            "metrics": [{"metricId": "m", "goal": "MAXIMIZE"}],
            "parameters": [{"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}]}})
        home.cli("watch", "once", "--until", "succeeded")
        out, _ = home.cli("list", "-o", "csv")
        tap.equal([(row["NAME"], row["KIND"])
                   for row in csv.DictReader(io.StringIO(out))],
                  [("asked", "study"), ("once", "custom job"),
                   ("quick", "tuning job")])
        tap.contains("custom job", home.cli("describe", "once")[0])
        tap.equal(home.cli("logs", "once")[0], "hello\n")
        _, err = home.cli("trials", "once", want=3)
        tap.contains("hypertune logs once", err)
        tap.contains("DOUBLE", home.cli("describe", "asked")[0])
        tap.equal(home.cli("add", "asked", "x=0.5")[0], "asked/1\n")
        home.cli("delete", "once", "--yes")
        home.cli("stop", "asked", "--yes")
        home.cli("delete", "asked", "--yes")
        tap.equal(home.cli("list", "-o", "name")[0], "quick\n")


if __name__ == "__main__":
    tap.run([a_point_is_added_in_every_spelling,
             wrong_points_are_refused_before_anything_is_added,
             points_come_from_csv_and_json_lines,
             what_a_point_lacks_is_chosen_by_the_search,
        adding_to_an_ended_study_says_how_to_reopen_it,
             one_trial_is_stopped_and_the_others_continue,
             failed_trials_run_again,
             curves_have_every_measurement,
             an_export_has_a_row_for_every_trial,
             a_page_to_send_has_all_but_secrets,
             parameters_under_conditions_have_columns,
             what_was_measured_beside_the_goal_is_a_column,
             an_export_that_cannot_be_written_leaves_no_file,
             an_export_goes_through_all_pages,
             a_limit_ends_the_questions,
             what_was_given_is_shown,
             custom_jobs_and_studies_are_found_like_tuning_jobs])
