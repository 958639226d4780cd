"""kill -9 of server, runner, shims and trainers at random moments, while a
study of 200 short trials runs in four slots.

HYPERTUNE_KILLS (default 15) is the number of kills, HYPERTUNE_SEED (default 1)
their choice. A study that ends before the last kill is followed by another."""

import collections
import os
import random
import signal
import time

import chaos
import harness
import tap

KILLS = int(os.environ.get("HYPERTUNE_KILLS", "15"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
# Servers twice: their death is the one that could lose what was confirmed.
VICTIMS = ["server", "server", "runner", "shim", "trainer"]


class Killer:
    def __init__(self, server):
        self.server = server
        self.chaos = chaos.Chaos(server, 200, SEED)
        self.random = random.Random(SEED)
        self.kills = collections.Counter()
        self.restarts = [0.0]

    def kill_one(self, victim):
        if victim == "server":
            self.server.kill()
            self.restarts.append(self.server.start())
        else:
            pids = self.chaos.programs(victim)
            if not pids:
                return
            try:
                os.kill(self.random.choice(pids), signal.SIGKILL)
            except ProcessLookupError:
                return  # it has ended in this moment
        self.kills[victim] += 1

    def run(self):
        begin = time.monotonic()
        self.chaos.submit()
        while sum(self.kills.values()) < KILLS:
            # Not a wait for something: the moment of the next death.
            time.sleep(self.random.uniform(0.1, 1.0))
            self.kill_one(self.random.choice(VICTIMS))
            if self.chaos.is_over():
                self.chaos.submit()
        print("# rounds=%d seconds=%.0f slowest_restart=%.2f kills %s" % (
            KILLS, time.monotonic() - begin, max(self.restarts),
            " ".join("%s=%d" % kill for kill in sorted(self.kills.items()))))


def main():
    with harness.Server(slots=4) as server:
        killer = Killer(server)
        killer.run()

        def every_study_completes():
            killer.chaos.expect_completion()

        def nothing_is_left_running():
            killer.chaos.expect_quiet()

        def a_killed_server_is_back_within_ten_seconds():
            if max(killer.restarts) > 10:
                raise AssertionError("restarts took %s" % killer.restarts)

        def nothing_acknowledged_is_lost_and_nothing_happened_twice():
            killer.chaos.expect_agreement()

        tap.run([every_study_completes, nothing_is_left_running,
                 a_killed_server_is_back_within_ten_seconds,
                 nothing_acknowledged_is_lost_and_nothing_happened_twice])


main()
