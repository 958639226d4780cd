"""`hypertune export -o dir`, and `hypertune import` of its folders."""

import csv
import io
import json
import os
import signal

import harness
import hypertune
import tap
from cli_home import Home

SPEC = {"spec": 1, "name": "quick", "goal": "maximize accuracy",
        "parameters": {"lr": {"type": "double", "min": 0.001, "max": 1,
                              "scale": "log"},
                       "layers": {"type": "integer", "min": 1, "max": 9,
                                  "step": 2},
                       "opt": ["adam", "-O2"]},
        "algorithm": "random", "seed": 7, "trials": 4, "parallel": 2,
        "retries": 0, "until": {"target": 5},
        "metrics": {"stdout": "step {step} accuracy={accuracy} loss={loss}"},
        "command": ["sh", "train.sh"]}
TRAIN = """
for step in 1 2 3; do echo "step $step accuracy=0.$step loss=$step.5"; done
[ "$CLOUD_ML_TRIAL_ID" != 3 ] || exit 3
"""

def every_format(home, name):
    return {form: home.cli("export", name, "-o", form)[0]
            for form in ("csv", "json", "jsonl")}


def export_quick(home):
    """Runs the study SPEC; returns the folder that it is exported to."""
    home.write("train.sh", TRAIN)
    home.cli("submit", home.write("spec.json", SPEC), "--wait")
    folder = os.path.join(home.folder, "out")
    home.cli("export", "quick", "-o", "dir", "--out", folder)
    return folder


def a_study_is_the_same_after_export_and_import():
    with Home() as home:
        folder = export_quick(home)
        tap.equal(sorted(os.listdir(folder)),
                  ["events.jsonl", "spec.yaml", "study.json", "trials.jsonl"])
        home.cli("export", "quick", "-o", "dir", "--out", folder, want=5)
        events = [json.loads(line) for line
                  in open(os.path.join(folder, "events.jsonl"),
                          encoding="utf-8")]
        tap.equal([one["revision"] for one in events],
                  list(range(1, len(events) + 1)))
        out, err = home.cli("import", folder, want=5)
        tap.equal(("quick" in err, out), (True, ""))
        out, err = home.cli("import", folder, "--name", "again")
        tap.equal((out, "left out" in err), ("again\n", False), err)
        tap.contains("4 trials, 1 without a result", err)
        old, new = every_format(home, "quick"), every_format(home, "again")
        tap.equal(new, old)
        rows = [json.loads(line) for line in old["jsonl"].splitlines()]
        tap.equal([(one["state"], sorted(one["metrics"])) for one in rows],
                  [(state, ["accuracy", "loss"] if state == "SUCCEEDED"
                    else []) for state in ("SUCCEEDED", "SUCCEEDED",
                                           "FAILED", "SUCCEEDED")])
        tap.equal([one["step"] for one in rows[0]["measurements"]], [1, 2, 3])
        first, second = home.describe("quick"), home.describe("again")
        tap.equal(second["studySpec"]["parameters"],
                  first["studySpec"]["parameters"])
        tap.contains(second["hypertuneStatus"]["state"],
                     ("STOPPED", "SUCCEEDED"))
        # The spec can be run again, and learns from what was imported.
        out, _ = home.cli("check", os.path.join(folder, "spec.yaml"),
                          "--warm-start", "again")
        tap.contains("quick", out)


def a_long_curve_comes_in_parts():
    with Home() as home:
        folder = export_quick(home)
        path = os.path.join(folder, "trials.jsonl")
        with open(path, encoding="utf-8") as file:
            first = json.loads(file.readline())
        one = first["measurements"][0]
        first["measurements"] = [
            dict(one, step=step, timeMs=one["timeMs"] + step, metrics={"accuracy": step / 1000})
            for step in range(1, 5001)]
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(first) + "\n")
        home.cli("import", folder, "--name", "long")
        new, = home.trials("long")
        tap.equal(new["measurements"], first["measurements"])


RICH = {
    "displayName": "rich Ünicode ☃",
    "studySpec": {
        "metrics": [{"metricId": "acc", "goal": "MAXIMIZE"},
                    {"metricId": "Größe in MB", "goal": "MINIMIZE"}],
        "algorithm": "RANDOM_SEARCH",
        "parameters": [
            {"parameterId": "opt", "categoricalValueSpec": {
                "values": ["adam", "-O2, \"x\"", "日本\n語"]},
             "conditionalParameterSpecs": [
                 {"parentCategoricalValues": {"values": ["adam"]},
                  "parameterSpec": {
                      "parameterId": "beta", "doubleValueSpec": {
                          "minValue": 0, "maxValue": 1}}}]},
            {"parameterId": "lr", "scaleType": "UNIT_LOG_SCALE",
             "doubleValueSpec": {"minValue": 1e-300, "maxValue": 1e300}},
            {"parameterId": "big", "integerValueSpec": {
                "minValue": "-9007199254740995",
                "maxValue": "9223372036854775807"}},
            {"parameterId": "signed", "doubleValueSpec": {
                "minValue": -1, "maxValue": 1}}]},
    "hypertune": {"name": "rich", "labels": {"team": "ünï", "x": "1"},
                  "constraints": ["signed <= 0.5"],
                  "parameterOrder": ["lr", "beta", "opt", "big", "signed"]}}
