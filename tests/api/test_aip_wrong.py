"""Wrong requests of AI Platform's API: each wrong field is named by its path.

tests/google/wrong/aip-NAME.json has a body and the fields that must be named;
it is posted as a job, unless it says another method and path."""

import json
import os

import harness
import tap
import tree

JOBS = "/v1/projects/p/jobs"
FOLDER = tree.path("tests/google/wrong")
KNOWN = {"jobId": "known", "labels": {"kept": "yes"}, "trainingInput": {
    "region": "us-central1", "masterConfig": {"imageUri": "gcr.io/demo/t"}}}

server = None


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return json.load(file)


def named_fields(error):
    """Of google.rpc.BadRequest, which must be there once and explain each
    of its fields."""
    kinds = [detail["@type"] for detail in error["details"]]
    tap.equal(kinds, ["type.googleapis.com/google.rpc.BadRequest"])
    violations = error["details"][0]["fieldViolations"]
    tap.true(all(said["description"] for said in violations))
    return sorted(said["field"] for said in violations)


def refuse(name):
    wrong = read(name)
    status, answer = server.call(wrong.get("method", "POST"),
                                 JOBS + wrong.get("path", ""),
                                 wrong["request"])
    tap.equal((status, answer.get("error", {}).get("status")),
              (400, "INVALID_ARGUMENT"), answer)
    tap.equal(named_fields(answer["error"]), sorted(wrong["fields"]))


def case_of(name):
    def case():
        refuse(name)
    case.__name__ = name[len("aip-"):-len(".json")].replace("-", "_")
    return case


def nothing_has_been_created_or_changed():
    jobs = server.get(JOBS)["jobs"]
    tap.equal([job["jobId"] for job in jobs], ["known"])
    tap.equal((jobs[0]["labels"], jobs[0]["state"]),
              (KNOWN["labels"], "QUEUED"))


def main():
    global server
    names = sorted(name for name in os.listdir(FOLDER)
                   if name.startswith("aip-"))
    tap.true(len(names) >= 40, names)
    with harness.Server("--runner", "none") as server:
        tap.equal(server.call("POST", JOBS, KNOWN)[0], 200)
        tap.run([case_of(name) for name in names] +
                [nothing_has_been_created_or_changed])


main()
