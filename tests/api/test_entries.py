"""Log entries: what jobs printed and what happened to them, as Cloud Logging's
entries:list has it. A fake runner takes images and says what trials print."""

import re

import aip
import api
import tap
from aip import IMAGE, SEARCH

LIST = "/v2/entries:list"
VERTEX = "/v1/projects/p/locations/us-central1/"
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$")

server = None
runner = None


def ask(filter="", project="p", **more):
    body = {"resourceNames": ["projects/" + project], "filter": filter,
            "pageSize": 1000}
    body.update(more)
    return server.call("POST", LIST, body)


def entries(filter="", **more):
    status, answer = ask(filter, **more)
    tap.equal(status, 200, answer)
    assert "nextPageToken" not in answer, answer
    return answer["entries"]


def of(job, more="", **options):
    """The entries of a job, without those of the service."""
    return entries('resource.labels.job_id="%s" NOT '
                   'resource.labels.task_name=service %s' % (job, more),
                   **options)


def text(entry):
    return entry.get("textPayload", entry.get("jsonPayload"))


def texts(found):
    return [text(entry) for entry in found]


def key(entry):
    return entry["timestamp"], entry["insertId"]


def started(name, **changes):
    """A job whose only attempt runs."""
    server.plain(name, **changes)
    return runner.one().started()


def an_entry_has_what_google_gives_it():
    attempt = started("whole", hyperparameters=dict(SEARCH, maxTrials=1))
    attempt.say("hello\n").ended("succeeded", exit=0)
    entry, = of("whole")
    assert STAMP.match(entry["timestamp"]), entry
    assert re.match("[0-9a-f]{43}$", entry["insertId"]), entry
    tap.equal({name: value for name, value in entry.items()
               if name not in ("timestamp", "receiveTimestamp", "insertId")},
              {"severity": "INFO",
               "logName": "projects/p/logs/master-replica-0",
               "resource": {"type": "ml_job", "labels": {
                   "job_id": "whole", "project_id": "p",
                   "task_name": "master-replica-0"}},
               "labels": {"ml.googleapis.com/job_id": "whole",
                          "ml.googleapis.com/task_name": "master-replica-0",
                          "ml.googleapis.com/trial_id": "1", "trial_id": "1",
                          "attempt": "1", "stream": "stdout"},
               "textPayload": "hello"})
    tap.equal(entry["receiveTimestamp"], entry["timestamp"])


def a_line_is_an_entry_whatever_the_chunks():
    attempt = started("lines")
    attempt.say("one\ntw").say("o\r\n\nthr").say("e").say("e\nla").say("st")
    tap.equal(texts(of("lines")), ["one", "two", "", "three"])
    attempt.ended("succeeded", exit=0)
    found = of("lines")
    tap.equal(texts(found), ["one", "two", "", "three", "last"])
    tap.equal(sorted(found, key=key), found)
    tap.equal(len({entry["insertId"] for entry in found}), 5)
    assert all("trial_id" not in entry["labels"] for entry in found), found


def what_was_not_kept_is_counted():
    attempt = started("gaps")
    attempt.say("begin\ncut o").lose(1000).say("ff\nend\n")
    attempt.ended("succeeded", exit=0)
    tap.equal([(text(entry), entry["severity"]) for entry in of("gaps")],
              [("begin", "INFO"), ("cut o", "INFO"),
               ("(1000 bytes of this log were not kept)", "WARNING"),
               ("ff", "INFO"), ("end", "INFO")])


def a_line_without_an_end_is_cut():
    attempt = started("long")
    for _ in range(3):
        attempt.say("x" * 50000)
    attempt.say("\n").ended("succeeded", exit=0)
    tap.equal([len(one) for one in texts(of("long"))], [65536, 65536, 18928])


def severities_come_from_the_stream_or_the_line():
    attempt = started("severe")
    attempt.say("plain\n").say("bad\n", "stderr").say("pulled\n", "runner")
    attempt.say('{"severity": "warning", "message": "hot", "step": 3}\n'
                '{"severity": "LOUD", "message": "odd"}\n'
                '{"severity": "ERROR", "text": "no message"}\n'
                '{"message": 3}\n{broken}\n')
    attempt.ended("succeeded", exit=0)
    tap.equal([(entry["severity"], text(entry)) for entry in of("severe")],
              [("INFO", "plain"), ("ERROR", "bad"), ("INFO", "pulled"),
               ("WARNING", {"message": "hot", "step": 3}),
               ("INFO", {"severity": "LOUD", "message": "odd"}),
               ("INFO", '{"severity": "ERROR", "text": "no message"}'),
               ("INFO", '{"message": 3}'), ("INFO", "{broken}")])
    tap.equal(texts(of("severe", "severity>=WARNING")),
              ["bad", {"message": "hot", "step": 3}])
    tap.equal(texts(of("severe", "jsonPayload.step=3")),
              [{"message": "hot", "step": 3}])
    tap.equal(len(of("severe", "jsonPayload.message:*")), 2)


