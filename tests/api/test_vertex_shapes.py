"""What Google's clients rely on beside the fields: versions, states, system
parameters, operations, tokens."""

import os
import urllib.parse

import api
import harness
import tap
import vizier

LOCATION = "/v1/projects/lab/locations/here"
JOBS = LOCATION + "/hyperparameterTuningJobs"
CUSTOM = LOCATION + "/customJobs"
RPC = "type.googleapis.com/google.cloud.aiplatform.%s.%s"

server = None


def tune(display, command="sleep 600", **changes):
    status, made = server.call("POST", JOBS, dict({
        "displayName": display, "maxTrialCount": 2, "parallelTrialCount": 1,
        "studySpec": {"metrics": [vizier.METRIC], "parameters": [vizier.X],
                      "algorithm": "RANDOM_SEARCH"},
        "trialJobSpec": {"workerPoolSpecs": [{
            "replicaCount": "1", "containerSpec": {
                "command": ["sh", "-c", command, "sh"]}}]}}, **changes))
    tap.equal(status, 200, made)
    return made


def state(job):
    return server.get("/v1/" + job["name"])["state"]


def wait_for(job, wanted):
    harness.wait_until(lambda: state(job) == wanted, wanted)


def ours(job, verb):
    number = job["name"].rsplit("/", 1)[1]
    return server.call("POST", "%s/studies/%s:%s" % (api.OURS, number, verb))


def googles_system_parameters_change_nothing():
    job = tune("system")
    plain = server.get("/v1/" + job["name"])["displayName"]
    for query in ("%24alt=json%3Benum-encoding%3Dint", "$alt=json",
                  "alt=json&prettyPrint=true", "fields=name&key=K",
                  "access_token=x&oauth_token=y&quotaUser=z&callback=f",
                  "$.xgafv=2&%24.xgafv=1&upload_protocol=raw&uploadType=x",
                  "$prettyPrint=0&$fields=a&$userProject=p&trace=t"):
        for path in ("/v1/" + job["name"], JOBS, CUSTOM,
                     LOCATION + "/operations"):
            tap.equal(server.call("GET", path + "?" + query)[0], 200, query)
        tap.equal(server.get("/v1/%s?%s" % (job["name"], query))
                  ["displayName"], plain)
        tap.equal(server.call("POST", "/v1/%s:cancel?%s" % (
            job["name"], query)), (200, {}))


def a_paused_job_continues_when_it_is_resumed():
    go = os.path.join(server.folder, "go")
    job = tune("paused", "until [ -e %s ]; do sleep 0.05; done; "
               "hypertune report loss=1" % go)
    wait_for(job, "JOB_STATE_RUNNING")
    tap.equal(ours(job, "pause")[0], 200)
    wait_for(job, "JOB_STATE_PAUSED")
    shown = server.get("/v1/" + job["name"])
    tap.equal(("endTime" in shown, "error" in shown), (False, False))
    listed = server.get(JOBS + '?filter=state%3D%22JOB_STATE_PAUSED%22')
    tap.equal([one["name"] for one in listed["hyperparameterTuningJobs"]],
              [job["name"]])
    tap.equal(ours(job, "resume")[0], 200)
    with open(go, "w", encoding="ascii"):
        pass
    wait_for(job, "JOB_STATE_SUCCEEDED")


def an_answer_has_the_version_that_was_asked():
    study = vizier.Study(server)
    for version in ("v1", "v1beta1"):
        path = "/%s/%s/trials" % (version, study.name)
        made = study.good("POST", path + ":suggest", {"suggestionCount": 1})
        tap.equal((made["metadata"]["@type"], made["response"]["@type"]),
                  (RPC % (version, "SuggestTrialsMetadata"),
                   RPC % (version, "SuggestTrialsResponse")))
        check = study.good("POST", path +
                           "/1:checkTrialEarlyStoppingState")
        tap.equal(check["response"]["@type"], RPC % (
            version, "CheckTrialEarlyStoppingStateResponse"))


