"""Vizier's studies over HTTP: made, found, looked up, ended, deleted."""

import urllib.parse

import api
import harness
import tap
import vizier
from vizier import STUDIES, Study

server = None


def a_new_study_is_shown_as_google_shows_it():
    study = Study(server)
    number = study.name.rsplit("/", 1)[1]
    tap.equal(study.name, STUDIES[4:] + "/" + number)
    tap.true(number.isdigit())
    tap.equal((study.made["displayName"], study.made["state"]),
              (study.display, "ACTIVE"))
    tap.equal(study.made["studySpec"]["metrics"], [vizier.METRIC])
    tap.lacks("inactiveReason", study.made)
    own = study.made["hypertuneStatus"]["name"]
    for path in ("/v1/" + study.name, "/v1beta1/" + study.name,
                 STUDIES + "/" + own):
        tap.equal(server.get(path)["name"], study.name, path)


def its_display_name_is_needed_and_unique():
    study = Study(server)
    tap.equal(study.refused("POST", STUDIES, study.body),
              (409, "ALREADY_EXISTS", []))
    del study.body["displayName"]
    tap.equal(study.refused("POST", STUDIES, study.body),
              (400, "INVALID_ARGUMENT", ["displayName"]))
    elsewhere = "/v1/projects/lab/locations/there/studies"
    tap.equal(server.call("POST", elsewhere, dict(
        study.body, displayName=study.display))[0], 200)


def a_wrong_study_names_every_wrong_field():
    body = {"displayName": "wrong", "colour": "red",
            "studySpec": {"metrics": [], "parameters": [
                {"parameterId": "x",
                 "doubleValueSpec": {"minValue": 2, "maxValue": 1}}]}}
    status, answer = server.call("POST", STUDIES, body)
    tap.equal((status, answer["error"]["status"]), (400, "INVALID_ARGUMENT"))
    fields = [item["field"] for item in
              answer["error"]["details"][0]["fieldViolations"]]
    tap.contains("colour", fields)
    tap.true(any(field.startswith("studySpec.metrics") for field in fields))
    tap.true(any(field.startswith("studySpec.parameters") for field in fields))


def enums_may_be_numbers():
    study = Study(server, metrics=[{"metricId": "loss", "goal": 2}],
                  algorithm=3)
    spec = study.made["studySpec"]
    tap.equal((spec["metrics"], spec["algorithm"]),
              ([vizier.METRIC], "RANDOM_SEARCH"))


def lookup_finds_a_study_by_its_display_name():
    study = Study(server)
    found = study.good("POST", STUDIES + ":lookup",
                       {"displayName": study.display})
    tap.equal(found["name"], study.name)
    tap.equal(study.refused("POST", STUDIES + ":lookup",
                            {"displayName": "no such study"}),
              (404, "NOT_FOUND", []))
    tap.equal(study.refused("POST", STUDIES + ":lookup", {}),
              (400, "INVALID_ARGUMENT", ["displayName"]))
    tap.equal(study.refused("POST", STUDIES + ":lookup",
                            {"displayName": study.display, "name": "x"}),
              (400, "INVALID_ARGUMENT", ["name"]))


def studies_are_listed_in_pages():
    parent = "/v1/projects/pages/locations/l/studies"
    body = Study(server).body
    for i in range(5):
        tap.equal(server.call("POST", parent, dict(
            body, displayName="p%d" % i))[0], 200)
    names, token = [], ""
    while True:
        page = server.get(parent + "?pageSize=2" +
                          ("&pageToken=" + token if token else ""))
        names.append([item["displayName"] for item in page["studies"]])
        token = page.get("nextPageToken", "")
        if not token:
            break
    tap.equal(names, [["p4", "p3"], ["p2", "p1"], ["p0"]])
    tap.equal(server.call("GET", parent + "?pageToken=x")[0], 400)


