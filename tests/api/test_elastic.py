"""Runners whose slots are made on demand: how many they are asked for, and when
the trials of these are made."""

import time

import harness
import tap
from fake_runner import Attempt, Runner

SPEC = {"spec": 1, "name": "s", "goal": "maximize accuracy", "trials": 9,
        "parallel": 2, "parameters": {"x": list(range(50))},
        "algorithm": "grid", "retries": 0, "args": "none",
        "command": ["true"], "metricDoctor": "warn"}
HELD = 15  # s, less than a poll is held


class Cluster(Runner):
    """Has as many slots as were wanted only when a test says so."""

    def __init__(self, server, slots=8, name="slurm", **more):
        self.have = {}
        super().__init__(server, slots=slots, name=name, **more)

    def tell(self, what, **members):
        if what == "hello":
            members.update(engine="slurm", rules={"images": False,
                                                  "elastic": True})
        return super().tell(what, **members)

    def ask(self, asking=None, refused=None, **more):
        """Sends a poll."""
        self.send("lease", free=0, gpus=0, asking=[
            {"study": study, "n": n} for study, n in (asking or {}).items()],
            refused=[{"study": study, "reason": reason}
                     for study, reason in (refused or {}).items()],
            have=[{"study": study, "slots": slots, "need": need}
                  for study, (slots, need) in self.have.items()], **more)

    def take(self):
        """Attempts of the answer to it; what is wanted is taken over."""
        answer = self.hear("lease")
        for item in answer["wanted"]:
            known = self.have.get(item["study"], (0, None))[1]
            tap.equal("is" in item, item["need"] != known, item)
        self.have = {item["study"]: (item["slots"], item["need"])
                     for item in answer["wanted"]}
        self.answer = answer
        return [Attempt(self, said) for said in answer["attempts"]]

    def poll(self, asking=None, **more):
        self.ask(asking, **more)
        return self.take()

    def get(self, n=1, study=1):
        """So many attempts, for as many slots."""
        attempts = []
        while len(attempts) < n:
            attempts += self.poll({study: n - len(attempts)})
        return attempts

    def wants(self):
        return {study: slots for study, (slots, _) in self.have.items()}

    def hold(self, asking=None, **more):
        """Sends a poll that is not answered."""
        self.ask(asking, **more)
        number = self.number
        answer = self.beat()
        tap.equal(answer["id"], number + 1, answer)

    def woken(self, do):
        """Attempts of the poll that is held, once something is done."""
        begun = time.monotonic()
        do()
        attempts = self.take()
        tap.equal(time.monotonic() - begun < HELD, True)
        return attempts


def serve():
    return harness.Server("--runner", "none")


def submit(server, **changes):
    return server.submit(dict(SPEC, **changes))


def created(server, name="s"):
    return len(server.trials(name))


def numbers(attempts):
    return [attempt.said["trial"] for attempt in attempts]


def a_trial_is_made_when_a_slot_asks():
    with serve() as server, Cluster(server) as cluster:
        submit(server)
        tap.equal(cluster.poll(), [])
        tap.equal(cluster.wants(), {1: 2})
        tap.equal(cluster.answer["wanted"][0]["is"]["pools"], [{"count": 1}])
        tap.equal(created(server), 0)
        one, = cluster.poll({1: 1})
        tap.equal((numbers([one]), created(server), cluster.wants()),
                  ([1], 1, {1: 2}))
        one.succeed(0.5)
        # Five ask; two may run.
        two = cluster.poll({1: 5})
        while len(two) < 2:
            two += cluster.poll({1: 5 - len(two)})
        tap.equal((sorted(numbers(two)), created(server)), ([2, 3], 3))
        cluster.hold({1: 3})


def the_last_trials_want_few_slots():
    with serve() as server, Cluster(server) as cluster:
        submit(server, trials=3)
        cluster.poll()
        tap.equal(cluster.wants(), {1: 2})
        for number in (1, 2):
            cluster.get()[0].succeed(number)
        cluster.poll()
        tap.equal(cluster.wants(), {1: 1})
        cluster.get()[0].succeed(3)
        cluster.poll()
        tap.equal((cluster.wants(), server.wait_study("s")["state"]),
                  ({}, "SUCCEEDED"))


