"""Custom jobs, ends and second tries over HTTP, with a real runner."""

import urllib.parse

import api
import harness
import pages
import tap

CUSTOM = api.JOBS.rsplit("/", 1)[0] + "/customJobs"
server = None


def custom(name, *command, **changes):
    made = {"displayName": name, "hypertune": {"name": name, "retries": "0"},
            "jobSpec": {"workerPoolSpecs": [{
                "replicaCount": "1",
                "containerSpec": {"command": list(command)}}]}}
    made.update(changes)
    return made


def ended(path):
    def look():
        job = server.get(path)
        return job if "endTime" in job else None
    return harness.wait_until(look, path + " to end")


def a_custom_job_succeeds_by_its_exit_code():
    status, made = server.call("POST", CUSTOM, custom("once", "true"))
    tap.equal((status, made["state"]), (200, "JOB_STATE_PENDING"), made)
    number = made["name"].rsplit("/", 1)[1]
    tap.equal(made["name"], CUSTOM[4:] + "/" + number)
    job = ended("/v1beta1" + CUSTOM[3:] + "/" + number)
    tap.equal((job["state"], "error" in job, "trials" in job),
              ("JOB_STATE_SUCCEEDED", False, False))
    status = job["hypertuneStatus"]
    tap.equal((status["kind"], "best" in status, "algorithm" in status),
              ("CUSTOM", False, False))
    tap.true(job["startTime"] <= job["endTime"],
             (job["startTime"], job["endTime"]))


def a_custom_job_that_fails_says_why_and_may_be_tried_again():
    server.call("POST", CUSTOM, custom("bad", "sh", "-c", "exit 3"))
    job = ended(CUSTOM + "/bad")
    tap.equal((job["state"], job["error"]["message"]),
              ("JOB_STATE_FAILED", "exit 3"))
    path = api.OURS + "/studies/bad/trials/1"
    status, trial = server.call("POST", path + ":retry", {})
    tap.equal((status, trial["hypertune"]["state"],
               trial["hypertune"]["reason"]),
              (200, "REQUESTED", "retried by user"))
    tap.equal(ended(CUSTOM + "/bad")["state"], "JOB_STATE_FAILED")
    attempts = server.get(path)["hypertune"]["attempts"]
    tap.equal([one["attempt"] for one in attempts], [1, 2])


def kinds_do_not_see_each_other():
    server.call("POST", api.JOBS, api.job("tuned", maxTrialCount=1))
    for path in (api.JOBS + "/once", api.STUDIES + "/once",
                 CUSTOM + "/tuned"):
        tap.equal(server.call("GET", path)[0], 404, path)
        if not path.startswith(api.STUDIES):
            tap.equal(server.call("POST", path + ":cancel", {})[0], 404, path)
            tap.equal(server.call("DELETE", path)[0], 404, path)

    def names(path, key):
        return sorted(one["displayName"] for one in server.get(path)[key])
    tap.equal(names(CUSTOM, "customJobs"), ["bad", "once"])
    tap.equal(names(api.JOBS, "hyperparameterTuningJobs"), ["tuned"])
    tap.equal(names(api.STUDIES, "studies"), ["tuned"])
    every = server.get(api.OURS + "/studies")["studies"]
    tap.equal([one["hypertuneStatus"]["kind"] for one in every],
              ["TUNING", "CUSTOM", "CUSTOM"])


def a_cancelled_custom_job_says_so_and_is_deleted():
    server.call("POST", CUSTOM, custom("long", "sleep", "600"))
    harness.wait_until(lambda: server.get(CUSTOM + "/long")["state"] ==
                       "JOB_STATE_RUNNING", "a start")
    tap.equal(server.call("DELETE", CUSTOM + "/long")[0], 400)
    tap.equal(server.call("POST", CUSTOM + "/long:cancel", {}), (200, {}))
    job = ended(CUSTOM + "/long")
    tap.equal((job["state"], job["error"]),
              ("JOB_STATE_CANCELLED",
               {"code": 1, "message": "cancelled by user"}))
    # What has ended is cancelled in vain, and that is no error.
    tap.equal(server.call("POST", CUSTOM + "/long:cancel", {}), (200, {}))
    status, operation = server.call("DELETE", CUSTOM + "/long")
    tap.equal((status, operation["done"]), (200, True))
    tap.equal(server.call("GET", CUSTOM + "/long")[0], 404)


def lists_are_filtered_masked_and_paged():
    server.call("POST", CUSTOM, custom("mine", "true",
                                       labels={"team": "red"}))

    def names(**query):
        answer = server.get(CUSTOM + "?" + urllib.parse.urlencode(query))
        return sorted(one["displayName"] for one in answer["customJobs"])
    tap.equal(names(filter="labels.team=red"), ["mine"])
    tap.equal(names(filter='NOT labels.team:* AND display_name:"o*"'),
              ["once"])
    tap.equal(names(filter='state="JOB_STATE_FAILED" OR displayName="once"'),
              ["bad", "once"])
    numbers = {one["displayName"]: one["name"].rsplit("/", 1)[1]
               for one in server.get(CUSTOM)["customJobs"]}
    tap.equal(names(filter="name=mine OR name=" + numbers["once"]),
              ["mine", "once"])
    tap.equal(names(filter="name!=mine AND name!=" + numbers["once"]),
              ["bad"])
    tap.equal(names(filter='create_time<"2020-01-01T00:00:00Z"'), [])
    shown = server.get(CUSTOM + "?readMask=display_name&pageSize=1")
    tap.equal(shown["customJobs"], [{"displayName": "mine"}])
    behind = server.get(CUSTOM + "?pageToken=" + shown["nextPageToken"])
    tap.equal(len(behind["customJobs"]), 2)
    for wrong in ("filter=state", "readMask=,", "pageToken=x"):
        tap.equal(server.call("GET", CUSTOM + "?" + wrong)[0], 400, wrong)


