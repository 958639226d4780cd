"""AI Platform's jobs as they are created, labelled, limited and cancelled.

A fake runner takes images, so that trials do what a case needs."""

import copy
import json
import os
import urllib.request

import aip
import api
import harness
import tap
import tree
from aip import IMAGE, JOBS, PLAIN, SEARCH

TUNING = "/v1/projects/p/locations/%s/hyperparameterTuningJobs"
BODIES = tree.path("tests/google/aip-bodies")

server = None


def search(name, scheduling=None, **changes):
    given = dict(PLAIN, hyperparameters=dict(SEARCH, **changes))
    if scheduling:
        given["scheduling"] = scheduling
    return server.create(name, given)


def events(name, kind):
    found = server.get("/hypertune/v1/studies/%s/events" % name)["events"]
    return [event["reason"] for event in found if event["kind"] == kind]


def labels_path(name, mask="labels"):
    return "%s/%s?updateMask=%s" % (JOBS, name, mask)


# --- creation ---

def recorded():
    """What gcloud sent, in the order in which it did."""
    for name in sorted(os.listdir(BODIES)):
        with open(os.path.join(BODIES, name), encoding="utf-8") as file:
            yield json.load(file)


def what_gcloud_sends_is_answered():
    made = []
    for said in recorded():
        status, answer = server.call("POST", said["path"], said["request"])
        tap.equal(status, said["status"], said["command"])
        if status == 200:
            made.append(answer["jobId"])
            tap.equal(answer["trainingInput"],
                      said["request"]["trainingInput"])
            answer.pop("createTime")
            answer.pop("etag")
        tap.equal(answer, said["answer"], said["command"])
    for name in made:
        server.good("POST", "/v1/projects/demo-proj/jobs/%s:cancel" % name)


def a_job_is_a_study_of_its_region():
    made = server.plain("placed", region="europe-west4")
    tap.equal((made["jobId"], made["state"]), ("placed", "QUEUED"))
    shown = server.get(
        "/v1/projects/p/locations/europe-west4/customJobs/placed")
    tap.equal(shown["displayName"], "placed")
    nowhere = dict(PLAIN)
    del nowhere["region"]
    server.good("POST", JOBS, {"jobId": "nowhere", "trainingInput": nowhere})
    server.get("/v1/projects/p/locations/local/customJobs/nowhere")
    server.cancel("placed", "nowhere")


def an_id_is_given_once_in_a_project():
    server.plain("once", region="us-central1")
    body = {"jobId": "once", "trainingInput": dict(PLAIN, region="us-east1")}
    server.refused("POST", JOBS, body, 409, "ALREADY_EXISTS")
    server.good("POST", "/v1/projects/other/jobs", body)
    server.cancel("once")
    server.refused("POST", JOBS, body, 409, "ALREADY_EXISTS")
    server.good("POST", "/v1/projects/other/jobs/once:cancel")


def a_name_that_another_form_gave_is_taken_too():
    made = api.job("vertex_made")
    server.good("POST", TUNING % "us-east1", made)
    given = {"jobId": "vertex_made", "trainingInput": PLAIN}
    server.refused("POST", JOBS, given, 409, "ALREADY_EXISTS")
    server.cancel("vertex_made")


def the_same_is_there_below_ml():
    body = {"jobId": "below_ml", "trainingInput": PLAIN}
    server.good("POST", "/ml" + JOBS, body)
    tap.equal(server.get("/ml" + JOBS + "/below_ml"), server.job("below_ml"))
    server.good("PATCH", "/ml" + labels_path("below_ml"),
                {"labels": {"a": "b"}})
    server.good("POST", "/ml" + JOBS + "/below_ml:cancel")
    tap.equal(server.job("below_ml")["state"], "CANCELLED")
    tap.equal(server.call("GET", "/mlx" + JOBS)[0], 404)


def raw(path, body=None):
    """The bytes of an answer, unread."""
    request = urllib.request.Request(server.http + path, headers={
        "Authorization": "Bearer " + api.token(server),
        "Content-Type": "application/json"}, data=body)
    with urllib.request.urlopen(request, timeout=harness.PATIENCE) as answer:
        return answer.read()


def numbers_are_kept_as_they_were_written():
    given = (b'"trainingInput":{"region":"r","masterConfig":{"imageUri":"i"},'
             b'"hyperparameters":{"goal":"MAXIMIZE","maxTrials":"2","params":['
             b'{"maxValue":1e-1,"minValue":0.00010,"parameterName":"x",'
             b'"type":"DOUBLE"}]}}')
    made = raw(JOBS, b'{"jobId":"written",' + given + b'}')
    tap.contains(given, made)
    tap.contains(given, raw(JOBS + "/written"))
    server.cancel("written")


