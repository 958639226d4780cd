"""Every move of studies, trials and attempts that docs/reliability.md allows is
made here by what clients and runners do, and no other one."""

import contextlib
import os
import re
import sqlite3

import api
import fake_runner
import harness
import tap
import vizier
from tree import ROOT

server = None
runner = None


def allowed():
    """{(thing, from, to)} of the page's tables."""
    with open(os.path.join(ROOT, "docs/reliability.md"), encoding="utf-8") as file:
        text = file.read()
    found = set()
    for thing in ("study", "trial", "attempt"):
        table = text.split("| %s | may become |" % thing)[1].split("\n\n")[0]
        for before, after in re.findall(r"^\| ([A-Z]+) \| ([A-Z, ]*) ?\|",
                                        table, re.MULTILINE):
            found |= {(thing, before, to) for to in re.findall("[A-Z]+", after)}
    return found


def made():
    """The same of all events, those of deleted studies excepted."""
    path = os.path.join(server.data, "hypertune.db")
    with contextlib.closing(sqlite3.connect(
            "file:%s?mode=ro" % path, uri=True)) as db:
        return {(kind.split(".")[0], before, after) for kind, before, after in
                db.execute('SELECT DISTINCT kind, "from", "to" FROM events'
                           " WHERE kind LIKE '%.moved'"
                           ' AND "from" <> \'\'')}


moves = set()


# ---- jobs, whose trials a runner runs ----

class Job:
    def __init__(self, name, hypertune=None, **changes):
        self.name = name
        body = api.job(name, **dict({"maxTrialCount": 1}, **changes))
        body["hypertune"].update(dict({"retries": "0"}, **(hypertune or {})))
        answer = server.call("POST", api.JOBS, body)
        tap.equal(answer[0], 200, answer)
        self.path = api.OURS + "/studies/" + name

    def do(self, what, trial=None, status=200):
        path = self.path + ("/trials/%d" % trial if trial else "") + ":" + what
        answer = server.call("POST", path, {})
        tap.equal(answer[0], status, answer)
        return self

    def delete(self):
        """Its events go with it, so they are looked at before."""
        moves.update(made())
        tap.equal(server.call("DELETE", self.path)[0], 200)
        moves.add(("study", self.state, "DELETING"))

    def wait(self, state):
        harness.wait_until(lambda: runner.beat() and
                           server.study(self.name)["state"] == state,
                           "%s to be %s" % (self.name, state))
        self.state = state
        return self

    def wait_trial(self, number, state):
        harness.wait_until(
            lambda: runner.beat() and server.trial(self.name, number)[
                "hypertune"]["state"] == state,
            "trial %d of %s to be %s" % (number, self.name, state))
        return self


def jobs_end_as_their_trials_do():
    job = Job("good")
    runner.one().succeed(0.5)
    job.wait("SUCCEEDED").wait_trial(1, "SUCCEEDED").delete()
    job = Job("bad")
    runner.one().fail()
    job.wait("FAILED").wait_trial(1, "FAILED").do("retry", 1)
    runner.one().fail()
    job.wait("FAILED").delete()
    job = Job("mixed", maxTrialCount=2)
    runner.one().fail()
    runner.one().succeed(0.5)
    job.wait("SUCCEEDED").do("retry", 1)
    runner.one().succeed(0.6)
    job.wait("SUCCEEDED")
    Job("again", {"retries": "1"})
    runner.one().fail()  # ACTIVE becomes REQUESTED
    runner.one().succeed(0.5)


def attempts_may_skip_states():
    job = Job("hasty")
    runner.one().ended("failed", exit=1)  # before it said that it started
    job.wait("FAILED")
    for started in (False, True):
        job = Job("lost-%d" % started)
        attempt = runner.one()
        if started:
            attempt.started()
        renew()  # lists no attempt: it is lost
        runner.one().succeed(0.5)
        job.wait("SUCCEEDED")


def trials_without_a_result_are_infeasible_until_it_is_found():
    job = Job("found", maxTrialCount=2)
    runner.one().succeed(0.1)
    runner.one().started().say("acc=0.5\n").ended("succeeded", exit=0)
    job.wait("SUCCEEDED").wait_trial(2, "INFEASIBLE")
    tap.equal(server.call("POST", job.path + ":readLogs",
                          {"patterns": ["acc={accuracy}"]})[0], 200)
    job.wait_trial(2, "SUCCEEDED")
    job = Job("silent-retried", maxTrialCount=2)
    runner.one().succeed(0.1)
    runner.one().succeed()
    job.wait("SUCCEEDED").do("retry", 2)
    runner.one().succeed(0.5)
    job.wait("SUCCEEDED")


def jobs_are_paused_and_end_from_there():
    job = Job("rest")
    attempt = runner.one().started()
    job.do("pause").do("resume").do("pause").do("stop").wait_trial(
        1, "STOPPING")
    attempt.report(0.5).ended("stopped", exit=0)
    job.wait("STOPPED").wait_trial(1, "STOPPED").do("retry", 1)
    runner.one().succeed(0.5)
    job.wait("SUCCEEDED")
    job = Job("rest-cancelled")
    attempt = runner.one().started()
    job.do("pause").do("cancel")
    attempt.ended("stopped", exit=0)
    job.wait("CANCELLED").wait_trial(1, "CANCELLED")
    job = Job("rest-good")
    attempt = runner.one().started()
    job.do("pause")
    attempt.succeed(0.5)
    job.wait("SUCCEEDED")
    job = Job("rest-bad")
    attempt = runner.one().started()
    job.do("pause")
    attempt.fail()
    job.wait("FAILED")


