"""The restore drill: a server with running trials is backed up, continues, is
lost with all that it did since, and is restored while those trials still run.
What was in the backup is answered as before; what ran is fenced and starts
again; no number is given twice."""

import os

import api
import backups
import fake_runner
import harness
import tap


def highest(server):
    """Every number that the server has given, by what it is of."""
    given = {"study": set(), "revision": {}, "trial": {}, "attempt": {},
             "metadata": set(), "audit": set()}
    for study in server.pages(api.OURS + "/studies?pageSize=100", "studies"):
        name = study["hypertuneStatus"]["name"]
        ours = api.OURS + "/studies/" + name
        given["study"].add(int(study["name"].split("/")[-1]))
        given["revision"][name] = server.get(ours + "/events")["revision"]
        given["trial"][name] = set()
        for trial in server.pages(ours + "/trials?pageSize=100", "trials"):
            number = int(trial["id"])
            given["trial"][name].add(number)
            whole = server.get("%s/trials/%d" % (ours, number))["hypertune"]
            given["attempt"][name, number] = {
                attempt["attempt"] for attempt in whole.get("attempts", [])}
        given["metadata"].add(server.get(ours + "/metadata")["version"])
    given["audit"] = {line["id"]
                      for line in server.get(api.OURS + "/audit")["lines"]}
    return given


def note(server, study, value):
    status, answer = server.call("PATCH", api.OURS + "/studies/%s/metadata" %
                                 study, {"metadata": [
                                     {"trial": 0, "ns": "n", "key": "k",
                                      "value": value}]})
    tap.equal(status, 200, answer)


def begin(server, runner):
    """Trials that run: two attempts, with what they have reported so far."""
    tap.equal(server.call("POST", api.JOBS, api.job(
        "open", maxTrialCount=6, parallelTrialCount=2))[0], 200)
    attempts = [runner.one().started(), runner.one().started()]
    for attempt in attempts:
        attempt.report(0.25, step=1).say("before\n")
    note(server, "open", "before")
    return attempts


def continue_after(server, runner, attempts):
    """What the backup does not have: an end, a trial, an attempt, a study."""
    attempts[0].report(0.75, step=2)
    attempts[0].ended("succeeded", exit=0)
    later = [runner.one().started().report(0.5, step=1).say("after\n")]
    attempts[1].fail()
    again = runner.one().started()
    tap.equal(again.name["attempt"], 2)
    note(server, "open", "after")
    tap.equal(server.call("POST", api.JOBS, api.job("lost"))[0], 200)
    return later + [again]


def is_fenced(server, runner, attempts):
    """Neither the trainers nor the runner are heard for these."""
    for attempt in attempts:
        answer = backups.report_by_token(server, attempt, 7, 0.99)
        tap.true(answer["status"] != "ok", answer)
    beat = runner.tell("heartbeat",
                       attempts=[attempt.name for attempt in attempts])
    tap.equal(len(beat["gone"]), len(attempts), beat)
    for attempt in attempts:
        for what, more in (("started", {}), ("ended", {"outcome": "succeeded"}),
                           ("drained", {}),
                           ("report", {"replica": "master-0", "records": []}),
                           ("log", {"replica": "master-0", "stream": "stdout",
                                    "offset": 0, "data": "x", "bytes": 1})):
            try:
                answer = runner.tell(what, **attempt.name, **more)
            except AssertionError as refusal:
                tap.lacks('"ok"', str(refusal).split("reason")[0])
                continue
            raise AssertionError("%s of %s was taken: %s" % (
                what, attempt.name, answer))


def gave_nothing_twice(before, after, name="open"):
    """`after` may have what the backup has; all else is above `before`."""
    tap.true(after["revision"][name] > before["revision"][name])
    for number in after["trial"][name] - before["trial"][name]:
        tap.true(number > max(before["trial"][name]), number)


def a_restore_while_the_trials_of_before_still_run():
    with harness.Server("--runner", "none") as server:
        backups.played(server, "done")
        with fake_runner.Runner(server) as runner:
            attempts = begin(server, runner)
            before = backups.answers(server, ["done"])
            copy = backups.make(server)
            copied = highest(server)
            later = continue_after(server, runner, attempts)
            lost = highest(server)
            server.kill()
        tap.equal(backups.verify(copy).returncode, 0)
        done = backups.restore(copy, server.data, "--replace")
        tap.equal(done.returncode, 0, done.stderr)
        tap.contains("incarnation 2", done.stdout)
        server.start()
        with fake_runner.Runner(server, attempts=attempts + later) as runner:
            is_fenced(server, runner, attempts + later)
            backups.same(server, ["done"], before)
            # Both trials of the backup start again, with the search as it was.
            new = runner.lease(2)
            new += [] if len(new) == 2 else runner.lease(1)
            taken = {(a.name["trial"], a.name["attempt"])
                     for a in attempts + later}
            tap.equal(sorted(a.name["trial"] for a in new), [1, 2])
            for attempt in new:
                tap.true((attempt.name["trial"], attempt.name["attempt"])
                         not in taken, attempt.name)
                tap.true(attempt.name["attempt"] > 2, attempt.name)
                attempt.succeed(0.5)
            while server.get(api.JOBS + "/open")["state"] == \
                    "JOB_STATE_RUNNING":
                for attempt in runner.lease(2):
                    attempt.succeed(0.625)
        note(server, "open", "restored")
        tap.equal(server.call("POST", api.JOBS, api.job("next"))[0], 200)
        now = highest(server)
        gave_nothing_twice(lost, now)
        tap.equal(len(now["trial"]["open"]), 6)
        tap.lacks("lost", now["trial"])
        new_study = now["study"] - copied["study"]
        tap.true(min(new_study) > max(lost["study"]), new_study)
        tap.true(max(now["metadata"]) > max(lost["metadata"]))
        tap.true(min(now["audit"] - copied["audit"]) > max(lost["audit"]))
        # Nothing of before counts: no report of an old attempt is there.
        values = [m["metrics"]["accuracy"]
                  for trial in sorted(now["trial"]["open"])
                  for m in server.measurements("open", trial)]
        tap.true(0.99 not in values and 0.75 not in values, values)
        tap.true(os.path.isdir(os.path.join(server.data, "runs")))


def the_same_backup_restored_twice_gives_other_numbers():
    with harness.Server("--runner", "none") as server:
        names = set()
        tap.equal(server.call("POST", api.JOBS, api.job(
            "s", maxTrialCount=9, parallelTrialCount=9))[0], 200)
        copy = backups.make(server)
        for _ in range(2):
            server.kill()
            tap.equal(backups.restore(copy, server.data,
                                      "--replace").returncode, 0)
            server.start()
            with fake_runner.Runner(server) as runner:
                new = {(attempt.name["trial"], attempt.name["attempt"])
                       for attempt in runner.lease(4)}
            tap.equal(names & new, set())
            names |= new
        tap.true(len(names) >= 2, names)


if __name__ == "__main__":
    tap.run([
        a_restore_while_the_trials_of_before_still_run,
        the_same_backup_restored_twice_gives_other_numbers,
    ])