KEPT = [{"trial": trial, "ns": ns, "key": key, "value": value}
        for trial, ns, key, value in (
            (0, "", "note", "a study ✓\n"), (2, "mine", "host", "büro"),
            (2, "", "empty", ""))]


def rich_line(number, state, params, metrics=None, **more):
    """As export writes it; each trial has its own hour."""
    hour = "2025-02-%02dT" % number
    line = {"id": number, "state": state, "params": params}
    if metrics:
        line["metrics"] = metrics
    line.update({"created": hour + "00:00:00.001Z",
                 "started": hour + "00:01:00.250Z",
                 "ended": hour + "01:02:03.999Z"}, **more)
    return line


def rich_trials():
    point = {"lr": 1e-300, "opt": "日本\n語", "big": 9007199254740993,
             "signed": -0.5}
    other = {"lr": 0.1 + 0.2, "beta": 5e-324, "opt": "adam",
             "big": 9223372036854775807, "signed": 0.1}
    both = {"acc": 0.1 + 0.2, "Größe in MB": 1e-300}
    curve = [{"step": step, "timeMs": 1740787200000 + 100 * step,
              "attempt": 3, "replica": replica,
              "metrics": {"acc": step / 7, "note": value}}
             for step, replica, value in (
                 (1, "master-0", 1.5), (1, "worker-0", "NaN"),
                 (2, "master-0", "-Infinity"))]
    return [
        rich_line(2, "SUCCEEDED", point, dict(both, latency=-0.0, odd="NaN"),
                  step=9007199254740993, elapsed="61.500s", client="ich"),
        rich_line(3, "SUCCEEDED", point, both, replicate=1, confirms=2),
        rich_line(5, "STOPPED", other, dict(both, latency=3), attempt=3,
                  runner="gpu-ü", reason="hopeless, \"really\"",
                  measurements=curve),
        rich_line(6, "FAILED", dict(other, beta=1), attempt=1, runner="r",
                  reason="exit 1: =cmd()"),
        rich_line(7, "INFEASIBLE", dict(other, beta=0.5),
                  reason="acc was NaN at step 3"),
        rich_line(9, "CANCELLED", dict(other, beta=0.25), reason="")]


def numbers(file):
    """Rows of CSV, what are numbers as such: they may be written in several
    ways."""
    def cell(text):
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return text if text == "NaN" else float(text)
        except ValueError:
            return text
    return [[cell(text) for text in row] for row in csv.reader(file)]


def without_own(describing):
    """What differs between a study and its copy: name, ids, moments."""
    return describing["studySpec"], describing["hypertune"]


def a_rich_study_comes_back_byte_for_byte():
    with harness.Server("--runner", "none") as server:
        def export(name, form):
            return server.cli("export", name, "-o", form).stdout

        def ok(method, path, body):
            status, answer = server.call(method, path, body)
            tap.equal(status, 200, answer)
            return answer
        ok("POST", harness.STUDIES.rstrip("/"), RICH)
        ours = "/hypertune/v1/studies/rich"
        measurements = []
        for line in rich_trials():
            measurements += [dict(one, trial=line["id"])
                             for one in line.pop("measurements", [])]
            ok("POST", ours + "/trials:restore", {"trials": [line]})
        ok("POST", ours + "/trials:restore", {"measurements": measurements})
        ok("PATCH", ours + "/metadata", {"metadata": KEPT})
        ok("POST", ours + ":stop", {})
        read = [json.loads(line, parse_int=lambda text:
                           -0.0 if text == "-0" else int(text))
                for line in export("rich", "jsonl").splitlines()]
        for want, got in zip(rich_trials(), read):
            for key, value in want.items():
                tap.equal(repr(got.get(key)), repr(value), key)
            tap.equal(list(got["params"]), list(want["params"]))
        folder = os.path.join(server.folder, "rich")
        server.cli("export", "rich", "-o", "dir", "--out", folder)
        done = server.cli("import", folder, "--name", "copy")
        tap.equal(done.stdout, "copy\n", done.stderr)
        tap.lacks("left out", done.stderr)
        for form in ("csv", "json", "jsonl"):
            tap.equal(export("copy", form), export("rich", form), form)
        second = os.path.join(server.folder, "second")
        server.cli("export", "copy", "-o", "dir", "--out", second)
        tap.equal(sorted(os.listdir(second)), sorted(os.listdir(folder)))
        for name in ("trials.jsonl", "metadata.json"):
            with open(os.path.join(folder, name), "rb") as was, \
                    open(os.path.join(second, name), "rb") as now:
                tap.equal(now.read(), was.read(), name)
        was, now = [json.load(open(os.path.join(one, "study.json"),
                                   encoding="utf-8"))
                    for one in (folder, second)]
        tap.equal(without_own(now), without_own(was))
        tap.equal(now["hypertune"]["labels"], {"team": "ünï", "x": "1"})
        # Python's export writes the same.
        study = hypertune.Client(server.http, server.token_file).study("rich")
        path = os.path.join(server.folder, "all")
        study.export(path + ".csv")
        with open(path + ".csv", encoding="utf-8", newline="") as file:
            tap.equal(numbers(file), numbers(
                io.StringIO(export("rich", "csv"), newline="")))
        study.export(path + ".jsonl")
        with open(path + ".jsonl", encoding="utf-8") as file:
            mine = [json.loads(line) for line in file]
        for one in read:
            one.pop("elapsed", None)
        tap.equal(mine, read)
        # The search and the page see the same results.
        for what in ("/table", "/best"):
            one, two = [server.call("GET", "/hypertune/v1/studies/" + name +
                                    what)[1] for name in ("rich", "copy")]
            for same in ("rows", "hypertune"):
                tap.equal(two.get(same), one.get(same), what)


