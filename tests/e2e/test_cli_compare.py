"""`hypertune compare` of studies; that of trials is in test_provenance."""

import csv
import io
import json

import tap
from cli_home import Home

SPEC = {"spec": 1, "name": "one", "goal": "maximize accuracy",
        "parameters": {"lr": [0.1, 0.2, 0.3, 0.4]}, "algorithm": "grid",
        "trials": 4, "parallel": 1,
        "command": ["sh", "-c", "echo accuracy=${1#--lr=}", "x"],
        "metrics": {"stdout": "accuracy={accuracy}"}}


def studies_are_compared():
    out, _ = shared.cli("compare", "one", "two", "-o", "json")
    answer = json.loads(out)
    tap.equal(answer["studies"], ["one", "two"])
    found = {(row["what"], row["name"]): row["values"]
             for row in answer["rows"]}
    tap.equal(found["metric", "accuracy"], ["0.4", "0.2"])
    tap.equal(found["trials", "ended"], ["4", "2"])
    tap.equal(found["result", "results to reach 0.4"], ["4", None])
    tap.lacks("results to reach 0.2", str(found))  # the second of both
    tap.equal(found["spec", "trials"], ["4", "2"])
    tap.true(all(float(took) < 600 for took in found["study", "took"]))
    out, _ = shared.cli("compare", "one", "two", "--all", "-o", "csv")
    rows = {row["NAME"]: row for row in csv.DictReader(io.StringIO(out))}
    tap.equal((rows["results to reach 0.2"]["one"],
               rows["results to reach 0.2"]["two"]), ("2", "2"))
    tap.equal((rows["results to reach 0.4"]["two"], rows["state"]["one"]),
              ("", "SUCCEEDED"))


def what_is_no_study_is_refused():
    shared.cli("compare", "one", "three", want=3)
    shared.cli("compare", "one", want=2)
    shared.cli("compare", "one", "two/1", want=2)


with Home() as shared:
    shared.cli("submit", shared.write("one.json", SPEC), "--wait")
    shared.cli("submit", shared.write("two.json", {
        **SPEC, "name": "two", "trials": 2}), "--wait")
    tap.run([studies_are_compared, what_is_no_study_is_refused])
