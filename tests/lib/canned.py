"""canned - a study and trials as a server answers them, without a server."""

HOSTILE = "<script>alert(\"1\")</script>&'\x1b[2J\u202e"


def resource(name="digits", metric="accuracy", best=None, **counts):
    status = {"name": name, "state": "RUNNING", "reason": "",
              "counts": {"requested": 0, "active": 0, "stopping": 0,
                         "succeeded": 0, "stopped": 0, "failed": 0,
                         "infeasible": 0, "cancelled": 0, **counts}}
    if best is not None:
        status["best"] = best
    return {"name": "projects/p/locations/l/hyperparameterTuningJobs/7",
            "maxTrialCount": 160, "hypertuneStatus": status,
            "studySpec": {"metrics": [{"metricId": metric,
                                       "goal": "MAXIMIZE"}],
                          "parameters": [
                              {"parameterId": "lr", "scaleType":
                               "UNIT_LOG_SCALE", "doubleValueSpec":
                               {"minValue": 1e-5, "maxValue": 1}},
                              {"parameterId": "opt", "categoricalValueSpec":
                               {"values": ["adam", "sgd", HOSTILE]}}]}}


def trial(number, value, state="SUCCEEDED", **params):
    return {"id": str(number), "hypertune": {
        "state": state, "reason": HOSTILE if value is None else "",
        "objective": value, "step": "20",
        "params": {"lr": 0.00079123, "opt": "adam", **params}}}


class Canned:
    """A transport that has one answer."""

    def __init__(self, answer):
        self.answer = answer

    def call(self, *_, **__):
        return self.answer
