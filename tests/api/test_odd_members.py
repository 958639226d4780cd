"""Whatever is in place of any member of a body, the answer is the resource
or Google's form of an error, and never the server's own fault."""

import copy
import glob
import http.client
import json
import os

import api
import harness
import tap
import tree

SAMPLES = tree.path("tests/google")
TUNING = "/v1/projects/p/locations/here/hyperparameterTuningJobs"
ODD = (None, {"a": None}, [None], "")
OURS = {
    "parameters": {"lr": {"step": 0.1, "when": [
        {"parent": "lr", "values": [1]}]}},
    "parameterOrder": ["lr"], "constraints": ["lr < 1"], "warmStart": ["x"],
    "earlyStopping": {"rule": "asha", "minSteps": 3},
    "cancelAfter": {"running": "60s", "waiting": "60s"},
    "passEnv": ["HOME"], "capturedEnv": [{"name": "A", "value": "b"}],
    "replicas": {"worker": {"cpus": 1, "memoryBytes": "1000000000"}},
    "volumes": ["/a:/b"], "container": {"network": "host"},
    "secrets": {"KEY": {"file": "key"}}, "keep": {"best": 2},
    "stdoutPatterns": ["a=(.*)"], "notify": {"desk": "all"},
    "kept": {"trainingInput.network": "n"}, "seed": "3", "target": 1}

server = None


def places(value, path=()):
    """The path of each value in a body, its own among them."""
    yield path
    inner = (value.items() if isinstance(value, dict) else
             enumerate(value) if isinstance(value, list) else ())
    for key, member in inner:
        yield from places(member, path + (key,))


def changed(body, path, odd):
    if not path:
        return odd
    made = copy.deepcopy(body)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = odd
    return made


def answer_to(connection, path, body, token):
    connection.request("POST", path, json.dumps(body), {
        "Authorization": "Bearer " + token,
        "Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def try_all(path, body):
    host, port = api.address(server)
    connection = http.client.HTTPConnection(host, port,
                                            timeout=harness.PATIENCE)
    token = api.token(server)
    for place in places(body):
        for odd in ODD:
            try:
                status, answer = answer_to(
                    connection, path, changed(body, place, odd), token)
            except (OSError, http.client.HTTPException) as error:
                raise AssertionError("%r at %r: %s" % (odd, place,
                                                       error)) from error
            error = answer.get("error", {})
            tap.equal(status if status in (200, 400, 404, 409) else 0,
                      error.get("code", 200) if error.get("message", "ok")
                      else "no message", (place, odd, answer))
    connection.close()


def samples(pattern):
    for path in sorted(glob.glob(os.path.join(SAMPLES, pattern))):
        with open(path, encoding="utf-8") as file:
            yield json.load(file)


def of_notebooks():
    for sample in samples("notebooks/*.json"):
        try_all(sample["path"], sample["body"])


def of_jobs_that_gcloud_submits():
    for sample in samples("aip-bodies/*.json"):
        try_all(sample["path"], sample["request"])


def of_our_own_in_vertex():
    try_all(TUNING, api.job("ours", labels={"team": "red"}, hypertune=OURS))


with harness.Server("--runner", "none") as server:
    tap.run([of_notebooks, of_jobs_that_gcloud_submits, of_our_own_in_vertex])