def what_cannot_be_restored_is_said_and_changes_nothing():
    with harness.Server("--runner", "none") as server:
        server.call("POST", harness.STUDIES.rstrip("/"), RICH)
        ours = "/hypertune/v1/studies/rich"
        good = rich_trials()[0]
        for change, words in (
                ({"id": 0}, "trials[1].id"), ({"state": "ACTIVE"}, "state"),
                ({"params": {"lr": 2}}, "trials[1].params"),
                ({"metrics": {"acc": 1}}, "Größe in MB"),
                ({"metrics": {"acc": "much"}}, "trials[1].metrics.acc"),
                ({"ended": "soon"}, "trials[1].ended"),
                ({"id": 1}, "trial 1 is not after trial 2"),
                ({"id": 3, "replicate": 0}, "is there already"),
                ({"odd": 1}, "odd")):
            status, answer = server.call(
                "POST", ours + "/trials:restore",
                {"trials": [dict(good, replicate=0),
                            dict(good, id=4, **change)
                            if "id" not in change else dict(good, **change)]})
            tap.equal((status in (400, 409), words in json.dumps(
                answer, ensure_ascii=False)), (True, True), (change, answer))
            tap.equal(server.cli("export", "rich", "-o", "jsonl").stdout, "")
        status, answer = server.call(
            "POST", ours + "/trials:restore",
            {"measurements": [{"trial": 2, "metrics": {"acc": 1}}]})
        tap.equal(status, 404, answer)


def an_import_that_breaks_off_leaves_nothing():
    with Home() as home:
        folder = export_quick(home)
        path = os.path.join(folder, "trials.jsonl")
        with open(path, encoding="utf-8") as file:
            first = file.readline()
        trial = json.loads(first)

        def refused(line, place, words):
            with open(path, "w", encoding="utf-8") as file:
                file.write(first + "\n" + line + "\n")
            out, err = home.cli("import", folder, "--name", "part", want=2)
            tap.equal((out, "%s:3:%s: " % (path, place) in err, words in err),
                      ("", True, True), err)
            tap.equal(home.cli("list", "-o", "name")[0], "quick\n")

        def changed(**more):
            return json.dumps(dict(trial, id=2, **more))
        refused("{", 2, "")
        refused(json.dumps(trial), len('{"id": ') + 1, "id must be")
        state = len('{"id": 2, "state": ') + 1
        refused(changed(state="DONE"), state, "state")
        lacking = changed(params={"lr": 0.5, "layers": 3})
        refused(lacking, lacking.index('{"lr"') + 1, "parameter opt is missing")
        refused(changed(metrics={}), state, "no number for the metric accuracy")
        wrong = changed(metrics={"accuracy": 1, "loss": "low"})
        refused(wrong, wrong.index('"low"') + 1, "numbers")
        soon = changed(ended="soon")
        refused(soon, soon.index('"soon"') + 1, "ended must be a moment")
        bad = changed(measurements=[{"step": 1}])
        refused(bad, bad.index('{"step": 1}') + 1, "must have metrics")
        with open(path, "w", encoding="utf-8") as file:
            for number in range(1, 40001):
                trial["id"], trial["replicate"] = number, number
                file.write(json.dumps(trial) + "\n")
        process = home.start("import", folder, "--name", "part")
        harness.wait_until(
            lambda: "part" in home.cli("list", "-o", "name")[0],
            "the study that is made")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=harness.PATIENCE)
        tap.equal((process.returncode, out), (130, ""), err)
        tap.true(err.endswith("nothing was imported\n"), err)
        tap.equal(home.cli("list", "-o", "name")[0], "quick\n")


def a_table_alone_is_no_study():
    with Home() as home:
        for name in ("trials.csv", "trials.jsonl", "trials.json"):
            _, err = home.cli("import", home.write(name, "id,state\n"), want=2)
            tap.contains("export STUDY -o dir", err)


tap.run([
    a_study_is_the_same_after_export_and_import,
    a_rich_study_comes_back_byte_for_byte,
    what_cannot_be_restored_is_said_and_changes_nothing,
    a_table_alone_is_no_study,
    a_long_curve_comes_in_parts,
    an_import_that_breaks_off_leaves_nothing,
])
