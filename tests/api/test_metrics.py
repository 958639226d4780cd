"""GET /metrics: what Prometheus reads, by a strict reader of its format."""

import re

import api
import harness
import tap

server = None

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|\Z)')
VALUE = re.compile(r"(?:[+-]?Inf|NaN|-?[0-9.]+(?:e[+-]?[0-9]+)?)\Z")
SUFFIXES = ("_bucket", "_sum", "_count")
ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


class Family:
    def __init__(self, name, kind):
        self.name = name
        self.kind = kind
        self.samples = {}


def read_labels(text):
    labels, at = [], 0
    while at < len(text):
        found = LABEL.match(text, at)
        assert found, text
        value = re.sub(r'\\["\\n]', lambda one: ESCAPES[one.group()],
                       found.group(2))
        labels.append((found.group(1), value))
        at = found.end()
    assert len(set(name for name, _ in labels)) == len(labels), text
    return tuple(labels)


def read_sample(line, family):
    head, _, value = line.rpartition(" ")
    assert VALUE.match(value), line
    name, _, labels = head.partition("{")
    assert NAME.match(name), line
    assert labels == "" or labels.endswith("}"), line
    assert name == family.name or (
        family.kind == "histogram" and
        name in [family.name + suffix for suffix in SUFFIXES]), line
    key = (name, read_labels(labels[:-1]))
    assert key not in family.samples, line
    family.samples[key] = float(value)


def parse(text):
    """Families by name; a line that promtool would refuse is an error."""
    families, family, helped = {}, None, None
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        words = line.split(" ", 3)
        if words[:2] == ["#", "HELP"]:
            assert len(words) == 4 and words[2] not in families, line
            helped = words[2]
        elif words[:2] == ["#", "TYPE"]:
            assert words[2] == helped, line
            assert words[3] in ("counter", "gauge", "histogram"), line
            assert NAME.match(helped), line
            assert (words[3] == "counter") == helped.endswith("_total"), line
            family = families[helped] = Family(helped, words[3])
        else:
            read_sample(line, family)
    return families


def scrape():
    answer = api.ask(server, "GET", "/metrics")
    tap.equal(answer.status, 200)
    tap.equal(answer.headers["content-type"],
              "text/plain; version=0.0.4; charset=utf-8")
    return parse(answer.body.decode())


def value(families, name, **labels):
    for (_, found), number in families[name].samples.items():
        if dict(found) == labels:
            return number
    return None


def make_study(name):
    study = {"displayName": name,
             "studySpec": {"metrics": [{"metricId": "loss",
                                        "goal": "MINIMIZE"}],
                           "parameters": [{
                               "parameterId": "x",
                               "doubleValueSpec": {"minValue": 0,
                                                   "maxValue": 1}}]}}
    answer = api.send(server, "POST",
                      "/v1/projects/p/locations/l/studies", study)
    tap.equal(answer.status, 200, answer.body)
    return answer.json()["name"]


def everything_is_well_formed():
    families = scrape()
    for name in ("hypertune_build_info", "hypertune_uptime_seconds",
                 "hypertune_studies", "hypertune_trials",
                 "hypertune_runner_slots", "hypertune_runner_busy",
                 "hypertune_runner_online", "hypertune_suggestion_seconds",
                 "hypertune_commit_rows", "hypertune_requests_open",
                 "hypertune_attempts_ended_total",
                 "hypertune_disk_free_bytes"):
        tap.contains(name, families)
    for family in families.values():
        if family.kind == "histogram":
            check_histogram(family)
    tap.equal(value(families, "hypertune_read_only"), 0.0)
    tap.true(value(families, "hypertune_file_bytes", file="hypertune.db") > 0)


def check_histogram(family):
    buckets = [(dict(labels)["le"], n) for (name, labels), n
               in family.samples.items() if name.endswith("_bucket")]
    tap.equal(buckets[-1][0], "+Inf", family.name)
    bounds = [float(bound) for bound, _ in buckets]
    tap.equal(bounds, sorted(set(bounds)), family.name)
    counts = [n for _, n in buckets]
    tap.equal(counts, sorted(counts), family.name)
    tap.equal(family.samples[(family.name + "_count", ())], counts[-1])
    tap.contains((family.name + "_sum", ()), family.samples)