def a_study_is_deleted_in_any_state():
    study = Study(server)
    study.one()
    tap.equal(server.call("DELETE", study.path), (200, {}))
    tap.equal(study.refused("GET", study.path)[:2], (404, "NOT_FOUND"))
    tap.equal(study.refused("POST", study.path + "/trials:suggest",
                            {"suggestionCount": 1})[:2], (404, "NOT_FOUND"))
    # Its display name is free again.
    again = study.good("POST", STUDIES, study.body)
    path = "/v1/" + again["name"]
    pause = api.OURS + "/studies/" + again["name"].rsplit("/", 1)[1] + ":pause"
    tap.equal(server.call("POST", pause)[0], 200)
    tap.equal(server.call("DELETE", path), (200, {}))
    finished = Study(server, studyStoppingConfig={"maxNumTrials": 1})
    finished.complete(finished.one(), 1)
    tap.equal(finished.state(), "COMPLETED")
    tap.equal(server.call("DELETE", finished.path), (200, {}))


def a_paused_study_is_inactive_and_says_why():
    study = Study(server)
    own = api.OURS + "/studies/" + study.name.rsplit("/", 1)[1]
    trial = study.one()
    tap.equal(server.call("POST", own + ":pause")[0], 200)
    shown = study.good("GET", study.path)
    tap.equal((shown["state"], bool(shown["inactiveReason"])),
              ("INACTIVE", True))
    tap.equal(study.refused("POST", study.path + "/trials:suggest",
                            {"suggestionCount": 1})[:2],
              (400, "FAILED_PRECONDITION"))
    study.complete(trial, 1)
    tap.equal(server.call("POST", own + ":resume")[0], 200)
    tap.equal(len(study.suggest()["trials"]), 1)


def studies_are_found_by_their_state():
    parent = "/v1/projects/states/locations/local/studies"
    for name in ("active", "paused"):
        tap.equal(server.call("POST", parent, {
            "displayName": name, "studySpec": api.JOB["studySpec"]})[0], 200)
    tap.equal(server.call("POST", api.OURS + "/studies/paused:pause")[0], 200)
    for text, names in (("state=ACTIVE", ["active"]),
                        ("state=INACTIVE", ["paused"]),
                        ("state:*ACTIVE", ["paused", "active"]),
                        ("state!=ACTIVE", ["paused"]),
                        ("state=PAUSED", ["paused"]),
                        ("state=COMPLETED", [])):
        found = server.get("%s?filter=%s" % (parent, text))["studies"]
        tap.equal([study["displayName"] for study in found], names, text)


def the_study_of_a_job_is_shown_but_runs_its_own_trials():
    job = api.job("tuned")
    status, made = server.call(
        "POST", vizier.PARENT + "/hyperparameterTuningJobs", job)
    tap.equal(status, 200, made)
    study = Study(server)
    path = STUDIES + "/" + made["name"].rsplit("/", 1)[1]
    tap.equal(server.get(path)["displayName"], "tuned")
    tap.contains(
        "tuned",
        [item["displayName"] for item in server.get(STUDIES)["studies"]])
    trials = harness.wait_until(lambda: server.get(path + "/trials")["trials"],
                                "its first trial")
    refused = (400, "FAILED_PRECONDITION", [])
    tap.equal(study.refused("POST", path + "/trials:suggest",
                            {"suggestionCount": 1}), refused)
    own = "/v1/" + trials[0]["name"]
    tap.equal(study.refused("POST", own + ":complete",
                            {"trialInfeasible": True}), refused)
    tap.equal(study.refused("POST", own + ":addTrialMeasurement", {
        "measurement": {"metrics": [{"metricId": "accuracy", "value": 1}]}}),
        refused)
    tap.equal(study.refused("DELETE", path), refused)
    point = vizier.parameters(lr=0.5)
    tap.equal(study.refused("POST", path + "/trials", {
        "parameters": point, "finalMeasurement": {
            "metrics": [{"metricId": "accuracy", "value": 1}]}}), refused)
    added = study.good("POST", path + "/trials", {"parameters": point})
    tap.equal((added["state"], added["hypertune"]["reason"]),
              ("REQUESTED", "added by user"))
    tap.equal(study.good("POST", "/v1/" + added["name"] + ":stop")["state"],
              "INFEASIBLE")
    tap.equal(server.call("DELETE", "/v1/" + added["name"]), (200, {}))
    tap.equal(server.call("DELETE", own), (200, {}))


