"""vizier - a study that the test evaluates itself, as Google's clients do."""

import itertools

PARENT = "/v1/projects/lab/locations/here"
STUDIES = PARENT + "/studies"
TYPE = "type.googleapis.com/google.cloud.aiplatform.v1."

X = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
LAYERS = {"parameterId": "layers",
          "integerValueSpec": {"minValue": "1", "maxValue": "4"}}
BATCH = {"parameterId": "batch", "discreteValueSpec": {"values": [16, 32.5]}}
OPT = {"parameterId": "opt", "categoricalValueSpec": {"values": ["a", "b"]}}
# Of "opt", with a child of "a" and another of "b" that have one name.
BRANCHES = {"parameterId": "opt",
            "categoricalValueSpec": {"values": ["a", "b", "c"]},
            "conditionalParameterSpecs": [
                {"parentCategoricalValues": {"values": ["a", "c"]},
                 "parameterSpec": {
                     "parameterId": "momentum",
                     "doubleValueSpec": {"minValue": 0, "maxValue": 1}}},
                {"parentCategoricalValues": {"values": ["a"]},
                 "parameterSpec": {
                     "parameterId": "rate",
                     "doubleValueSpec": {"minValue": 0, "maxValue": 1}}},
                {"parentCategoricalValues": {"values": ["b"]},
                 "parameterSpec": {
                     "parameterId": "rate",
                     "doubleValueSpec": {"minValue": 0, "maxValue": 9}}}]}
METRIC = {"metricId": "loss", "goal": "MINIMIZE"}

numbers = itertools.count(1)


def values(parameters):
    return {item["parameterId"]: item["value"] for item in parameters}


def parameters(**point):
    return [{"parameterId": key, "value": value}
            for key, value in point.items()]


def measured(value, step=None, **more):
    made = {"metrics": [{"metricId": "loss", "value": value}], **more}
    if step is not None:
        made["stepCount"] = str(step)
    return made


class Study:
    """Made anew; its calls give (HTTP status, JSON). Its search draws the same
    in every run."""

    def __init__(self, server, *space, hypertune=None, **spec):
        self.server = server
        self.display = "study %d" % next(numbers)
        self.body = {"displayName": self.display,
                     "studySpec": dict({"metrics": [METRIC],
                                        "parameters": list(space) or [X],
                                        "algorithm": "RANDOM_SEARCH"},
                                       **spec)}
        self.body["hypertune"] = dict({"seed": "1"}, **(hypertune or {}))
        made = self.good("POST", STUDIES, self.body)
        self.name = made["name"]
        self.path = "/v1/" + self.name
        self.made = made

    def good(self, method, path, body=None):
        status, answer = self.server.call(method, path, body)
        if status != 200:
            raise AssertionError("%s %s: %d %s" % (method, path, status,
                                                   answer))
        return answer

    def refused(self, method, path, body=None):
        """(HTTP status, name of the error, violated fields)"""
        status, answer = self.server.call(method, path, body)
        if status == 200:
            raise AssertionError("%s %s went well" % (method, path))
        fields = [item["field"] for detail in answer["error"].get("details", [])
                  for item in detail["fieldViolations"]]
        return status, answer["error"]["status"], sorted(fields)

    def state(self):
        return self.good("GET", self.path)["state"]

    def add(self, point, **more):
        return self.good("POST", self.path + "/trials",
                         dict({"parameters": parameters(**point)}, **more))

    def suggest(self, count=1, client="me", **more):
        """The response of the operation."""
        return self.good("POST", self.path + "/trials:suggest",
                         dict({"suggestionCount": count,
                               "clientId": client}, **more))["response"]

    def suggest_with(self, *points, client="me"):
        """The points of trials asked for with these values, one for each."""
        answer = self.suggest(len(points), client, contexts=[
            {"parameters": parameters(**point)} for point in points])
        return [values(trial["parameters"]) for trial in answer["trials"]]

    def one(self, client="me"):
        """Path of a trial that the client is given."""
        trial, = self.suggest(1, client)["trials"]
        return "/v1/" + trial["name"]

    def complete(self, trial, value):
        return self.good("POST", trial + ":complete",
                         {"finalMeasurement": measured(value)})

    def trials(self):
        return self.server.pages(self.path + "/trials?pageSize=1000", "trials")
