"""kill -9 of server, runner, shims and trainers at random moments, while a
study of 200 short trials runs in four slots.

ROUNDS (default 15) is the number of kills, SEED (default 1) their choice. A
study that ends before the last kill is followed by another."""

import collections
import glob
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import checker  # noqa: E402
import harness  # noqa: E402
import tap  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "15"))
SEED = int(os.environ.get("SEED", "1"))
TRIALS = 200
TRAINER = os.path.join(harness.bin_dir(), "..", "tests", "tools",
                       "chaos_trainer")
# Servers twice: their death is the one that could lose what was confirmed.
VICTIMS = ["server", "server", "runner", "shim", "trainer"]


class Chaos:
    def __init__(self, server):
        self.server = server
        self.journals = os.path.join(server.folder, "journals")
        os.mkdir(self.journals)
        self.random = random.Random(SEED)
        self.kills = collections.Counter()
        self.restarts = []
        self.studies = []

    def submit(self):
        name = "chaos-%d" % (len(self.studies) + 1)
        self.server.submit({
            "spec": 1, "name": name, "goal": "maximize accuracy",
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "algorithm": "random", "trials": TRIALS, "parallel": 4,
            "retries": 20, "seed": SEED,
            "command": [os.path.realpath(TRAINER), self.journals]})
        self.studies.append(name)

    def programs(self, victim):
        if victim == "trainer":
            return harness.processes(TRAINER, self.server.data)
        return harness.processes(os.path.join(
            harness.bin_dir(), "hypertune-" + victim), self.server.data)

    def kill_one(self, victim):
        if victim == "server":
            self.server.kill()
            self.restarts.append(self.server.start())
        else:
            pids = self.programs(victim)
            if not pids:
                return False
            try:
                os.kill(self.random.choice(pids), signal.SIGKILL)
            except ProcessLookupError:
                return False  # it has ended in this moment
        self.kills[victim] += 1
        return True

    def run(self):
        self.submit()
        while sum(self.kills.values()) < ROUNDS:
            # Not a wait for something: the moment of the next death.
            time.sleep(self.random.uniform(0.1, 1.0))
            self.kill_one(self.random.choice(VICTIMS))
            if self.server.study(self.studies[-1])["state"] != "RUNNING":
                self.submit()


def main():
    with harness.Server(slots=4) as server:
        chaos = Chaos(server)
        begin = time.monotonic()
        chaos.run()
        ends = {}

        def every_study_completes():
            for name in chaos.studies:
                ends[name] = server.wait_study(name, 200)
                tap.equal(ends[name]["state"], "SUCCEEDED", name)
                tap.equal(ends[name]["counts"]["succeeded"], TRIALS, name)

        def nothing_is_left_running():
            harness.wait_until(
                lambda: not checker.leftovers(server.data), 10,
                "the end of every process of a trial")
            harness.wait_until(lambda: not chaos.programs("shim"), 10,
                               "the end of every shim")

        def a_killed_server_is_back_within_ten_seconds():
            if max(chaos.restarts, default=0) > 10:
                raise AssertionError("restarts took %s" % chaos.restarts)

        def nothing_acknowledged_is_lost_and_nothing_happened_twice():
            tap.equal(server.stop(), 0, "exit of the server")
            figures, faults = checker.check(
                server.data, glob.glob(chaos.journals + "/*.jsonl"))
            print("# rounds=%d kills %s seconds=%.0f slowest_restart=%.2f" % (
                ROUNDS, " ".join("%s=%d" % kill for kill in
                                 sorted(chaos.kills.items())),
                time.monotonic() - begin, max(chaos.restarts, default=0)))
            print("# " + " ".join("%s=%d" % f for f in figures.items()))
            for fault in faults:
                print("# fault: " + fault)
            tap.equal(len(faults), 0, "faults")
            if figures["acked"] < TRIALS:
                raise AssertionError("too few reports to prove anything")

        tap.run([every_study_completes, nothing_is_left_running,
                 a_killed_server_is_back_within_ten_seconds,
                 nothing_acknowledged_is_lost_and_nothing_happened_twice])


main()