def what_was_answered_is_answered_again():
    with serve() as server, Cluster(server) as cluster:
        submit(server, parallel=4)
        cluster.poll()
        first, = cluster.poll({1: 1})
        cluster.number -= 1
        again, = cluster.poll({1: 1})
        tap.equal(again.said["token"], first.said["token"])
        # The answer was lost, and so the next poll replaces it.
        since = cluster.number
        other, = cluster.poll({1: 1}, since=since)
        tap.equal((other.name, created(server)), (first.name, 1))
        other.started()
        second, = cluster.poll({1: 1})
        tap.equal((numbers([second]), created(server)), ([2], 2))


def a_restart_of_the_server_changes_nothing():
    with serve() as server, Cluster(server) as cluster:
        submit(server, parallel=3)
        cluster.poll()
        first, = cluster.poll({1: 1})
        second, = cluster.poll({1: 1})
        server.kill()
        server.start()
        cluster.connect()
        cluster.number -= 1
        Runner.tell(cluster, "hello", slots=8, host="here", version="0.1.0",
                    engine="slurm", rules={"images": False, "elastic": True},
                    attempts=[first.name, second.name])
        again, = cluster.poll({1: 1}, since=cluster.number)
        tap.equal((again.name, cluster.wants()), (second.name, {1: 3}))
        first.succeed(0.5)
        again.succeed(0.6)
        third = cluster.poll({1: 1})
        tap.equal((numbers(third), created(server)), ([3], 3))


def a_held_poll_is_answered_when_more_or_less_is_wanted():
    with serve() as server, Cluster(server) as cluster:
        cluster.hold()
        cluster.woken(lambda: submit(server))
        tap.equal(cluster.wants(), {1: 2})
        cluster.hold()
        cluster.woken(lambda: server.cli("set", "s", "parallel=3"))
        tap.equal(cluster.wants(), {1: 3})
        one, = cluster.poll({1: 1})
        cluster.hold()
        cluster.woken(lambda: server.cli("pause", "s"))
        tap.equal(cluster.wants(), {1: 1})
        cluster.hold()
        cluster.woken(lambda: server.cli("resume", "s"))
        tap.equal(cluster.wants(), {1: 3})
        cluster.hold()
        cluster.woken(lambda: server.cli("runners", "drain", "slurm"))
        tap.equal(cluster.wants(), {1: 1})
        cluster.hold({1: 1})
        attempt, = cluster.woken(
            lambda: server.cli("runners", "resume", "slurm"))
        tap.equal(cluster.wants(), {1: 3})
        cluster.hold()
        cluster.woken(lambda: server.cli("stop", "--yes", "s"))
        tap.equal((cluster.wants(), len(cluster.answer["stop"])), ({1: 2}, 2))
        for each in (one, attempt):
            each.started().ended("stopped")
        cluster.poll()
        tap.equal(cluster.wants(), {})


def an_end_gives_the_next_slot_its_trial():
    with serve() as server, Cluster(server) as cluster:
        submit(server, parallel=1)
        cluster.poll()
        one, = cluster.poll({1: 1})
        cluster.hold({1: 1})
        with Runner(server, name="helper"):
            pass
        begun = time.monotonic()
        for what in ("started", "report", "ended", "drained"):
            cluster.send(what, **dict(one.name, **{
                "report": {"replica": "master-0", "records": [
                    {"w": "00000000000000aa", "n": 1, "t": 1000, "s": 1,
                     "m": {"accuracy": 0.5}}]},
                "ended": {"outcome": "succeeded", "exit": 0}}.get(what, {})))
        answers = [cluster.hear("any") for _ in range(5)]
        tap.equal(time.monotonic() - begun < HELD, True)
        leased = [answer for answer in answers if answer.get("attempts")]
        tap.equal([said["trial"] for said in leased[0]["attempts"]], [2])