def tasks_are_named_as_the_job_was_asked_for():
    worker = dict(workerConfig=IMAGE, workerCount="2", workerType="large_model",
                  parameterServerConfig=IMAGE, parameterServerCount="1",
                  parameterServerType="large_model", scaleTier="CUSTOM",
                  masterType="large_model")
    attempt = started("team", **worker)
    for replica in ("master-0", "worker-0", "worker-1", "ps-0"):
        attempt.say("x\n", replica=replica)
    attempt.ended("succeeded", exit=0)
    number = server.get(api.OURS + "/studies/team")["name"].rsplit("/", 1)[1]

    def tasks(job):
        return [(entry["resource"]["labels"]["job_id"],
                 entry["resource"]["labels"]["task_name"])
                for entry in of(job)]
    tap.equal(tasks("team"),
              [("team", "master-replica-0"), ("team", "worker-replica-0"),
               ("team", "worker-replica-1"), ("team", "ps-replica-0")])
    tap.equal([task for _, task in tasks(number)],
              ["workerpool0-0", "workerpool1-0", "workerpool1-1",
               "workerpool2-0"])
    tap.equal({job for job, _ in tasks(number)}, {number})
    # No one asked for it by an id: as the API that made it.
    tap.equal({entry["resource"]["labels"]["task_name"] for entry in entries(
        "labels.\"ml.googleapis.com/task_name\"=(\"worker-replica-1\" OR "
        "workerpool1-1)")}, {"worker-replica-1"})
    for task in ("resource.labels.task_name=\"worker-replica-1\"",
                 "(resource.labels.task_name=\"worker-replica-1\" OR "
                 "labels.task_name=\"worker-replica-1\")",
                 "logName=\"projects/p/logs/worker-replica-1\""):
        tap.equal(len(of("team", task)), 1, task)


def the_service_says_what_happens_to_a_job():
    job = api.job("told", maxTrialCount=2)
    job["hypertune"]["retries"] = 0
    job["trialJobSpec"]["workerPoolSpecs"][0]["containerSpec"] = IMAGE
    tap.equal(server.call("POST", VERTEX + "hyperparameterTuningJobs", job)[0],
              200)
    runner.one().fail(3)
    runner.one().succeed(0.5)
    found = entries('resource.labels.job_id="told" '
                    'resource.labels.task_name="service"')
    tap.equal([(entry["severity"], text(entry)) for entry in found
               if entry["severity"] != "WARNING"],
              [("INFO", "The job is queued"), ("INFO", "Trial 1 is started"),
               ("ERROR", "Trial 1 has failed: exit 3"),
               ("INFO", "Trial 2 is started"),
               ("INFO", "Trial 2 has succeeded"),
               ("INFO", "The job has succeeded: all 2 trials have ended")])
    tap.equal([entry["labels"].get("trial_id") for entry in found
               if entry["severity"] != "WARNING"],
              [None, "1", "1", "2", "2", None])
    tap.equal({entry["logName"] for entry in found},
              {"projects/p/logs/service"})


def the_run_of_a_custom_job_is_no_trial():
    tap.equal(server.call("POST", VERTEX + "customJobs", {
        "displayName": "only", "hypertune": {"name": "only", "retries": 1},
        "jobSpec": {"workerPoolSpecs": [{"replicaCount": 1,
                                         "containerSpec": IMAGE}]}})[0], 200)
    runner.one().fail(9)
    runner.one().fail(9)
    found = entries('resource.labels.job_id="only"')
    tap.equal([(entry["severity"], text(entry)) for entry in found
               if "workerPoolSpecs" not in text(entry)],
              [("INFO", "The job is queued"), ("INFO", "The run is started"),
               ("WARNING", "The run starts again later: exit 9; retry 1 of 1 "
                "after 1s"),
               ("INFO", "The run is started (attempt 2)"),
               ("ERROR", "The run has failed: exit 9"),
               ("ERROR", "The job has failed: exit 9")])
    assert all("trial_id" not in entry["labels"] for entry in found), found


