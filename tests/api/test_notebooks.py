"""Bodies as the SDK makes them of what public notebooks do, of all resources.

tests/google/notebooks/*.json: the path, the body, and which members are
`refused` where there is no such thing here."""

import glob
import json
import os

import api
import harness
import tap
import tree

BODIES = tree.path("tests/google/notebooks/*.json")
# Members that may be a protobuf number and come back as a name.
ENUMS = ("goal", "scaleType", "algorithm", "acceleratorType", "strategy",
         "measurementSelectionType", "observationNoise",
         "reservationAffinityType")

server = None


def is_nothing(value):
    """Protobuf's default, which need not come back."""
    return value in (0, False, "", [], {}, None)


def same(got, want):
    if isinstance(want, bool) or isinstance(got, bool):
        return got == want
    if isinstance(want, (int, float)) or isinstance(got, (int, float)):
        return float(got) == float(want)
    return got == want


def lacks(got, want, path=""):
    """Paths of what was sent and did not come back."""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return [path]
        return [one for key, value in want.items()
                for one in lack_of_member(got, key, value, path)]
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return [path]
        return [one for n, value in enumerate(want)
                for one in lacks(got[n], value, "%s[%d]" % (path, n))]
    return [] if same(got, want) else [path]


def lack_of_member(got, key, value, path):
    path = (path + "." if path else "") + key
    if key not in got:
        # An older rule comes back as the newer one; the rest is compared.
        return [] if is_nothing(value) or key == "convexStopConfig" else [path]
    if key in ENUMS and isinstance(value, int):
        return [] if isinstance(got[key], str) and got[key] else [path]
    return lacks(got[key], value, path)


def refused_fields(answer):
    return sorted({item["field"] for detail in
                   answer["error"].get("details", [])
                   for item in detail["fieldViolations"]})


def case_of(path):
    with open(path, encoding="utf-8") as file:
        sample = json.load(file)

    def run():
        answer = api.send(server, "POST", sample["path"] + "?%24alt="
                          "json%3Benum-encoding%3Dint", sample["body"])
        if "refused" in sample:
            tap.equal((answer.status, refused_fields(answer.json())),
                      (400, sample["refused"]))
            return
        made = answer.json()
        tap.equal(answer.status, 200, made)
        tap.equal(lacks(made, sample["body"]), [], made)
        if "name" in made:
            version = sample["path"].split("/")[1]
            shown = server.get("/%s/%s" % (version, made["name"]))
        else:
            shown = server.get("%s/%s" % (sample["path"], made["jobId"]))
        tap.equal(lacks(shown, sample["body"]), [], shown)
    run.__name__ = os.path.basename(path)[:-len(".json")].replace("-", " ")
    return run


with harness.Server("--runner", "none") as server:
    tap.run([case_of(path) for path in sorted(glob.glob(BODIES))])
