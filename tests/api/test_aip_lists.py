"""AI Platform's jobs in lists: pages, their order, filters."""

import urllib.parse

import aip
import harness
import tap
from aip import JOBS, PLAIN

server = None

class Project:
    """Jobs of their own project, the newest first."""

    def __init__(self, name, jobs):
        self.path = "/v1/projects/%s/jobs" % name
        self.names = ["%s_%02d" % (name, i) for i in range(jobs)][::-1]
        for made in reversed(self.names):
            self.add(made)

    def add(self, name):
        server.good("POST", self.path, {"jobId": name, "trainingInput": PLAIN})

    def page(self, query):
        answer = server.get(self.path + "?" + query)
        return ([shown["jobId"] for shown in answer["jobs"]],
                answer.get("nextPageToken"))


def filters_see_what_is_preparing():
    server.plain("pulling")
    with server.runner() as one:
        attempt = one.one()
        tap.equal(server.matching("state=PREPARING"), ["pulling"])
        attempt.started()
        tap.equal((server.matching("state=PREPARING"),
                   server.matching("jobId=pulling AND state=RUNNING")),
                  ([], ["pulling"]))
        attempt.ended("succeeded", exit=0)
    server.wait_job("pulling", "SUCCEEDED")


def pages_of_any_size_hold_every_job_once():
    project = Project("paged", 23)
    for size in (1, 2, 20):
        found, token = [], ""
        while token is not None:
            names, token = project.page("pageSize=%d&pageToken=%s" % (
                size, urllib.parse.quote(token, safe="")))
            tap.true(len(names) <= size, (len(names), size))
            found += names
            if len(found) == 20:  # does not come into the pages behind
                project.add("late_%d" % size)
        tap.equal([name for name in found if "late" not in name],
                  project.names)


def a_page_is_of_twenty_and_at_most_a_hundred():
    project = Project("sized", 21)
    for query in ("", "pageSize=0"):
        names, token = project.page(query)
        tap.equal((names, token is None), (project.names[:20], False))
    names, token = project.page("pageSize=21")
    tap.equal((names, token), (project.names, None))
    tap.equal(len(project.page("pageSize=1000")[0]), 21)
    project = Project("many", 101)
    names, token = project.page("pageSize=1000")
    tap.equal((names, token is None), (project.names[:100], False))
    tap.equal(project.page("pageSize=1000&pageToken=" +
                           urllib.parse.quote(token, safe="")),
              (project.names[100:], None))


def a_strange_page_is_refused():
    project = Project("strange", 3)
    for query in ("pageToken=t%2F%2B%3D%261", "pageToken=99x", "pageSize=-1",
                  "pageSize=many", "pageToken=-5"):
        server.refused("GET", project.path + "?" + query, None,
                       400, "INVALID_ARGUMENT")
    _, token = project.page("pageSize=1&filter=state:QUEUED")
    token = urllib.parse.quote(token, safe="")
    tap.equal(project.page("pageSize=1&filter=state:QUEUED&pageToken=" +
                           token)[0], project.names[1:2])
    for other in ("", "&filter=state:FAILED"):
        server.refused("GET", "%s?pageSize=1%s&pageToken=%s" % (
            project.path, other, token), None, 400, "INVALID_ARGUMENT")


def a_list_leaves_the_trials_out():
    server.tune("listed")
    harness.wait_until(
        lambda: server.job("listed")["trainingOutput"]["trials"], "trials")
    shown, = [shown for shown in server.get(JOBS + "?pageSize=100")["jobs"]
              if shown["jobId"] == "listed"]
    whole = server.job("listed")
    del whole["trainingOutput"]["trials"]
    tap.equal(shown, whole)
    server.cancel("listed")


def jobs_are_filtered():
    for i, state in enumerate(("rnn_a", "rnn_b", "cnn_a")):
        server.tune(state, {"team": "red" if i == 0 else "blue", "n": str(i)})
    server.cancel("rnn_b")
    server.wait_job("rnn_b", "CANCELLED")
    tap.equal(server.matching("jobId:rnn*"), ["rnn_a", "rnn_b"])
    tap.equal(server.matching("jobId=rnn*"), [])
    tap.equal(server.matching("jobId:*nn_a AND state:QUEUED"),
              ["cnn_a", "rnn_a"])
    tap.equal(server.matching("jobId:rnn* AND state:CANCELLED"), ["rnn_b"])
    tap.equal(server.matching("job_id = \"rnn_a\""), ["rnn_a"])
    tap.equal(server.matching("jobId:rnn* AND NOT state=QUEUED"), ["rnn_b"])
    tap.equal(server.matching("(jobId=cnn_a OR jobId=rnn_b) AND "
                              "-state=QUEUED"), ["rnn_b"])
    tap.equal(server.matching("labels.team=blue AND jobId:*nn_*"),
              ["cnn_a", "rnn_b"])
    tap.equal(server.matching("labels.team=blue AND state!=CANCELLED"),
              ["cnn_a"])
    tap.equal(server.matching("labels:n AND labels.n:0"), ["rnn_a"])
    made = server.job("rnn_a")["createTime"]
    ended = server.job("rnn_b")["endTime"]
    tap.equal(server.matching("jobId:*nn_* AND createTime<=\"%s\"" % made),
              ["rnn_a"])
    tap.equal(server.matching("jobId:*nn_* AND endTime>=\"%s\"" % ended),
              ["rnn_b"])
    tap.equal(server.matching("jobId:*nn_* AND "
                              "startTime>\"2020-01-01T00:00:00Z\""), [])
    tap.equal(server.matching("jobId:*nn_* AND state=RUNNING"), [])
    server.cancel("rnn_a", "cnn_a")


def a_wrong_filter_is_refused():
    for text in ("jobId", "jobId:", "jobId<a", "state=", "color=red",
                 "displayName=x", "createTime>yesterday", "jobId=a AND",
                 "(jobId=a", "jobId=a jobId=b)", "labels=x"):
        server.refused("GET", JOBS + "?filter=" + urllib.parse.quote(text),
                       None, 400, "INVALID_ARGUMENT")


def a_deleted_job_is_gone():
    server.plain("gone")
    server.cancel("gone")
    server.good("DELETE", "/hypertune/v1/studies/gone")
    server.refused("GET", JOBS + "/gone", None, 404, "NOT_FOUND")
    tap.equal(server.matching("jobId=gone"), [])


def damage_hides_no_other_job():
    for name in ("before", "torn", "behind"):
        server.tune(name, {"team": "torn"})
        server.cancel(name)
        server.wait_job(name, "CANCELLED")
    server.change(("UPDATE studies SET spec='{\"a\":' WHERE name=?",
                   ("torn",)))
    tap.equal(server.listed("pageSize=3"), ["behind", "torn", "before"])
    tap.equal(server.matching("labels.team=torn"), ["before", "behind"])
    tap.equal(server.matching("jobId=torn AND state=CANCELLED"), ["torn"])
    shown = server.job("torn")
    tap.equal(sorted(shown), ["createTime", "endTime", "errorMessage", "jobId",
                              "state"])
    tap.contains("damaged", shown["errorMessage"], shown)
    tap.equal(server.get("/hypertune/v1/server")["readOnly"], False)


with aip.Server() as server:
    tap.run([
        filters_see_what_is_preparing,
        pages_of_any_size_hold_every_job_once,
        a_page_is_of_twenty_and_at_most_a_hundred,
        a_strange_page_is_refused,
        a_list_leaves_the_trials_out,
        jobs_are_filtered,
        a_wrong_filter_is_refused,
        a_deleted_job_is_gone,
        damage_hides_no_other_job,
    ])
