"""Studies over HTTP: made, listed, changed, ended. No runner is needed."""

import api
import harness
import tap
from vizier import Study

server = None


def create(name, status=200, **changes):
    got, answer = server.call("POST", api.JOBS, api.job(name, **changes))
    tap.equal(got, status, answer)
    return answer


def state_of(name):
    return server.study(name)["state"]


def a_new_study_is_shown_as_a_vertex_job():
    made = create("digits", labels={"team": "vision"})
    number = made["name"].rsplit("/", 1)[1]
    tap.equal(made["name"], api.JOBS[4:] + "/" + number)
    tap.equal(made["displayName"], "digits")
    tap.equal(made["state"], "JOB_STATE_PENDING")
    tap.equal(made["labels"], {"team": "vision"})
    tap.equal(made["studySpec"]["algorithm"], "RANDOM_SEARCH")
    tap.equal(made["maxTrialCount"], 3)
    status = made["hypertuneStatus"]
    tap.equal((status["name"], status["state"], status["seed"]),
              ("digits", "RUNNING", "1"))
    tap.lacks("best", status)
    tap.equal(sorted(status["counts"]), [
        "active", "cancelled", "failed", "infeasible", "paused", "requested",
        "stopped", "stopping", "succeeded"])
    for path in (api.JOBS + "/digits", api.JOBS + "/" + number,
                 "/v1beta1" + api.JOBS[3:] + "/digits"):
        tap.equal(server.get(path)["name"], made["name"], path)


def an_unnamed_algorithm_is_resolved_once_and_kept():
    unnamed = api.job("unnamed")
    del unnamed["studySpec"]["algorithm"]
    status, made = server.call("POST", api.JOBS, unnamed)
    chosen = made["hypertuneStatus"]["algorithm"]
    named = made["studySpec"].get("algorithm")
    tap.equal((status, chosen), (200, "BAYESIAN_SEARCH"))
    path = api.OURS + "/studies/unnamed"
    status, changed = server.call(
        "PATCH", path, {"job": dict(unnamed, maxTrialCount=5)})
    tap.equal((status, changed["maxTrialCount"],
               changed["hypertuneStatus"]["algorithm"],
               changed["studySpec"].get("algorithm")),
              (200, 5, chosen, named))
    unnamed["studySpec"]["algorithm"] = "GRID_SEARCH"
    unnamed["studySpec"]["parameters"][0] = {
        "parameterId": "lr", "discreteValueSpec": {"values": [1, 2]}}
    tap.equal(server.call("PATCH", path, {"job": unnamed})[0], 409)


def trials_are_suggested_and_shown():
    harness.wait_until(lambda: server.trials("digits"), "a trial")
    trial = server.trial("digits", 1)
    value = trial["parameters"][0]["value"]
    tap.equal(trial["parameters"], [{"parameterId": "lr", "value": value}])
    tap.true(0.1 <= value <= 1, value)
    tap.equal((trial["id"], trial["state"]), ("1", "REQUESTED"))
    own = trial["hypertune"]
    tap.equal(own["params"], {"lr": value})
    # The text reads back to the same bits.
    tap.equal(float(own["args"][0].split("=")[1]), value)
    tap.equal((own["attempts"], trial["measurements"]), ([], []))
    job = server.get(api.JOBS + "/digits")
    tap.equal(job["trials"][0]["parameters"], trial["parameters"])
    basic = server.get(api.JOBS + "/digits?view=BASIC")
    tap.lacks("trials", basic)
    study = server.get(api.STUDIES + "/digits")
    tap.equal((study["state"], study["displayName"]), ("ACTIVE", "digits"))
    tap.equal(study["studySpec"], job["studySpec"])