def operations_of_a_project_are_listed():
    server.good("POST", JOBS.replace("/p/", "/q/"),
                {"jobId": "gone", "trainingInput": PLAIN})
    server.good("POST", "/v1/projects/q/jobs/gone:cancel")
    done = server.good("DELETE",
                       "/v1/projects/q/locations/us-central1/customJobs/gone")
    tap.equal(server.get("/v1/projects/q/operations"), {"operations": [done]})
    tap.equal(server.get("/v1/projects/q2/operations"), {"operations": []})
    name = done["name"].rsplit("/", 1)[1]
    path = "/v1/projects/q/operations/" + name
    tap.equal(server.get(path), done)
    tap.equal(server.good("POST", path + ":cancel"), {})
    tap.equal(server.call("GET", "/v1/projects/p/operations/" + name)[0], 404)


def each_trial_has_its_own_job_dir():
    server.plain("one_dir", jobDir="gs://b/out")
    search("no_dir")
    given = dict(PLAIN, jobDir="gs://b/out/", hyperparameters=SEARCH)
    server.good("POST", JOBS, {"jobId": "own_dirs", "trainingInput": given})
    with server.runner() as one:
        attempts = [one.one().started() for _ in range(3)]
        server.cancel("one_dir", "no_dir", "own_dirs")
        for attempt in attempts:
            attempt.ended("stopped")
    said = {attempt.name["study"]: [
        word for word in attempt.said["replicas"][0]["argv"]
        if word.startswith("--job-dir")] for attempt in attempts}
    tap.equal([said[study] for study in sorted(said)],
              [["--job-dir=gs://b/out"], [], ["--job-dir=gs://b/out/1"]])


# --- warnings ---

def what_has_no_effect_is_named_in_the_events():
    server.plain("warned", network="projects/1/global/networks/n",
                 enableWebAccess=True, scaleTier="STANDARD_1",
                 encryptionConfig={"kmsKeyName": "k"},
                 masterConfig=dict(IMAGE, diskConfig={"bootDiskSizeGb": 200}),
                 scheduling={"priority": 7, "strategy": "LOW_COST"})
    reasons = events("warned", "study.warned")
    fields = sorted(reason.split(":")[0] for reason in reasons)
    tap.equal(fields, ["trainingInput." + field for field in (
        "enableWebAccess", "encryptionConfig.kmsKeyName",
        "masterConfig.diskConfig.bootDiskSizeGb", "network", "scaleTier",
        "scheduling.priority", "scheduling.strategy")])
    server.cancel("warned")
    server.plain("quiet", enableWebAccess=False)
    tap.equal(events("quiet", "study.warned"), [])
    server.cancel("quiet")


def warnings_name_the_fields_that_were_sent():
    search("empty_handed")
    with server.runner():
        server.plain("keyless", serviceAccount="a@b.c")
        search("heir", resumePreviousJobId="empty_handed",
               algorithm="ALGORITHM_UNSPECIFIED")
    for name, field in (("keyless", "serviceAccount"),
                        ("heir", "hyperparameters.resumePreviousJobId")):
        reasons, = events(name, "study.warned")
        tap.equal(reasons.split(":")[0], "trainingInput." + field)
    server.cancel("empty_handed", "keyless", "heir")


def other_forms_tell_theirs_too():
    made = api.job("told")
    made["trialJobSpec"]["network"] = "n"
    with server.runner():
        answer = server.good("POST", api.JOBS, made)
    reasons = events("told", "study.warned")
    tap.equal(reasons[0].split(":")[0], "trialJobSpec.network")
    fitting = [said["description"]
               for said in answer["hypertuneStatus"]["warnings"]]
    tap.equal(reasons[1:], fitting)
    tap.equal(len(fitting), 1)
    server.good("POST", api.JOBS + "/told:cancel")


# --- labels ---

def labels_are_replaced_as_a_whole():
    made = server.plain("labelled", {"team": "red", "old": "1"})
    changed = server.good("PATCH", labels_path("labelled"),
                          {"labels": {"team": "blue"}})
    tap.equal(changed["labels"], {"team": "blue"})
    tap.true(changed["etag"] != made["etag"])
    tap.equal(server.job("labelled"), changed)
    cleared = server.good("PATCH", labels_path("labelled"), {})
    tap.lacks("labels", cleared)
    changes = events("labelled", "study.changed")
    tap.equal(changes, ["labels.team: red -> blue\nlabels.old: 1 -> none\n",
                        "labels.team: blue -> none\n"])
    back = server.good("PATCH", labels_path("labelled"),
                       {"labels": {"old": "1", "team": "red"}})
    tap.equal(back["etag"], made["etag"])
    server.good("PATCH", labels_path("labelled"), {"labels": back["labels"]})
    tap.equal(len(events("labelled", "study.changed")), 3)
    server.cancel("labelled")