def warnings_are_entries_too():
    server.plain("warned", network="projects/p/global/networks/n")
    found = entries('resource.labels.job_id="warned" severity=WARNING')
    assert any("network" in one for one in texts(found)), found
    tap.equal({entry["resource"]["labels"]["task_name"] for entry in found},
              {"service"})
    runner.one().started().ended("succeeded", exit=0)


def filters_choose_entries():
    server.plain("chosen", hyperparameters=dict(SEARCH, maxTrials=2))
    for number in (1, 2):
        attempt = runner.one().started()
        attempt.say("Epoch 1 of trial %d\nEpoch 2\n" % number)
        attempt.say("NaN\n", "stderr").report(0.5)
        attempt.ended("succeeded", exit=0)
    last = of("chosen")[-1]
    for more, wanted in [
            ("", 6), ("epoch", 4), ('"epoch 1"', 2), ("Epoch -\"epoch 2\"", 2),
            ('labels."ml.googleapis.com/trial_id"="2"', 3),
            ("labels.trial_id=2 severity=ERROR", 1),
            ("textPayload=~\"^Epoch [0-9]$\"", 2),
            ("textPayload!~\"^Epoch\"", 2), ("nan OR \"trial 2\"", 3),
            ("labels.stream=stderr", 2), ("resource.type=cloudml_job", 0),
            ("resource.labels.project_id=p", 6),
            ('timestamp<"%s"' % last["timestamp"], 5),
            ('timestamp>="%s"' % last["timestamp"], 1),
            ('insertId>="%s"' % last["insertId"], 1),
            ("timestamp<2020-01-01", 0), ("timestamp>2100-01-01", 0),
            ("timestamp>2100-01-01 timestamp<2020-01-01", 0)]:
        tap.equal(len(of("chosen", more)), wanted, more)
    tap.equal(len(entries("resource.labels.job_id=absent")), 0)


def pages_follow_each_other_in_both_orders():
    asked = 'resource.labels.job_id="chosen"'
    whole = entries(asked)
    assert len(whole) > 10, whole
    for order, wanted in (("timestamp asc", whole), ("timestamp", whole),
                          ("timestamp desc", whole[::-1])):
        for size in (1, 2, 7, len(whole)):
            got, token = [], ""
            while token is not None:
                status, page = ask(asked, orderBy=order, pageSize=size,
                                   pageToken=token)
                tap.equal(status, 200, page)
                assert len(page["entries"]) <= size, page
                got += page["entries"]
                token = page.get("nextPageToken")
            tap.equal(got, wanted, (order, size))
    tap.equal(len(ask(asked)[1]["entries"]), len(whole))


def a_token_goes_with_its_question():
    asked = 'resource.labels.job_id="chosen"'
    token = ask(asked, pageSize=2)[1]["nextPageToken"]
    for what, body in [("another filter", {"filter": asked + " nan"}),
                       ("another order", {"orderBy": "timestamp desc"}),
                       ("another project", {"resourceNames": ["projects/q"]}),
                       ("no token", {"pageToken": "1"}),
                       ("a changed one", {"pageToken": token[:-1] + "g"})]:
        status, answer = ask(**dict({"filter": asked, "pageToken": token},
                                    **body))
        tap.equal((status, violations(answer)), (400, ["pageToken"]), what)


def who_polls_as_gcloud_does_misses_nothing():
    attempt = started("polled")
    got = []
    asked = ('(resource.type="ml_job" OR resource.type="cloudml_job") AND '
             'resource.labels.job_id="polled"')
    for number in range(20):
        attempt.say("line %d\n" % number * (1 + number % 3))
        later = ""
        if got:
            stamp, last = key(got[-1])
            later = (' AND ((timestamp="%s" AND insertId>"%s") OR '
                     'timestamp>"%s")' % (stamp, last, stamp))
        got += entries(asked + later)
    attempt.ended("succeeded", exit=0)
    wanted = ["line %d" % number for number in range(20)
              for _ in range(1 + number % 3)]
    tap.equal([one for one in texts(got) if one.startswith("line")], wanted)
    tap.equal(got, entries(asked)[:len(got)])