def an_operation_asked_for_again_has_googles_members_only():
    study = vizier.Study(server)
    made = study.good("POST", study.path + "/trials:suggest",
                      {"suggestionCount": 2})
    tap.true(all("hypertune" in trial for trial in made["response"]["trials"]))
    for prefix in ("/v1/", "/ui/", "/v1beta1/"):
        kept = server.get(prefix + made["name"])
        tap.equal([sorted(set(trial) - {"measurements"})
                   for trial in kept["response"]["trials"]],
                  [["clientId", "id", "name", "parameters", "startTime",
                    "state"]] * 2)


def a_deletion_is_a_done_operation_everywhere():
    job = tune("deleted")
    server.call("POST", "/v1/%s:cancel" % job["name"], {})
    wait_for(job, "JOB_STATE_CANCELLED")
    for path in ("/operations", "/operations/7"):
        status, answer = server.call("GET", "/v1/" + job["name"] + path)
        tap.equal((status, answer.get("operations")),
                  (200, []) if path == "/operations" else (404, None))
    status, gone = server.call("DELETE", "/v1/" + job["name"])
    tap.equal((status, gone["done"], gone["response"]),
              (200, True, {"@type":
                           "type.googleapis.com/google.protobuf.Empty"}))
    for prefix in ("/v1/", "/ui/", "/v1beta1/"):
        tap.equal(server.get(prefix + gone["name"]), gone, prefix)
        tap.equal(server.call("POST", prefix + gone["name"] + ":wait"),
                  (200, gone), prefix)
    tap.equal(server.call("DELETE", "/v1/" + gone["name"]), (200, {}))
    tap.equal(server.call("GET", "/ui/" + gone["name"])[0], 404)


def a_token_belongs_to_its_list_and_filter():
    made = [tune("many %d" % n, labels={"set": "many"}) for n in range(3)]
    query = "?pageSize=1&filter=" + urllib.parse.quote("labels.set=many")
    page = server.get(JOBS + query)
    token = "&pageToken=" + urllib.parse.quote(page["nextPageToken"], safe="")
    second = server.get(JOBS + query + token)["hyperparameterTuningJobs"]
    tap.equal([job["name"] for job in second], [made[1]["name"]])
    beta = server.get("/v1beta1" + JOBS[3:] + query + token)
    # Its trials run, so the rest of it may have moved on.
    tap.equal([job["name"] for job in beta["hyperparameterTuningJobs"]],
              [made[1]["name"]])
    for other in (JOBS + "?pageSize=1", JOBS + "?filter=labels.set:*",
                  JOBS.replace("lab", "other") + query,
                  JOBS.replace("here", "there") + query, CUSTOM + query,
                  LOCATION + "/studies" + query):
        status, answer = server.call(
            "GET", other + ("" if "?" in other else "?") + token)
        violation, = answer["error"]["details"][0]["fieldViolations"]
        tap.equal((status, answer["error"]["status"], violation["field"]),
                  (400, "INVALID_ARGUMENT", "pageToken"), other)
    for job in made:
        server.call("POST", "/v1/%s:cancel" % job["name"], {})


def a_failed_trial_is_infeasible_and_says_why():
    job = tune("broken", "exit 5", maxFailedTrialCount=1, trialJobSpec={
        "scheduling": {"disableRetries": True},
        "workerPoolSpecs": [{"replicaCount": 1, "containerSpec": {
            "command": ["sh", "-c", "exit 5", "sh"]}}]})
    wait_for(job, "JOB_STATE_FAILED")
    shown = server.get("/v1/" + job["name"])
    tap.equal((shown["error"]["code"], "webAccessUris" in shown), (9, False))
    trial = shown["trials"][0]
    tap.equal((trial["state"], "exit 5" in trial["infeasibleReason"],
               "webAccessUris" in trial), ("INFEASIBLE", True, False))


with harness.Server() as server:
    tap.run([
        googles_system_parameters_change_nothing,
        a_paused_job_continues_when_it_is_resumed,
        an_answer_has_the_version_that_was_asked,
        an_operation_asked_for_again_has_googles_members_only,
        a_deletion_is_a_done_operation_everywhere,
        a_token_belongs_to_its_list_and_filter,
        a_failed_trial_is_infeasible_and_says_why,
    ])