def jobs_end_while_trials_run():
    job = Job("stopped", maxTrialCount=3, parallelTrialCount=2)
    first, second = runner.lease(2)
    first.started(), second.started()
    job.do("stop", 1).wait_trial(1, "STOPPING")
    first.ended("stopped", exit=0)
    job.wait_trial(1, "CANCELLED").do("retry", 1)
    job.do("stop").wait("STOPPING").do("cancel").wait("CANCELLING")
    second.ended("stopped", exit=0)
    job.wait("CANCELLED").delete()
    job = Job("stopped-only", maxTrialCount=2)
    attempt = runner.one().started()
    job.do("stop").wait("STOPPING")
    attempt.ended("stopped", exit=0)
    job.wait("STOPPED").delete()
    job = Job("failing", maxTrialCount=5, parallelTrialCount=2,
              maxFailedTrialCount=1)
    first, second = runner.lease(2)
    second.started()
    first.fail()
    job.wait("STOPPING")
    second.ended("stopped", exit=0)
    job.wait("FAILED")
    job = Job("reached", {"target": 0.9}, maxTrialCount=5,
              parallelTrialCount=2)
    first, second = runner.lease(2)
    second.started()
    first.succeed(0.95)
    job.wait("STOPPING")
    second.ended("stopped", exit=0)
    job.wait("SUCCEEDED")
    job = Job("timed", maxTrialCount=2)
    runner.one().started().report(0.5).ended("stopped", exit=0)
    job.wait_trial(1, "STOPPED")  # by itself: from ACTIVE
    runner.one().started().ended("stopped", exit=0)
    job.wait_trial(2, "CANCELLED")


RUNG = {"earlyStopping": {"rule": "asha", "minSteps": 1, "maxSteps": 9,
                          "factor": 2, "pause": True}}


def at_rung(job, number, value):
    """An attempt that the rung's rule asks to pause."""
    attempt = runner.one().started().report(value, step=1)
    job.wait_trial(number, "STOPPING")
    return attempt


def trials_pause_at_rungs():
    job = Job("rungs", RUNG, maxTrialCount=3)
    at_rung(job, 1, 0.5).ended("stopped", exit=0)
    at_rung(job, 2, 0.1).ended("stopped", exit=0)
    job.wait_trial(2, "PAUSED").wait_trial(1, "REQUESTED")
    job.do("stop").wait("STOPPED").wait_trial(1, "STOPPED").wait_trial(
        2, "STOPPED")
    job = Job("rungs-cancelled", RUNG, maxTrialCount=3)
    at_rung(job, 1, 0.5).ended("stopped", exit=0)
    job.wait_trial(1, "PAUSED").do("cancel").wait("CANCELLED").wait_trial(
        1, "CANCELLED")
    job = Job("rungs-last", RUNG)
    at_rung(job, 1, 0.5).report(0.6, step=9).ended("succeeded", exit=0)
    job.wait("SUCCEEDED").wait_trial(1, "SUCCEEDED")


# ---- studies of clients ----

def client_study(**more):
    return vizier.Study(server, **more)


def ours(study, what):
    path = api.OURS + "/studies/" + study.name.rsplit("/", 1)[1]
    if what == "delete":
        moves.update(made())
        return server.call("DELETE", path)
    return server.call("POST", path + ":" + what, {})


def studies_of_clients_end_at_once():
    for before in ((), ("pause",)):
        for end in ("stop", "cancel", "delete"):
            study = client_study()
            for what in before + (end,):
                answer = ours(study, what)
                tap.equal(answer[0], 200, answer)
            if end == "delete":
                moves.add(("study", "PAUSED" if before else "RUNNING",
                           "DELETING"))


def trials_of_clients_end_in_every_way():
    study = client_study()
    final = {"finalMeasurement": vizier.measured(0.5)}
    study.add({"x": 0.1}, **final)
    study.add({"x": 0.2}, state="INFEASIBLE", infeasibleReason="no")
    study.complete(study.one(), 0.5)
    study.good("POST", study.one() + ":complete", {"trialInfeasible": True})
    for infeasible in (False, True):
        trial = study.one()
        study.good("POST", trial + ":stop", {})
        study.good("POST", trial + ":complete",
                   {"trialInfeasible": True} if infeasible else final)


def every_allowed_move_was_made_and_no_other():
    moves.update(made())
    tap.equal(sorted(allowed() - moves), [], "never made")
    tap.equal(sorted(moves - allowed()), [], "not allowed")


def renew():
    """The runner starts again and knows of no attempt."""
    global runner
    if runner is not None:
        runner.sock.close()
    runner = fake_runner.Runner(server, slots=4)


with harness.Server("--runner", "none") as server:
    renew()
    tap.run([jobs_end_as_their_trials_do, attempts_may_skip_states,
             trials_without_a_result_are_infeasible_until_it_is_found,
             jobs_are_paused_and_end_from_there, jobs_end_while_trials_run,
             trials_pause_at_rungs, studies_of_clients_end_at_once,
             trials_of_clients_end_in_every_way,
             every_allowed_move_was_made_and_no_other])