def other_changes_start_from_the_labels():
    server.tune("grown", {"team": "red"})
    with server.runner() as one:  # now the job is in the server's memory
        attempt = one.one()
        server.good("PATCH", labels_path("grown"), {"labels": {"team": "b"}})
        server.good("PATCH", api.OURS + "/studies/grown",
                    {"maxTrialCount": 7})
        tap.equal(server.job("grown")["labels"], {"team": "b"})
        reasons = events("grown", "study.changed")
        tap.equal(reasons[1:], ["trials: 3 -> 7\n"])
        server.cancel("grown")
        attempt.ended("stopped", signal=15, reason="cancelled")
    server.wait_job("grown", "CANCELLED")


def an_etag_guards_labels():
    first = server.plain("guarded", {"a": "1"})["etag"]
    body = {"labels": {"a": "2"}, "etag": first}
    second = server.good("PATCH", labels_path("guarded", "labels,etag"),
                         body)["etag"]
    server.refused("PATCH", labels_path("guarded"), body, 409, "ABORTED")
    tap.equal(server.job("guarded")["labels"], {"a": "2"})
    server.good("PATCH", labels_path("guarded"), dict(body, etag=second))
    server.cancel("guarded")


def a_whole_job_may_come_with_its_new_labels():
    whole = server.plain("whole", {"a": "1"})
    whole["labels"] = {"a": "2"}
    whole["trainingInput"]["args"] = ["--ignored"]
    changed = server.good("PATCH", labels_path("whole"), whole)
    tap.equal(changed["labels"], {"a": "2"})
    tap.lacks("args", changed["trainingInput"])
    server.cancel("whole")


def what_has_ended_gets_labels_too():
    server.plain("over", {"a": "1"})
    with server.runner() as one:
        one.one().succeed()
        ended = server.wait_job("over", "SUCCEEDED")
    changed = server.good("PATCH", labels_path("over"), {"labels": {"a": "2"}})
    tap.equal(changed, dict(ended, labels={"a": "2"}, etag=changed["etag"]))
    tap.equal(server.job("over"), changed)
    server.refused("PATCH", labels_path("never"), {}, 404, "NOT_FOUND")


# --- cancellation ---

def a_waiting_job_is_cancelled_at_once():
    server.plain("waiting")
    server.cancel("waiting")
    ended = server.job("waiting")
    tap.equal((ended["state"], ended["errorMessage"]),
              ("CANCELLED", "cancelled by user"))
    tap.contains("endTime", ended)
    tap.equal(server.good("POST", JOBS + "/waiting:cancel"), {})
    tap.equal(server.job("waiting"), ended)
    server.refused("POST", JOBS + "/never:cancel", {}, 404, "NOT_FOUND")


def a_running_job_is_cancelled_when_its_trials_have_ended():
    search("running")
    with server.runner() as one:
        attempt = one.one().started()
        server.wait_job("running", "RUNNING")
        server.cancel("running")
        going = server.job("running")
        tap.equal((going["state"], "endTime" in going), ("CANCELLING", False))
        attempt.ended("stopped")
        ended = server.wait_job("running", "CANCELLED")
    tap.contains("endTime", ended)
    tap.equal([trial["state"] for trial in ended["trainingOutput"]["trials"]],
              ["CANCELLED"])


def a_finished_job_stays_as_it_is():
    server.plain("finished")
    with server.runner() as one:
        one.one().succeed()
        ended = server.wait_job("finished", "SUCCEEDED")
    server.cancel("finished")
    tap.equal(server.job("finished"), ended)


# --- limits ---

def a_search_that_runs_too_long_is_cancelled():
    search("long", {"maxRunningTime": "3s"}, maxParallelTrials=2)
    with server.runner() as one:
        one.one().succeed(0.9)
        late = one.one().started()
        server.wait_job("long", "CANCELLING")
        late.ended("stopped")
        ended = server.wait_job("long", "CANCELLED")
    tap.equal(ended["errorMessage"], "it ran longer than its limit of 3s")
    first = ended["trainingOutput"]["trials"][0]
    tap.equal((first["state"], first["finalMetric"]["objectiveValue"]),
              ("SUCCEEDED", 0.9))
    tap.equal(ended["trainingOutput"]["completedTrialCount"], "1")