def what_does_not_exist_is_not_found():
    for path in (api.JOBS + "/none", api.JOBS + "/999999",
                 api.JOBS + "/99999999999999999999", api.JOBS + "/-1",
                 api.STUDIES + "/none/trials", api.STUDIES + "/digits/trials/9",
                 api.STUDIES + "/digits/trials/x",
                 "/v1/projects/other/locations/local/studies/digits",
                 api.OURS + "/studies/digits/measurements?trial=9",
                 api.OURS + "/studies/digits/trials/1/logs"):
        status, answer = server.call("GET", path)
        tap.equal((status, answer["error"]["status"]), (404, "NOT_FOUND"),
                  path)
    status, answer = server.call("GET", api.OURS + "/studies/digits/best")
    tap.equal((status, answer), (404, {"error": {
        "code": 404, "status": "NOT_FOUND",
        "message": 'study "digits" has no succeeded trial yet '
                   '(0 running, 1 waiting)'}}))


def a_name_is_taken_once():
    answer = create("digits", 409)
    tap.equal(answer["error"]["status"], "ALREADY_EXISTS")


def a_wrong_job_names_every_wrong_field():
    wrong = api.job("wrong", maxTrialCount=0, colour="red")
    del wrong["trialJobSpec"]
    status, answer = server.call("POST", api.JOBS, wrong)
    error = answer["error"]
    tap.equal((status, error["code"], error["status"]),
              (400, 400, "INVALID_ARGUMENT"))
    detail, = error["details"]
    tap.equal(detail["@type"], "type.googleapis.com/google.rpc.BadRequest")
    tap.equal(sorted(item["field"] for item in detail["fieldViolations"]),
              ["colour", "maxTrialCount", "trialJobSpec"])
    for item in detail["fieldViolations"]:
        tap.equal(sorted(item), ["description", "field"])
    tap.equal(server.call("GET", api.JOBS + "/wrong")[0], 404)


def a_study_is_paused_resumed_and_stopped():
    create("life")
    path = api.OURS + "/studies/life"
    for verb, state in (("pause", "PAUSED"), ("resume", "RUNNING")):
        status, answer = server.call("POST", path + ":" + verb)
        tap.equal((status, answer["hypertuneStatus"]["state"]), (200, state))
        tap.equal(state_of("life"), state)
    tap.equal(server.call("POST", path + ":stop")[0], 200)
    harness.wait_until(lambda: state_of("life") == "STOPPED", "the stop")
    kinds = [event["kind"] for event in server.get(path + "/events")["events"]]
    tap.equal(kinds[0], "study.created")
    tap.contains("study.moved", kinds)


def events_have_no_gap_and_continue_where_asked():
    path = api.OURS + "/studies/life/events"
    every = server.get(path)
    revisions = [event["revision"] for event in every["events"]]
    tap.equal(revisions, list(range(1, every["revision"] + 1)))
    since = server.get(path + "?since=2&limit=1")
    tap.equal([event["revision"] for event in since["events"]], [3])
    tap.equal(server.get(path + "?since=%d" % every["revision"])["events"], [])
    for query in ("since=-1", "since=x", "limit=0", "limit=9999"):
        tap.equal(server.call("GET", path + "?" + query)[0], 400, query)


def a_study_is_cancelled_and_deleted():
    create("gone")
    path = api.JOBS + "/gone"
    status, answer = server.call("DELETE", path)
    tap.equal((status, answer["error"]["status"]),
              (400, "FAILED_PRECONDITION"))
    tap.equal(server.call("POST", path + ":cancel"), (200, {}))
    harness.wait_until(lambda: state_of("gone") == "CANCELLED", "its end")
    tap.equal(server.get(path)["state"], "JOB_STATE_CANCELLED")
    status, answer = server.call("DELETE", path)
    tap.equal((status, answer["done"]), (200, True))
    tap.equal(server.call("GET", path)[0], 404)
    create("gone")
    tap.equal(server.call("POST", path + ":cancel")[0], 200)


def a_change_is_made_whole_or_not_at_all():
    create("change")
    path = api.OURS + "/studies/change"
    status, answer = server.call("PATCH", path, {"maxTrialCount": 60,
                                                 "parallelTrialCount": 4})
    tap.equal((status, answer["maxTrialCount"], answer["parallelTrialCount"]),
              (200, 60, 4))
    for wrong in ({"maxTrialCount": 70, "parallelTrialCount": 0},
                  {"maxTrialCount": 70, "colour": "red"},
                  {"maxTrialCount": "many"}):
        tap.equal(server.call("PATCH", path, wrong)[0], 400, wrong)
    tap.equal(server.get(api.JOBS + "/change")["maxTrialCount"], 60)