def the_end_is_changed_and_changed_back():
    server.call("POST", api.JOBS, api.job("ends", maxTrialCount=500))
    path = api.OURS + "/studies/ends"
    before = server.get(path)
    config = {"maxNumTrialsNoProgress": 400, "shouldStopAsap": True}
    status, made = server.call("PATCH", path, {"studyStoppingConfig": config,
                                               "target": 1e9})
    tap.equal(status, 200, made)
    tap.equal((made["studySpec"]["studyStoppingConfig"], made["maxTrialCount"],
               made["hypertune"]["target"]), (config, 500, 1e9))
    status, wrong = server.call(
        "PATCH", path, {"studyStoppingConfig": {"maxNumTrialsNoProgress": -1}})
    fields = wrong["error"]["details"][0]["fieldViolations"]
    tap.equal((status, fields[0]["field"]),
              (400, "studySpec.studyStoppingConfig.maxNumTrialsNoProgress"))
    status, made = server.call("PATCH", path, {"studyStoppingConfig": None,
                                               "target": None})
    tap.equal((status, made["studySpec"], made["hypertune"]),
              (200, before["studySpec"], before["hypertune"]))
    server.call("PATCH", path, {"studyStoppingConfig": {
        "maximumRuntimeConstraint": {"maxDuration": "0.001s"}}})
    job = ended(path)
    tap.equal(job["hypertuneStatus"]["reason"].count("its time of 1ms"), 1)


def records_come_in_pages():
    script = "for i in 1 2 3 4 5; do echo acc=0.$i step=$i; done"
    job = api.job("records", maxTrialCount=2)
    job["studySpec"]["metrics"][0]["metricId"] = "acc"
    job["hypertune"]["stdoutPatterns"] = ["acc={acc} step={step}"]
    job["trialJobSpec"]["workerPoolSpecs"][0]["containerSpec"] = {
        "command": ["sh", "-c", script]}
    tap.equal(server.call("POST", api.JOBS, job)[0], 200)
    tap.equal(ended(api.JOBS + "/records")["state"], "JOB_STATE_SUCCEEDED")
    path = api.OURS + "/studies/records/measurements"

    def walk(query):
        got, token = [], ""
        while token is not None:
            page = server.get("%s?pageSize=3%s%s" % (
                path, query, token and "&pageToken=" + token))
            tap.true(len(page["measurements"]) <= 3, len(page["measurements"]))
            got += [(one["trial"], int(one["step"]))
                    for one in page["measurements"]]
            token = page.get("nextPageToken")
        return got
    steps = [(1, step) for step in range(1, 6)]
    tap.equal(walk("&trial=1"), steps)
    tap.equal(walk(""), steps + [(2, step) for step in range(1, 6)])
    for wrong in ("x", "1", "1.x", "0.1", "1.-1", "2.0&trial=1"):
        tap.equal(server.call("GET", path + "?pageToken=" + wrong)[0], 400,
                  wrong)


def a_damaged_spec_hides_no_others():
    server.kill()
    with pages.changing(server.data + "/hypertune.db") as base:
        base.execute("UPDATE studies SET spec='{' WHERE name='once'")
    server.start()
    jobs = server.get(CUSTOM)["customJobs"]
    tap.equal(sorted(one["displayName"] for one in jobs),
              ["bad", "mine", "once"])
    once = [one for one in jobs if one["displayName"] == "once"][0]
    tap.equal((once["state"], once["error"]["code"]),
              ("JOB_STATE_SUCCEEDED", 15))
    tap.contains("damage", once["hypertuneStatus"])
    tap.equal(server.get(CUSTOM + "/once")["error"], once["error"])
    tap.equal(server.call("DELETE", CUSTOM + "/once")[0], 200)


def a_name_that_is_taken_gets_a_number():
    """Also where someone has given the number that comes next."""
    path = CUSTOM.replace("locations/", "locations/taken-")

    def made(**ours):
        status, answer = server.call("POST", path, custom(
            "same", "true", hypertune=ours))
        tap.equal(status, 200, answer)
        return (answer["hypertune"]["name"],
                int(answer["name"].rsplit("/", 1)[1]))
    names = [made() for _ in range(9)]
    tap.equal([name for name, _ in names],
              ["same"] + ["same-%d" % n for n in range(2, 10)])
    number = names[-1][1]
    made(name="same-%d" % (number + 2))
    tap.equal(made(), ("same-%d" % (number + 3), number + 2))


with harness.Server(slots=2) as server:
    tap.run([
        a_custom_job_succeeds_by_its_exit_code,
        a_custom_job_that_fails_says_why_and_may_be_tried_again,
        kinds_do_not_see_each_other,
        a_cancelled_custom_job_says_so_and_is_deleted,
        lists_are_filtered_masked_and_paged,
        the_end_is_changed_and_changed_back,
        records_come_in_pages,
        a_name_that_is_taken_gets_a_number,
        a_damaged_spec_hides_no_others,
    ])