def a_job_without_a_search_that_runs_too_long_is_cancelled():
    given = {"maxRunningTime": "0.5s"}
    server.plain("long_plain", scheduling=given)
    with server.runner() as one:
        attempt = one.one().started()
        server.wait_job("long_plain", "CANCELLING")
        attempt.ended("stopped")
        ended = server.wait_job("long_plain", "CANCELLED")
    tap.equal(ended["errorMessage"], "it ran longer than its limit of 500ms")
    tap.equal(ended["trainingInput"]["scheduling"], given)


def flexible(name, wait):
    """A job of Vertex that waits no longer than that."""
    made = api.job(name)
    made["trialJobSpec"] = {
        "workerPoolSpecs": [{"replicaCount": 1, "containerSpec": IMAGE}],
        "scheduling": {"strategy": "FLEX_START", "maxWaitDuration": wait}}
    server.good("POST", TUNING % "r", made)


def the_limit_counts_from_the_start():
    server.plain("patient", scheduling={"maxRunningTime": "3s"})
    flexible("clock", "3.2s")
    server.wait_job("clock", "CANCELLED")
    tap.equal(server.job("patient")["state"], "QUEUED")
    with server.runner() as one:
        one.one().succeed()
        server.wait_job("patient", "SUCCEEDED")


def too_many_failures_fail_the_job():
    search("failing", maxFailedTrials=1, maxTrials=5)
    with server.runner() as one:
        for _ in range(2):  # it is started again once
            one.one().started().ended("failed", exit=1)
        ended = server.wait_job("failing", "FAILED")
    tap.starts(ended["errorMessage"], "1 trials failed, limit 1")


def trials_without_the_metric_do_not_pause_a_job():
    """AI Platform has no word for that: its clients would wait for ever."""
    search("silent", maxTrials=3, maxParallelTrials=1)
    with server.runner() as one:
        for _ in range(3):
            one.one().started().ended("succeeded", exit=0)
        ended = server.wait_job("silent", "FAILED")
    tap.equal(len(ended["trainingOutput"]["trials"]), 3)


def a_job_that_waits_too_long_is_cancelled():
    flexible("flexible", "0.3s")
    ended = server.wait_job("flexible", "CANCELLED")
    tap.equal(ended["errorMessage"],
              "no trial started within its limit of 300ms")
    given = {"maxWaitTime": "1800s"}
    server.plain("waits", scheduling=given)
    tap.equal(server.job("waits")["trainingInput"]["scheduling"], given)
    kept = server.get("/hypertune/v1/studies/waits")["hypertune"]
    tap.equal(kept["cancelAfter"], {"waiting": "1800s"})
    tap.equal(events("waits", "study.warned"), [])
    server.cancel("waits")


# --- continuing from an earlier job ---

def preparing_is_waiting_too():
    with server.runner() as one:
        flexible("slow_start", "3s")
        attempt = one.one()
        tap.equal(server.job("slow_start")["state"], "PREPARING")
        server.wait_job("slow_start", "CANCELLING")
        attempt.ended("stopped")
        ended = server.wait_job("slow_start", "CANCELLED")
    tap.equal(ended["errorMessage"],
              "no trial started within its limit of 3s")


def a_search_continues_another():
    search("first_part", maxTrials=1)
    with server.runner() as one:
        one.one().succeed(0.7)
        server.wait_job("first_part", "SUCCEEDED")
    made = search("second_part", resumePreviousJobId="first_part",
                  algorithm="ALGORITHM_UNSPECIFIED")
    tap.equal(made["trainingInput"]["hyperparameters"]["resumePreviousJobId"],
              "first_part")
    start = server.get("/hypertune/v1/studies/second_part")["hypertuneStatus"]
    tap.equal([(said["study"], said["results"], said["sameSpace"])
               for said in start["warmStart"]], [("first_part", 1, True)])
    server.cancel("second_part")


BOTH = [{"parameterName": "units", "type": "INTEGER", "minValue": 1,
         "maxValue": 2},
        {"parameterName": "opt", "type": "CATEGORICAL",
         "categoricalValues": ["adam", "sgd"]}]


def grid(name, params, **changes):
    search(name, params=params, algorithm="GRID_SEARCH", maxTrials=9,
           **changes)


def params_of(name):
    return [trial["hypertune"]["params"] for trial in server.get(
        "/hypertune/v1/studies/%s/trials" % name)["trials"]]