def suggestions_trials_and_studies_are_counted():
    before = scrape()
    study = make_study("odd \"name\"\\ with\nlines")
    path = "/v1/" + study + "/trials"
    asked = api.send(server, "POST", path + ":suggest",
                     {"suggestionCount": 2, "clientId": "c"})
    tap.equal(asked.status, 200, asked.body)
    harness.wait_until(
        lambda: value(scrape(), "hypertune_trials", state="ACTIVE") == 2,
        "two trials that run")
    after = scrape()
    number = study.rsplit("/", 1)[1]
    tap.equal(value(after, "hypertune_studies", state="RUNNING") -
              value(before, "hypertune_studies", state="RUNNING"), 1.0)
    rows = [dict(labels) for _, labels
            in after["hypertune_study_trials"].samples]
    tap.equal([row["state"] for row in rows if row["study"] == number and
               row["state"] == "ACTIVE"], ["ACTIVE"])
    spread = "hypertune_suggestion_seconds"
    tap.true(after[spread].samples[(spread + "_count", ())] >
             before[spread].samples[(spread + "_count", ())],
             (before[spread].samples, after[spread].samples))
    spread = "hypertune_commit_rows"
    tap.true(after[spread].samples[(spread + "_sum", ())] -
             before[spread].samples[(spread + "_sum", ())] >= 3,
             (before[spread].samples, after[spread].samples))


def answers_are_counted_by_route_and_status():
    def both(families):
        name = "hypertune_http_requests_total"
        route = api.OURS + "/studies/{study}"
        return (value(families, name, method="GET", route=route, code="404"),
                value(families, name, method="", route="none", code="404"))
    before = both(scrape())
    for path in (api.OURS + "/studies/none", api.OURS + "/studies/none",
                 "/nowhere"):
        tap.equal(api.ask(server, "GET", path).status, 404)
    after = both(scrape())
    tap.equal((after[0] - (before[0] or 0), after[1] - (before[1] or 0)),
              (2.0, 1.0))


def counters_never_fall():
    first = scrape()
    second = scrape()
    for name, family in first.items():
        for key, number in family.samples.items():
            if family.kind != "gauge":
                tap.true(second[name].samples[key] >= number, key)


def a_finished_study_has_no_own_series():
    name = server.submit({
        "name": "measured", "goal": "maximize score", "trials": 3,
        "algorithm": "random", "parameters": {
            "x": {"type": "double", "min": 0.0, "max": 1.0}},
        "command": ["sh", "-c", "hypertune report score=0.5"]}, cwd=server.folder)
    server.wait_study(name)
    harness.wait_until(
        lambda: value(scrape(), "hypertune_attempts_ended_total",
                      outcome="succeeded") == 3, "three attempts")
    families = scrape()
    tap.equal([labels for _, labels
               in families["hypertune_study_trials"].samples
               if dict(labels)["name"] == name], [])
    tap.equal(value(families, "hypertune_attempts_started_total"), 3.0)
    tap.true(value(families, "hypertune_report_records_total") >= 3)
    tap.equal(value(families, "hypertune_trials", state="SUCCEEDED"), 3.0)
    tap.equal([number for _, number
               in families["hypertune_runner_online"].samples.items()],
              [1.0])


def a_trial_that_confirms_another_is_counted_once():
    before = value(scrape(), "hypertune_trials", state="REQUESTED") or 0
    resource = make_study("confirmed")
    path = "/hypertune/v1/studies/" + resource.rsplit("/", 1)[1]
    answer = api.send(server, "POST", "/v1/" + resource.split("/v1/")[-1]
                      + "/trials", {
        "parameters": [{"parameterId": "x", "value": 0.5}],
        "finalMeasurement": {"metrics": [{"metricId": "loss", "value": 1}]}})
    tap.equal(answer.status, 200, answer.body)
    answer = api.send(server, "POST", path + ":confirm",
                      {"top": 1, "seeds": 4})
    tap.equal(answer.status, 200, answer.body)
    families = scrape()
    tap.equal(value(families, "hypertune_trials", state="REQUESTED"),
              before + 4)
    tap.equal([number for (_, labels), number
               in families["hypertune_study_trials"].samples.items()
               if dict(labels)["name"] == "confirmed"
               and dict(labels)["state"] == "REQUESTED"], [4.0])


def only_readers_may_look():
    tap.equal(api.ask(server, "GET", "/metrics", auth=None).status, 401)


with harness.Server() as server:
    tap.run([
        everything_is_well_formed,
        suggestions_trials_and_studies_are_counted,
        answers_are_counted_by_route_and_status,
        counters_never_fall,
        a_finished_study_has_no_own_series,
        a_trial_that_confirms_another_is_counted_once,
        only_readers_may_look,
    ])
