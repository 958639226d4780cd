"""replay - answers compared by what does not differ from run to run."""

import re

MOMENT = re.compile(r"\w*[tT]ime$")
OURS = ("hypertune", "hypertuneStatus")  # other tests compare them
TEXTS = ("message", "description")       # for people
UNFINISHED = ("JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_CANCELLING")
NAME = re.compile(r"projects/[^{}]*")
THERE = "*"


def is_point(value):
    """Whether these are the parameters of a trial, which the search chose."""
    return isinstance(value, list) and any("value" in item for item in value)


def shape_member(key, value):
    if key in OURS or key in TEXTS or key == "elapsedDuration":
        return THERE
    if key == "parameters" and is_point(value):
        return THERE
    if MOMENT.match(key) and isinstance(value, str):
        return THERE
    if value in UNFINISHED:
        return THERE
    return shape(value)


def shape(value):
    """An answer whose varying parts are replaced by THERE. How far a job came
    before it was looked at or cancelled is chance, so that is left out."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, str) and NAME.search(value):
        return NAME.sub(THERE, value)
    if not isinstance(value, dict):
        return value
    cut = value.get("state") in UNFINISHED + ("JOB_STATE_CANCELLED",)
    return {key: shape_member(key, item) for key, item in value.items()
            if not (cut and key in ("startTime", "trials"))}
