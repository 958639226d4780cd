"""The clock of the machine jumps by days, ten years and back to 1971 while
trials run: none is lost, none runs out of time, and the study continues.

HYPERTUNE_JUMPS (default 4) is the number of jumps, HYPERTUNE_SEED their choice
beyond the first ones."""

import os
import random
import tempfile
import time

import checker
import engines
import fake_clock
import harness
import tap

# Back to the beginning of 1971, by days, as libfaketime takes them.
FIRST = ("+1d", "-1d", "+3650d", "-%dd" % (time.time() / 86400 - 365))


def jumps():
    number = int(os.environ.get("HYPERTUNE_JUMPS", len(FIRST)))
    draw = random.Random(int(os.environ.get("HYPERTUNE_SEED", "1")))
    return (list(FIRST) + ["%+dd" % draw.randint(-18000, 3650)
                           for _ in range(number)])[:number] + ["+0"]


def survive(server, clock, **members):
    """Two trials wait while the clock jumps; a quick study after each jump
    shows that leases, reports and ends still work."""
    go = os.path.join(server.folder, "go")
    waits = "echo score=1; until [ -e %s ]; do sleep 0.05; done" % go
    server.submit(engines.spec(
        "long", engines.shell(waits), trials=2, parallel=2, trialTimeout="1h",
        **members))
    harness.wait_until(
        lambda: [len(server.measurements("long", trial["id"]))
                 for trial in server.trials("long")] == [1, 1],
        "two waiting trials")
    for number, offset in enumerate(jumps()):
        clock.set(offset)
        quick = "quick-%d" % number
        server.submit(engines.spec(quick, engines.shell("echo score=1"),
                                   **members))
        tap.equal(server.wait_study(quick)["state"], "SUCCEEDED", offset)
        tap.equal(server.study("long")["state"], "RUNNING", offset)
    with open(go, "w", encoding="ascii"):
        pass
    tap.equal(server.wait_study("long")["state"], "SUCCEEDED")
    for trial in (1, 2):
        facts = server.trial("long", trial)["hypertune"]
        tap.equal((facts["state"], len(facts["attempts"])), ("SUCCEEDED", 1))


def main():
    if fake_clock.missing():
        tap.skip("a clock that is set", fake_clock.missing())
    with tempfile.TemporaryDirectory(prefix="ht-clock-") as folder, \
            engines.FakeEngine(os.path.join(folder, "engine")) as engine, \
            fake_clock.fake_clock() as clock:

        def processes_do_not_mind_the_clock():
            with harness.Server(slots=4) as server:
                survive(server, clock, image=None)
                tap.equal(checker.stop_and_check(server)[1], [])

        def containers_do_not_mind_the_clock():
            with engines.Server(engine, slots=4) as server:
                survive(server, clock)
                tap.equal(checker.stop_and_check(server)[1], [])

        tap.run([processes_do_not_mind_the_clock,
                 containers_do_not_mind_the_clock])


if __name__ == "__main__":
    main()
