"""aip - a server with AI Platform's jobs, for the tests of its API.

A fake runner takes images, so that trials do what a case needs."""

import copy
import os
import urllib.parse

import harness
import pages
import tap
from fake_runner import Runner

JOBS = "/v1/projects/p/jobs"
IMAGE = {"imageUri": "gcr.io/demo/trainer:latest"}
PLAIN = {"masterConfig": IMAGE, "region": "us-central1"}
SEARCH = {
    "goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy",
    "algorithm": "RANDOM_SEARCH", "maxTrials": 3, "maxParallelTrials": 1,
    "params": [{"parameterName": "lr", "type": "DOUBLE", "minValue": 0.0001,
                "maxValue": 0.1, "scaleType": "UNIT_LOG_SCALE"}]}
# With machines of every kind and a parameter of every type.
INPUT = {
    "scaleTier": "CUSTOM", "masterType": "n1-standard-4",
    "masterConfig": IMAGE, "workerCount": "2", "workerType": "standard",
    "region": "us-central1", "args": ["--epochs=10"],
    "hyperparameters": {
        "goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy",
        "algorithm": "RANDOM_SEARCH", "maxTrials": 3, "maxParallelTrials": 2,
        "params": [
            {"parameterName": "lr", "type": "DOUBLE", "minValue": 0.0001,
             "maxValue": 0.1, "scaleType": "UNIT_LOG_SCALE"},
            {"parameterName": "units", "type": "INTEGER", "minValue": 8.0,
             "maxValue": 64.0},
            {"parameterName": "batch", "type": "DISCRETE",
             "discreteValues": [16, 32.5]},
            {"parameterName": "opt", "type": "CATEGORICAL",
             "categoricalValues": ["adam", "0.10"]}]}}


class Server(harness.Server):
    """Without its own runner; its jobs are those of project p."""

    def __init__(self):
        super().__init__("--runner", "none")

    def good(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        tap.equal(status, 200, "%s %s: %s" % (method, path, answer))
        return answer

    def refused(self, method, path, body, status, word):
        """Returns the message."""
        got, answer = self.call(method, path, body)
        tap.equal((got, answer["error"]["status"]), (status, word), answer)
        return answer["error"]["message"]

    def create(self, name, given, labels=None):
        """Submits a training input; returns the job as it is answered."""
        body = {"jobId": name, "trainingInput": given}
        if labels is not None:
            body["labels"] = labels
        return self.good("POST", JOBS, body)

    def plain(self, name, labels=None, **changes):
        """A job without a search."""
        return self.create(name, dict(PLAIN, **changes), labels)

    def tune(self, name, labels=None, **search):
        """INPUT, its search changed."""
        given = copy.deepcopy(INPUT)
        given["hyperparameters"].update(search)
        return self.create(name, given, labels)

    def job(self, name):
        return self.get(JOBS + "/" + name)

    def wait_job(self, name, state):
        harness.wait_until(lambda: self.job(name)["state"] == state,
                           "%s of %s" % (state, name))
        return self.job(name)

    def cancel(self, *names):
        for name in names:
            tap.equal(self.good("POST", "%s/%s:cancel" % (JOBS, name)), {})

    def runner(self, name="fake"):
        return Runner(self, images=True, name=name)

    def listed(self, query=""):
        page = self.get(JOBS + "?" + query)
        return [shown["jobId"] for shown in page.get("jobs", [])]

    def matching(self, text):
        """The names of all jobs that a filter lets through."""
        return sorted(self.listed("pageSize=100&filter=" +
                                  urllib.parse.quote(text)))

    def change(self, *statements):
        """What cannot be had by asking: changes the file of the server, which
        is down meanwhile."""
        self.stop()
        with pages.changing(os.path.join(self.data, "hypertune.db")) as db:
            for sql, values in statements:
                db.execute(sql, values)
        self.start()