def without_a_job_all_of_the_project_are_merged():
    server.plain("left")
    server.plain("right")
    left, right = runner.one().started(), runner.one().started()
    for number in range(3):
        left.say("left %d\n" % number)
        right.say("right %d\n" % number)
    for attempt in (left, right):
        attempt.ended("succeeded", exit=0)
    tap.equal(texts(entries("textPayload=~\"^(left|right) [0-9]\"")),
              ["left 0", "right 0", "left 1", "right 1", "left 2", "right 2"])
    tap.equal(len(entries("", project="q")), 0)
    tap.equal(entries("", resourceNames=["projects/q", "projects/p"]),
              entries())
    tap.equal(entries("", resourceNames=["projects/p", "projects/p"]),
              entries())
    tap.equal(entries("", resourceNames=[], projectIds=["p"]), entries())
    tap.equal(sorted(entries(), key=key), entries())


def violations(answer):
    return [one["field"] for detail in answer["error"].get("details", [])
            for one in detail["fieldViolations"]]


def a_wrong_question_is_refused_by_field():
    for body, fields in [
            ({}, ["resourceNames"]),
            ({"resourceNames": []}, ["resourceNames"]),
            ({"resourceNames": ["folders/1"]}, ["resourceNames[0]"]),
            ({"resourceNames": ["projects/p", "projects/p/locations/l/buckets/"
                                "b/views/v"]}, ["resourceNames[1]"]),
            ({"resourceNames": ["projects/"]}, ["resourceNames[0]"]),
            ({"resourceNames": "projects/p"}, ["resourceNames"]),
            ({"resource_names": ["projects/p"]}, ["resource_names"]),
            ({"orderBy": "severity"}, ["orderBy"]),
            ({"pageSize": -1}, ["pageSize"]),
            ({"pageSize": "many"}, ["pageSize"]),
            ({"filter": "colour=red"}, ["filter"]),
            ({"filter": "severity>=LOUD"}, ["filter"]),
            ({"filter": "timestamp>noon"}, ["filter"]),
            ({"filter": "textPayload=~\"[\""}, ["filter"]),
            ({"filter": "x " * 11000}, ["filter"]),
            ({"filter": 3}, ["filter"]),
            ({"filter": "(", "orderBy": "x", "bogus": 1}, None)]:
        if "resourceNames" not in body and "resource_names" not in body and \
                body:
            body["resourceNames"] = ["projects/p"]
        status, answer = server.call("POST", LIST, body)
        tap.equal(status, 400, body)
        if fields is not None:
            tap.equal(violations(answer), fields, body)
    tap.equal(api.send(server, "POST", LIST, b"").status, 400)
    tap.equal(api.ask(server, "GET", LIST).status, 405)


def an_endless_expression_is_refused():
    started("endless").say("a" * 5000 + "!\n").ended("succeeded", exit=0)
    name = 'resource.labels.job_id="endless" AND textPayload=~"%s"'
    tap.equal(len(entries(name % "^a+!$")), 1)
    status, answer = ask(name % "^(a+)+$")
    tap.equal((status, "too long" in answer["error"]["message"]),
              (400, True), answer)


def a_deleted_job_has_no_entries():
    assert of("lines")
    tap.equal(server.call("DELETE", api.OURS + "/studies/lines")[0], 200)
    tap.equal(entries("resource.labels.job_id=lines"), [])
    tap.equal([one for one in texts(entries()) if one == "three"], [])


def entries_are_the_same_after_a_restart():
    global runner
    before = entries()
    server.stop()
    server.start()
    tap.equal(entries(), before)
    with server.runner("later") as runner:
        started("after").say("later\n").ended("succeeded", exit=0)
    found = entries()
    tap.equal(found[:len(before)], before)
    tap.equal(texts(of("after")), ["later"])


with aip.Server() as server, server.runner() as runner:
    tap.run([
        an_entry_has_what_google_gives_it,
        a_line_is_an_entry_whatever_the_chunks,
        what_was_not_kept_is_counted,
        a_line_without_an_end_is_cut,
        severities_come_from_the_stream_or_the_line,
        tasks_are_named_as_the_job_was_asked_for,
        the_service_says_what_happens_to_a_job,
        the_run_of_a_custom_job_is_no_trial,
        warnings_are_entries_too,
        filters_choose_entries,
        pages_follow_each_other_in_both_orders,
        a_token_goes_with_its_question,
        who_polls_as_gcloud_does_misses_nothing,
        without_a_job_all_of_the_project_are_merged,
        a_wrong_question_is_refused_by_field,
        an_endless_expression_is_refused,
        a_deleted_job_has_no_entries,
        entries_are_the_same_after_a_restart,
    ])
