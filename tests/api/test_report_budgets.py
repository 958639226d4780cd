"""What a trial reports beyond its budgets is thinned by one rule and said once;
its result counts all of it."""

import api
import fake_runner
import harness
import tap

FULL = 50  # records that are stored whole
SENT = 1000


def report(attempt, first, last, **more):
    """Numbers as steps and, in thousandths, as values; the last answer."""
    for at in range(first, last + 1, 100):
        answer = attempt.runner.tell("report", replica="master-0", records=[
            dict({"w": "00000000000000a0", "n": n, "t": 1000 + n, "s": n,
                  "m": {"accuracy": n / 1000}}, **more)
            for n in range(at, min(at + 99, last) + 1)], **attempt.name)
    return answer


def is_kept(number):
    """The rule, told anew: doubled use halves what is stored."""
    every = 1
    while number > FULL * every:
        every *= 2
    return (number + 0xa0) % every == 0


def numbers(server):
    return sorted(int(one["stepCount"])
                  for one in server.trial("s", 1)["measurements"])


def warnings(server):
    events = server.get(api.OURS + "/studies/s/events")["events"]
    return [event["reason"] for event in events
            if event["kind"] == "trial.warned"]


def exceeded(server, budget):
    mark = 'hypertune_budget_exceeded_total{budget="%s"} ' % budget
    lines = api.ask(server, "GET", "/metrics").body.decode().splitlines()
    return [int(line[len(mark):]) for line in lines
            if line.startswith(mark)][0]


def running(server, runner):
    api.send(server, "POST", api.JOBS, api.job("s", maxTrialCount=1))
    return runner.one().started()


def serve(budgets):
    return harness.Server("--runner", "none", "--budget", budgets)


def records_beyond_the_budget_are_thinned_and_said_once():
    with serve("replica-records=%d" % FULL) as server:
        with fake_runner.Runner(server) as runner:
            attempt = running(server, runner)
            report(attempt, 1, SENT)
            kept = [n for n in range(1, SENT + 1) if is_kept(n)]
            tap.equal(numbers(server), kept)
            tap.equal(exceeded(server, "replica-records"), SENT - len(kept))
            # Again, and after a kill.
            for _ in range(2):
                tap.equal(report(attempt, 1, SENT)["have"],
                          {"00000000000000a0": SENT})
                tap.equal(numbers(server), kept)
                tap.equal(len(warnings(server)), 1)
                server.kill()
                server.start()
                attempt.runner = fake_runner.Runner(server,
                                                    attempts=[attempt])
            tap.contains("replica-records", warnings(server)[0])
            tap.contains("%d records are not stored" % (SENT - len(kept)),
                         server.cli("trial", "s/1").stdout)


def the_result_is_the_last_value_whatever_was_dropped():
    with serve("replica-records=%d" % FULL) as server:
        with fake_runner.Runner(server) as runner:
            attempt = running(server, runner)
            report(attempt, 1, SENT - 1)
            tap.true(not is_kept(SENT - 1), "the last one is dropped")
            attempt.ended("succeeded", exit=0)
            own = server.trial("s", 1)["hypertune"]
            tap.equal((own["objective"], own["step"]),
                      ((SENT - 1) / 1000, str(SENT - 1)))


def checkpoints_and_speed_have_budgets_too():
    for budgets, name, more in (
            ("replica-rate=1", "replica-rate", {}),
            ("replica-bytes=400000", "replica-bytes", {"c": "x" * 4000})):
        with serve(budgets) as server:
            with fake_runner.Runner(server) as runner:
                report(running(server, runner), 1, SENT, **more)
                stored = len(numbers(server))
                tap.true(60 <= stored < SENT / 2, (name, stored))
                tap.equal(exceeded(server, name), SENT - stored)
                tap.contains(name, warnings(server)[0])


tap.run([records_beyond_the_budget_are_thinned_and_said_once,
         the_result_is_the_last_value_whatever_was_dropped,
         checkpoints_and_speed_have_budgets_too])