def a_resumed_search_measures_nothing_twice():
    """Not what crashed either, and in whatever order its parameters are; what
    a machine or a person took away is tried again."""
    grid("half", BOTH)
    with server.runner() as one:
        one.one().succeed(0.7)
        one.one().succeed()  # nothing came out
        taken = one.one()
        server.cancel("half")
        taken.ended("stopped")
        grid("rest", BOTH[::-1], resumePreviousJobId="half", maxFailedTrials=1)
        for _ in range(2):
            one.one().succeed(0.8)
        ended = server.wait_job("rest", "SUCCEEDED")
    done = [{"units": 1, "opt": "adam"}, {"units": 1, "opt": "sgd"}]
    tap.equal([p for p in params_of("rest") if p in done], [])
    tap.equal(len(ended["trainingOutput"]["trials"]), 2)
    status = server.get("/hypertune/v1/studies/rest")["hypertuneStatus"]
    said, = status["warmStart"]
    tap.equal((said["results"], said["failures"], said["own"]), (1, 1, 2))
    tap.equal(status["reason"],
              "all 4 points of the space were tried, 2 by earlier studies")
    grid("none", BOTH, resumePreviousJobId="rest")
    server.wait_job("none", "SUCCEEDED")
    tap.equal(params_of("none"), [])


def only_the_same_search_continues():
    search("origin")
    other = copy.deepcopy(SEARCH)
    other["params"][0]["maxValue"] = 0.2
    server.plain("no_search")
    for wrong, word in (({"goal": "MINIMIZE"}, "minimize"),
                        ({"hyperparameterMetricTag": "loss"}, "loss"),
                        ({"params": other["params"]}, "0.2"),
                        ({"resumePreviousJobId": "no_search"},
                         "no tuning job"),
                        ({"resumePreviousJobId": "away"}, "no tuning job")):
        given = dict(SEARCH, resumePreviousJobId="origin")
        given.update(wrong)
        body = {"jobId": "away",
                "trainingInput": dict(PLAIN, hyperparameters=given)}
        message = server.refused("POST", JOBS, body, 400, "INVALID_ARGUMENT")
        field = "trainingInput.hyperparameters.resumePreviousJobId: "
        tap.equal((message.startswith(field), word in message), (True, True),
                  message)
    server.cancel("origin", "no_search")


# --- what a restart leaves ---

def a_restart_keeps_everything():
    search("kept", {"maxRunningTime": "7200s"})
    changed = server.good("PATCH", labels_path("kept"), {"labels": {"a": "b"}})
    server.plain("kept_running", scheduling={"maxRunningTime": "3600s"})
    harness.wait_until(
        lambda: server.job("kept")["trainingOutput"]["trials"], "its trial")
    before = {name: server.job(name)
              for name in ("kept", "over", "long", "warned")}
    listed = server.get(JOBS + "?pageSize=100")
    reasons = events("warned", "study.warned")
    server.stop()
    server.start()
    tap.equal({name: server.job(name) for name in before}, before)
    tap.equal(server.get(JOBS + "?pageSize=100"), listed)
    tap.equal(events("warned", "study.warned"), reasons)
    tap.equal(server.job("kept")["labels"], changed["labels"])
    given = {"jobId": "kept", "trainingInput": PLAIN}
    server.refused("POST", JOBS, given, 409, "ALREADY_EXISTS")
    server.cancel("kept", "kept_running")


def main():
    global server
    with aip.Server() as server:
        tap.run([
            what_gcloud_sends_is_answered,
            a_job_is_a_study_of_its_region,
            an_id_is_given_once_in_a_project,
            a_name_that_another_form_gave_is_taken_too,
            the_same_is_there_below_ml,
            numbers_are_kept_as_they_were_written,
            operations_of_a_project_are_listed,
            each_trial_has_its_own_job_dir,
            what_has_no_effect_is_named_in_the_events,
            warnings_name_the_fields_that_were_sent,
            other_forms_tell_theirs_too,
            labels_are_replaced_as_a_whole,
            other_changes_start_from_the_labels,
            an_etag_guards_labels,
            a_whole_job_may_come_with_its_new_labels,
            what_has_ended_gets_labels_too,
            a_waiting_job_is_cancelled_at_once,
            a_running_job_is_cancelled_when_its_trials_have_ended,
            a_finished_job_stays_as_it_is,
            a_search_that_runs_too_long_is_cancelled,
            a_job_without_a_search_that_runs_too_long_is_cancelled,
            the_limit_counts_from_the_start,
            too_many_failures_fail_the_job,
            trials_without_the_metric_do_not_pause_a_job,
            a_job_that_waits_too_long_is_cancelled,
            preparing_is_waiting_too,
            a_search_continues_another,
        a_resumed_search_measures_nothing_twice,
            only_the_same_search_continues,
            a_restart_keeps_everything,
        ])


main()