def points_know_the_results_of_the_moment():
    """One that waited while a result came is made again."""
    with serve() as server, Cluster(server) as cluster:
        with Runner(server, slots=1, name="plain"):
            submit(server)
            harness.wait_until(lambda: created(server) == 1, "one ahead")
            one, = cluster.poll({1: 1})
            harness.wait_until(lambda: created(server) == 2, "another one")
            one.succeed(0.5)
            server.cli("runners", "drain", "plain")
        two, = cluster.get()
        tap.equal((numbers([two]),
                   [trial["id"] for trial in server.trials("s")]),
                  ([3], ["1", "3"]))


def a_quota_is_kept_before_points_are_found():
    """No trial is made that could not run; the end of another one makes it."""
    with serve() as server, Cluster(server) as cluster:
        server.cli("projects", "set", "local", "slots=1")
        submit(server, parallel=4)
        submit(server, name="t", parallel=4)
        cluster.poll()
        tap.equal(sum(cluster.wants().values()), 1)
        one, = cluster.poll({1: 1})
        cluster.hold({1: 1, 2: 1})
        tap.equal((created(server), created(server, "t")), (1, 0))
        cluster.connect()
        one.succeed(0.5)
        two, = cluster.get(study=2)
        tap.equal(two.said["study"], 2)
        server.cli("projects", "set", "local", "slots=2")
        three, = cluster.get()
        tap.equal(three.said["study"], 1)


def what_other_runners_have_free_is_not_wanted():
    with serve() as server, Cluster(server) as cluster, \
            Runner(server, slots=2, name="plain") as plain:
        submit(server, parallel=3)
        cluster.poll()
        tap.equal(cluster.wants(), {1: 1})
        cluster.hold()
        # One of them is taken: as much is left for the cluster.
        plain.one()
        server.cli("runners", "drain", "plain")
        cluster.take()
        tap.equal(cluster.wants(), {1: 2})


LIMIT = "stopped before Slurm's time limit"  # of an element


def many_short_elements_bring_a_trial_through():
    """Each of them reports something new, and none is a failure."""
    with serve() as server, Cluster(server) as cluster:
        submit(server, trials=1, parallel=1)
        cluster.poll()
        for step in range(1, 20):
            one, = cluster.get()
            # What came after its last checkpoint is measured again.
            one.started().report(step - 1, max(step - 1, 1))
            one.report(step, step).ended("lost", reason=LIMIT)
        last, = cluster.get()
        last.succeed(20, 20)
        trial = server.trial("s", 1)["hypertune"]
        tap.equal((server.wait_study("s")["state"], trial["attempt"],
                   trial["objective"]), ("SUCCEEDED", 20, 20))


def elements_without_progress_end_the_trial():
    with serve() as server, Cluster(server) as cluster:
        submit(server, trials=1, parallel=1)
        cluster.poll()
        for _ in range(5):
            one, = cluster.get()
            one.started().report(0.5, 7).ended("lost", reason=LIMIT)
            if one.name["attempt"] == 4:
                break
        trial = server.trial("s", 1)["hypertune"]
        tap.equal((trial["state"], trial["attempt"], trial["reason"]),
                  ("FAILED", 4, "lost 3 times in a row without a newer "
                   "checkpoint or step: " + LIMIT))


def two_runners_have_no_more_together_than_may_run():
    with serve() as server, Cluster(server, name="a") as a, \
            Cluster(server, name="b") as b:
        submit(server, parallel=6)
        a.poll()
        b.poll()
        tap.equal((a.wants(), b.wants()), ({1: 3}, {1: 3}))
        # The faster one gets more of the rest.
        first = a.get(2)
        b.poll()
        tap.equal((a.wants(), b.wants()), ({1: 4}, {1: 2}))
        a.hold()
        second = b.get(2)
        tap.equal((a.take(), a.wants(), b.wants()), ([], {1: 3}, {1: 3}))
        tap.equal((sorted(numbers(first + second)), created(server)),
                  ([1, 2, 3, 4], 4))


def a_runner_has_its_most_slots_for_all_studies():
    with serve() as server, Cluster(server, slots=4) as cluster:
        submit(server, parallel=8)
        submit(server, name="t", parallel=8)
        cluster.poll()
        tap.equal(cluster.wants(), {1: 2, 2: 2})
        tap.equal(len({need for _, need in cluster.have.values()}), 1)


