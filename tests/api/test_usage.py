"""What runners say of the use of processors, memory and GPUs: kept, replaced,
shown, and never a reason to refuse the rest of a message."""

import contextlib
import os
import sqlite3

import api
import fake_runner
import harness
import tap

server = None
runner = None


def series(*points, **members):
    """Points are (ms, used, memory)."""
    ms, used, memory = map(list, zip(*points))
    return dict({"fromMs": 1700000000000, "everyMs": 500, "ms": ms,
                 "used": used, "memory": memory}, **members)


def item(attempt, said, **members):
    return dict(attempt.name, replica="master-0", device="", series=said,
                **members)


def beat(*items):
    runner.tell("heartbeat", attempts=[], usage=list(items))


def shown(name, trial=1):
    return server.get("%s/studies/%s/trials/%s/usage" % (
        api.OURS, name, trial))["usage"]


def rows(study):
    path = os.path.join(server.data, "hypertune.db")
    with contextlib.closing(sqlite3.connect(
            "file:%s?mode=ro" % path, uri=True)) as db:
        return db.execute("SELECT count(*) FROM trial_usage WHERE study=?",
                          (study,)).fetchone()[0]


def start(name, **members):
    answer = api.send(server, "POST", api.JOBS, api.job(name, **members))
    tap.equal(answer.status, 200, answer.body)
    return runner.one().started()


def the_newest_series_of_each_device_is_shown():
    attempt = start("shown")
    tap.equal(shown("shown"), [])
    first, then = series((500, 1, 7)), series((500, 1, 7), (1000, 0.5, None))
    gpu = series((1000, 0.25, 1 << 40))
    beat(item(attempt, first))
    tap.equal(shown("shown"), [{"attempt": 1, "replica": "master-0",
                                "device": "", "series": first}])
    beat(item(attempt, then), dict(item(attempt, gpu), device="GPU-1"))
    tap.equal([(one["device"], one["series"]) for one in shown("shown")],
              [("", then), ("GPU-1", gpu)])
    runner.tell("ended", outcome="failed", exit=1, **attempt.name)
    last = series((5000, 3, 1))
    runner.tell("drained", usage=[item(attempt, last)], **attempt.name)
    tap.equal(shown("shown")[0]["series"], last)
    server.stop()
    server.start()
    tap.equal(shown("shown")[0]["series"], last)


def what_is_wrong_is_left_out():
    with fake_runner.Runner(server, name="other") as other:
        attempt = start("wrong")
        good = series((500, 1, 7))
        other.tell("heartbeat", attempts=[], usage=[item(attempt, good)])
    tap.equal(shown("wrong"), [], "that of another runner")
    for bad in (None, 7, [], {}, series((500, -1, 7)), series((0, 1, 7)),
                series((500, 1e9, 7)), series((500, 1, 7), everyMs=0),
                series((500, 1, 7), used=[1, 2]),
                series(*((n, 1, 1) for n in range(1, 242)))):
        beat(item(attempt, bad))
    for member in ({"replica": "x" * 1000}, {"replica": ""}, {"replica": 3},
                   {"device": "x" * 1000}, {"trial": 99}, {"attempt": 2},
                   {"study": "a"}):
        beat(dict(item(attempt, good), **member))
    for usage in (7, "a", {"a": 1}, [[]], [None]):
        runner.tell("heartbeat", attempts=[], usage=usage)
    tap.equal(shown("wrong"), [])
    beat(item(attempt, None), item(attempt, good))
    tap.equal(len(shown("wrong")), 1)
    attempt.ended("succeeded", exit=0)
    beat(item(attempt, series((900, 1, 7))))
    tap.equal(shown("wrong")[0]["series"], good, "after its end")


def an_attempt_has_a_bounded_number():
    attempt = start("many")
    good = series((500, 1, 7))
    for first in range(0, 1200, 400):
        beat(*[dict(item(attempt, good), device="GPU-%d" % n)
               for n in range(first, first + 400)])
    tap.equal(len(shown("many")), 200, "of one answer")
    attempt.ended("succeeded", exit=0)


def it_goes_with_its_study_and_only_its_readers_see_it():
    attempt = start("gone")
    beat(item(attempt, series((500, 1, 7))))
    tap.equal(rows(attempt.name["study"]), 1)
    path = api.OURS + "/studies/gone/trials/1/usage"
    tap.equal(api.ask(server, "GET", path, auth=False).status, 401)
    for wrong in (path.replace("1/usage", "2/usage"),
                  path.replace("gone", "none")):
        tap.equal(api.ask(server, "GET", wrong).status, 404)
    tap.equal(api.ask(server, "GET", path + "?x=1").status, 400)
    attempt.ended("succeeded", exit=0)
    api.send(server, "POST", api.OURS + "/studies/gone:cancel", {})
    answer = api.ask(server, "DELETE", api.OURS + "/studies/gone")
    tap.equal(answer.status, 200, answer.body)
    tap.equal(api.ask(server, "GET", path).status, 404)
    harness.wait_until(lambda: rows(attempt.name["study"]) == 0,
                       "the end of its rows", 20)


def main():
    global server, runner
    with harness.Server("--runner", "none") as server, \
            fake_runner.Runner(server) as runner:
        tap.run([
            what_is_wrong_is_left_out,
            an_attempt_has_a_bounded_number,
            it_goes_with_its_study_and_only_its_readers_see_it,
            the_newest_series_of_each_device_is_shown,
        ])


if __name__ == "__main__":
    main()