def a_custom_job_is_no_study():
    job = {"displayName": "custom", "jobSpec":
           api.JOB["trialJobSpec"]}
    status, made = server.call("POST", vizier.PARENT + "/customJobs", job)
    tap.equal(status, 200, made)
    path = STUDIES + "/" + made["name"].rsplit("/", 1)[1]
    for method, path in (("GET", path), ("GET", path + "/trials"),
                         ("POST", path + "/trials:suggest"),
                         ("DELETE", path)):
        tap.equal(server.call(method, path, {"suggestionCount": 1})[0], 404,
                  path)


def operations_can_be_asked_for_again():
    study = Study(server)
    made = study.good("POST", study.path + "/trials:suggest",
                      {"suggestionCount": 1, "clientId": "w"})
    tap.equal(made["done"], True)
    tap.equal((made["metadata"]["@type"], made["metadata"]["clientId"]),
              (vizier.TYPE + "SuggestTrialsMetadata", "w"))
    tap.equal(sorted(made["metadata"]["genericMetadata"]),
              ["createTime", "updateTime"])
    # Google's clients read it again without patience for what is ours.
    tap.contains("hypertune", made["response"]["trials"][0].keys())
    del made["response"]["trials"][0]["hypertune"]
    number = made["name"].rsplit("/", 1)[1]
    for path in ("/v1/" + made["name"], "/v1beta1/" + made["name"],
                 "/ui/" + made["name"],
                 vizier.PARENT + "/operations/" + number):
        tap.equal(server.get(path), made, path)
    path = "/v1/" + made["name"]
    tap.equal(server.call("POST", path + ":wait"), (200, made))
    tap.equal(server.call("POST", path + ":cancel"), (200, {}))
    listed = server.get(study.path + "/operations")["operations"]
    tap.equal(listed, [made])
    for wanted, found in (("done=true", [made]), ("done=false", []),
                          ("NOT name:\"*/%s\"" % number, [])):
        tap.equal(server.get(study.path + "/operations?filter=" +
                             urllib.parse.quote(wanted)),
                  {"operations": found}, wanted)
    study.suggest()
    first = server.get(study.path + "/operations?pageSize=1")
    second = server.get(study.path + "/operations?pageSize=1&pageToken=" +
                        first["nextPageToken"])
    tap.equal((len(first["operations"]), second["operations"]), (1, [made]))
    tap.equal(server.call("DELETE", path), (200, {}))
    tap.equal(server.get(study.path + "/operations")["operations"],
              first["operations"])
    for method, path in (("GET", path), ("DELETE", path),
                         ("POST", path + ":wait"), ("POST", path + ":cancel"),
                         ("GET", "/v1/projects/lab/locations/there/operations/"
                          + first["operations"][0]["name"].rsplit("/", 1)[1])):
        tap.equal(server.call(method, path)[0], 404, path)


def the_deletion_of_a_job_is_an_operation_too():
    status, made = server.call(
        "POST", vizier.PARENT + "/hyperparameterTuningJobs", api.job("gone"))
    path = "/v1/" + made["name"]
    tap.equal(server.call("POST", path + ":cancel")[0], 200)
    harness.wait_until(
        lambda: server.get(path)["state"] == "JOB_STATE_CANCELLED", "end")
    status, operation = server.call("DELETE", path)
    tap.equal((status, operation["done"], operation["response"]), (200, True, {
        "@type": "type.googleapis.com/google.protobuf.Empty"}))
    tap.equal(server.get("/v1/" + operation["name"]), operation)


with harness.Server("--runner", "none") as server:
    tap.run([
        a_new_study_is_shown_as_google_shows_it,
        its_display_name_is_needed_and_unique,
        a_wrong_study_names_every_wrong_field,
        enums_may_be_numbers,
        lookup_finds_a_study_by_its_display_name,
        studies_are_listed_in_pages,
        a_study_is_deleted_in_any_state,
        a_paused_study_is_inactive_and_says_why,
        studies_are_found_by_their_state,
        the_study_of_a_job_is_shown_but_runs_its_own_trials,
        a_custom_job_is_no_study,
        operations_can_be_asked_for_again,
        the_deletion_of_a_job_is_an_operation_too,
    ])
