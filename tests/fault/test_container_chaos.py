"""kill -9 of server, runner and engine at random moments, while a study of 40
trials runs in containers; on a dockerd and a Podman that belong to this test.

HYPERTUNE_KILLS (default 9) is the number of kills on each, HYPERTUNE_SEED
(default 1) their choice. dockerd itself dies only with KILL_DOCKERD=1: Debian's
20.10.24 has been seen to panic at every start after a kill -9, whatever program
had used it."""

import collections
import contextlib
import os
import random
import signal
import sys
import tempfile
import time

import chaos
import engines
import harness
import tap

KILLS = int(os.environ.get("HYPERTUNE_KILLS", "9"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
VICTIMS = ["server", "runner", "engine"]
TRIALS, SLOTS = 40, 4


class Killer:
    """One study on one engine."""

    def __init__(self, private, server, journals):
        self.private = private
        self.server = server
        tools = os.path.dirname(chaos.TRAINER)
        self.chaos = chaos.Chaos(
            server, TRIALS, SEED, journals, image=engines.PYTHON,
            command=["sh", "-c",
                     "sleep 1; exec /tools/chaos_trainer /journals"],
            volumes=[tools + ":/tools:ro", journals + ":/journals"])
        self.random = random.Random(SEED)
        self.victims = [
            victim for victim in VICTIMS
            if victim != "engine" or private.kind != "dockerd" or
            os.environ.get("KILL_DOCKERD")]
        self.kills = collections.Counter()

    def await_full_house(self):
        """dockerd 20.10 has been seen not to survive a death while it starts
        containers: it panicked at every start from then on. So it dies while
        trials run."""
        def everybody_runs():
            found = self.private.engine.labelled("containers/json",
                                                 self.server.label)
            return self.chaos.is_over() or SLOTS == len(
                [item for item in found if item["State"] == "running"])
        harness.wait_until(everybody_runs, "trials in every slot")

    def kill_one(self, victim):
        if victim == "server":
            self.server.kill()
            self.server.start()
        elif victim == "engine":
            self.await_full_house()
            self.private.kill()
            self.private.start()
        else:
            for pid in self.chaos.programs("runner"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.kills[victim] += 1

    def run(self):
        begin = time.monotonic()
        self.chaos.submit()
        for number in range(KILLS):
            # Not a wait for something: the moment of the next death.
            time.sleep(self.random.uniform(0.2, 2.0))
            self.kill_one(self.victims[number % len(self.victims)])
        self.chaos.expect_completion()
        print("# %s: seconds=%.0f kills %s" % (
            self.private.kind, time.monotonic() - begin,
            " ".join("%s=%d" % kill for kill in sorted(self.kills.items()))))


def cases(stack, kind):
    folder = tempfile.mkdtemp(prefix="ht-chaos-")
    private = stack.enter_context(
        engines.PrivateEngine(kind, os.path.join(folder, "engine")))
    server = stack.enter_context(engines.Server(
        private.engine, "--volume-root", "%s,%s" % (
            os.path.realpath(folder), os.path.dirname(chaos.TRAINER)),
        slots=SLOTS))
    killer = Killer(private, server,
                    os.path.join(os.path.realpath(folder), "journals"))

    def forty_trials_complete():
        killer.run()

    def no_container_or_network_is_left():
        server.expect_nothing_left()

    def nothing_is_lost_and_nothing_happened_twice():
        killer.chaos.expect_agreement()

    made = [forty_trials_complete,
            no_container_or_network_is_left,
            nothing_is_lost_and_nothing_happened_twice]
    for case in made:
        case.__name__ += "_on_" + kind
    return made


def main():
    # An engine outlives the test unless the end of it comes as an exception.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kinds = ["podman" if engine.podman else "dockerd"
             for engine in engines.here()]
    with contextlib.ExitStack() as stack:
        tap.run([case for kind in kinds for case in cases(stack, kind)] or
                engines.absent())


if __name__ == "__main__":
    main()