def refusals_are_why_trials_wait():
    with serve() as server, Cluster(server) as cluster:
        submit(server)
        cluster.poll()
        cluster.hold(refused={1: "no partition \"x\""})
        harness.wait_until(
            lambda: server.study("s")["reason"] ==
            "2 of 2 wait: slurm: no partition \"x\"", "the reason")
        cluster.connect()
        cluster.hold()
        harness.wait_until(
            lambda: server.study("s")["reason"] ==
            "2 of 2 wait: for slots of slurm", "the other reason")


def what_runs_and_waits_at_the_cluster_is_shown():
    with serve() as server, Cluster(server) as cluster:
        submit(server)
        submit(server, name="t")
        cluster.poll()
        cluster.hold(refused={2: "no partition \"x\""}, elements=[
            {"study": 1, "run": 4, "wait": 6, "why": "Priority"},
            {"study": 9, "run": 1, "wait": 0}])
        runner, = server.get("/hypertune/v1/runners")["runners"]
        tap.equal(runner["elements"], [
            {"study": "s", "run": 4, "wait": 6, "why": "Priority"},
            {"study": "t", "run": 0, "wait": 0,
             "refused": "no partition \"x\""}])
        line = server.cli("runners").stdout.split("\n")[-2]
        tap.equal(line, "slurm: slurm (?) \u00b7 4 run, 6 wait (Priority); "
                  "t: no partition \"x\"")


def studies_for_slurm_run_nowhere_else():
    with serve() as server, Runner(server, name="plain") as plain:
        submit(server, slurm={"partition": "p"}, resources={"gpus": 2})
        harness.wait_until(lambda: "Slurm" in server.study("s")["reason"],
                           "the reason")
        with Cluster(server) as cluster:
            cluster.poll()
            tap.equal(cluster.wants(), {1: 2})
            tap.equal(cluster.answer["wanted"][0]["is"]["slurm"],
                      {"partition": "p"})
            tap.equal(cluster.answer["wanted"][0]["is"]["pools"],
                      [{"count": 1, "gpus": 2}])
            one, = cluster.poll({1: 1})
            tap.equal(numbers([one]), [1])
            submit(server, name="t")
            here = plain.lease(4)
            tap.equal({attempt.said["study"] for attempt in here}, {2})
            tap.equal(created(server), 1)


def a_runner_beside_it_has_trials_ahead():
    with serve() as server, Cluster(server) as cluster, \
            Runner(server, slots=1, name="plain") as plain:
        submit(server, parallel=3)
        one = plain.one()
        cluster.poll()
        tap.equal(cluster.wants(), {1: 2})
        two, = cluster.poll({1: 1})
        one.succeed(0.5)
        tap.equal(len(plain.lease(1)), 1)
        tap.equal(two.said["study"], 1)


def wrong_polls_are_refused():
    with serve() as server, Cluster(server) as cluster:
        submit(server)
        for wrong in ([{"study": 1, "n": -1}],
                      [{"study": 1, "n": 1}, {"study": 1, "n": 1}]):
            try:
                cluster.tell("lease", free=0, asking=wrong)
            except AssertionError as error:
                tap.contains("asking", str(error))
            else:
                raise AssertionError("taken: %s" % wrong)
        tap.equal(cluster.poll({7: 3}), [])
        tap.equal(cluster.wants(), {1: 2})


tap.run([a_trial_is_made_when_a_slot_asks,
         the_last_trials_want_few_slots,
         what_was_answered_is_answered_again,
         a_restart_of_the_server_changes_nothing,
         a_held_poll_is_answered_when_more_or_less_is_wanted,
         an_end_gives_the_next_slot_its_trial,
         points_know_the_results_of_the_moment,
         a_quota_is_kept_before_points_are_found,
         what_other_runners_have_free_is_not_wanted,
         many_short_elements_bring_a_trial_through,
         elements_without_progress_end_the_trial,
         two_runners_have_no_more_together_than_may_run,
         a_runner_has_its_most_slots_for_all_studies,
         refusals_are_why_trials_wait,
         what_runs_and_waits_at_the_cluster_is_shown,
         studies_for_slurm_run_nowhere_else,
         a_runner_beside_it_has_trials_ahead,
         wrong_polls_are_refused])