def a_budget_below_what_was_made_is_refused():
    create("spent", maxTrialCount=4, parallelTrialCount=3)
    path = api.OURS + "/studies/spent"
    harness.wait_until(lambda: len(server.trials("spent")) == 3, "trials")
    whole = api.job("spent", maxTrialCount=2, parallelTrialCount=3)
    for body in ({"maxTrialCount": 2}, {"maxTrialCount": 1,
                                        "parallelTrialCount": 1},
                 {"job": whole}):
        status, answer = server.call("PATCH", path, body)
        error = answer["error"]
        most = body.get("maxTrialCount", 2)
        tap.equal((status, error["status"], error["details"][0][
            "fieldViolations"]), (400, "INVALID_ARGUMENT", [
                {"field": "maxTrialCount", "description":
                 "%d is below the 3 trials that study spent has made" %
                 most}]))
    job = server.get(api.JOBS + "/spent")
    tap.equal((job["maxTrialCount"], job["parallelTrialCount"]), (4, 3))
    status, answer = server.call("PATCH", path, {"maxTrialCount": 3})
    tap.equal((status, answer["maxTrialCount"]), (200, 3))
    # It ends with the trials that there are.
    tap.equal(state_of("spent"), "RUNNING")
    tap.equal(server.call("PATCH", path, {"maxTrialCount": "+4"})[0], 400)


def clients_studies_have_a_budget_as_well():
    study = Study(server, studyStoppingConfig={"maxNumTrials": 9})
    path = api.OURS + "/studies/" + study.name.rsplit("/", 1)[1]
    study.suggest(3)
    for body in ({"maxTrialCount": 2},
                 {"studyStoppingConfig": {"maxNumTrials": 2}}):
        tap.equal(study.refused("PATCH", path, body),
                  (400, "INVALID_ARGUMENT", ["maxTrialCount"]))
    study.good("PATCH", path, {"maxTrialCount": 3})
    for trial in study.suggest(3)["trials"]:
        study.complete("/v1/" + trial["name"], 1)
    harness.wait_until(lambda: study.state() == "COMPLETED", "its end")


def more_at_a_time_reopen_nothing():
    create("halted", maxTrialCount=4)
    path = api.OURS + "/studies/halted"
    server.call("POST", path + ":stop")
    harness.wait_until(lambda: state_of("halted") == "STOPPED", "the stop")
    status, answer = server.call("PATCH", path, {"parallelTrialCount": 4})
    tap.equal((status, answer["parallelTrialCount"],
               answer["hypertuneStatus"]["state"]), (200, 4, "STOPPED"))
    status, answer = server.call("PATCH", path, {"maxTrialCount": 5})
    tap.equal((status, answer["hypertuneStatus"]["state"]), (200, "RUNNING"))


def pages(path, key, size):
    found, token = [], ""
    while True:
        answer = server.get("%s?pageSize=%d%s" % (
            path, size, "&pageToken=" + token if token else ""))
        tap.true(len(answer[key]) <= size, (len(answer[key]), size))
        found.append([item["name"] for item in answer[key]])
        token = answer.get("nextPageToken", "")
        if not token:
            return found


def lists_come_in_pages_newest_first():
    path = "/v1/projects/pages/locations/l/hyperparameterTuningJobs"
    for i in range(7):
        tap.equal(server.call("POST", path, api.job("p%d" % i))[0], 200)
    found = pages(path, "hyperparameterTuningJobs", 3)
    tap.equal([len(page) for page in found], [3, 3, 1])
    names = [name for page in found for name in page]
    numbers = [int(name.rsplit("/", 1)[1]) for name in names]
    tap.equal(numbers, sorted(set(numbers), reverse=True))
    tap.equal(len(pages(path, "hyperparameterTuningJobs", 7)), 1)
    first = server.get(path)["hyperparameterTuningJobs"]
    tap.equal((len(first), first[0]["displayName"]), (7, "p6"))
    tap.lacks("trials", first[0])
    for query in ("pageSize=-1", "pageSize=x", "pageToken=x", "pageToken=0"):
        tap.equal(server.call("GET", path + "?" + query)[0], 400, query)


def lists_are_filtered():
    def names(condition):
        return [item["displayName"] for item in server.get(
            api.JOBS + "?filter=" + condition)["hyperparameterTuningJobs"]]
    tap.equal(names("displayName%3D%22life%22"), ["life"])
    tap.equal(names("display_name=%22life%22"), ["life"])
    tap.equal(names("state%3D%22JOB_STATE_CANCELLED%22"), ["gone"])
    tap.equal(names("state=RUNNING%20AND%20displayName=%22digits%22"),
              ["digits"])
    tap.equal(names("state=RUNNING%20AND%20displayName=%22life%22"), [])
    for wrong in ("colour=%22red%22", "state", "state=%22x", "a%20OR%20b"):
        tap.equal(server.call("GET", api.JOBS + "?filter=" + wrong)[0], 400,
                  wrong)


def trials_come_in_pages_by_id():
    create("wide", maxTrialCount=5, parallelTrialCount=5)
    harness.wait_until(lambda: len(server.trials("wide")) == 5, "trials")
    found = pages(api.STUDIES + "/wide/trials", "trials", 2)
    tap.equal([[name.rsplit("/", 1)[1] for name in page] for page in found],
              [["1", "2"], ["3", "4"], ["5"]])
    tap.equal(server.get(api.STUDIES + "/wide/trials?filter=state=SUCCEEDED"),
              {"trials": []})


def names_and_values_may_be_any_text():
    text = 'd\u00e9j\u00e0 "vu" \\ <script> \U0001f600'
    label = "d\u00e9j\u00e0_vu"
    create("text", displayName=text, labels={"k": label})
    job = server.get(api.JOBS + "/text")
    tap.equal((job["displayName"], job["labels"]), (text, {"k": label}))


def the_server_tells_about_itself():
    facts = server.get(api.OURS + "/server")
    tap.equal((facts["http"], facts["report"]), (server.http, server.report))
    tap.starts(facts["control"], "tcp://127.0.0.1:")
    tap.equal((facts["readOnly"], len(facts["server"])), (False, 8))
    tap.true(facts["studies"] > 5 and facts["uptimeMs"] >= 0)
    tap.equal(server.get(api.OURS + "/runners"), {"runners": []})
    tap.equal(server.get(api.OURS + "/studies/digits/measurements"),
              {"measurements": []})


def all_of_it_is_there_after_a_crash():
    before = server.get(api.JOBS)
    trials = server.trials("wide")
    server.kill()
    server.start()
    after = server.get(api.JOBS)
    tap.equal([item["name"] for item in after["hyperparameterTuningJobs"]],
              [item["name"] for item in before["hyperparameterTuningJobs"]])
    tap.equal(server.trials("wide"), trials)


with harness.Server("--runner", "none") as server:
    tap.run([
        a_new_study_is_shown_as_a_vertex_job,
        an_unnamed_algorithm_is_resolved_once_and_kept,
        trials_are_suggested_and_shown,
        what_does_not_exist_is_not_found,
        a_name_is_taken_once,
        a_wrong_job_names_every_wrong_field,
        a_study_is_paused_resumed_and_stopped,
        events_have_no_gap_and_continue_where_asked,
        a_study_is_cancelled_and_deleted,
        a_change_is_made_whole_or_not_at_all,
        a_budget_below_what_was_made_is_refused,
        clients_studies_have_a_budget_as_well,
        more_at_a_time_reopen_nothing,
        lists_come_in_pages_newest_first,
        lists_are_filtered,
        trials_come_in_pages_by_id,
        names_and_values_may_be_any_text,
        the_server_tells_about_itself,
        all_of_it_is_there_after_a_crash,
    ])
