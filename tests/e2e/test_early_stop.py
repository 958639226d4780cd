"""Early stopping with real trainers: what promises little is stopped, with its
reason, whatever the rule and whatever happens to the server."""

import os

import harness
import tap
import tree

EPOCHS = 150
# As texts, which a grid takes as they come.
GOOD = ["0.03", "0.05", "0.07", "0.1", "0.12", "0.15"]
BAD = ["2e-5", "4e-5"]
# Trials that learn too slowly are wide, so that they take seconds: a rule that
# looks late, on a machine that is busy, still finds them at it.
DIGITS = """
case $0 in *e-5) set -- --hidden_units=500 ;; esac
exec digits --data="%s" --seed=1 --epochs=%d --learning_rate=$0 "$@"
""" % (tree.DIGITS, EPOCHS)

# Tells no steps; the level 0 never rises, and continues until it is stopped.
TRAINER = """
import itertools, subprocess, sys, time
level = int(sys.argv[1])
for i in itertools.count() if level == 0 else range(10):
    subprocess.run(["hypertune", "report", "score=%g" % (level * (i + 1))],
                   check=True)
    time.sleep(0.1 if level == 0 else 0)
"""


def environment():
    return {"PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]}


def check_digits(rule):
    with harness.Server(slots=2) as server:
        server.submit({
            "spec": 1, "name": "digits", "goal": "maximize accuracy",
            "parameters": {"rate": GOOD + BAD},
            "algorithm": "grid", "trials": 8, "parallel": 2, "args": "none",
            "earlyStopping": rule,
            "command": ["sh", "-c", DIGITS, "${rate}"]}, env=environment())
        status = server.wait_study("digits")
        tap.equal(status["state"], "SUCCEEDED", status["reason"])
        found = {}
        for trial in server.trials("digits"):
            own = trial["hypertune"]
            found[own["params"]["rate"]] = own
        tap.equal(sorted(found), sorted(BAD + GOOD))
        for rate in BAD:
            own = found[rate]
            tap.equal(own["state"], "STOPPED", own["reason"])
            if not own["reason"].startswith(
                    "stopped early by the %s rule at step " % rule):
                raise AssertionError(own["reason"])
            stop = own["stop"]
            tap.equal((stop["rule"], stop["metric"]), (rule, "accuracy"))
            tap.true(stop["at"] < int(own["step"]) + 1 < EPOCHS, own)
            tap.true(stop["value"] < stop["threshold"], stop)
            tap.true(stop["trials"] >= 5 and stop["end"] == EPOCHS)
            foretold, = stop["predicted"]
            tap.equal(foretold["metric"], "accuracy")
            tap.true(foretold["value"] < 0.97 and foretold["deviation"] > 0,
                     foretold)
            tap.true(2 <= len(stop["curve"]) <= 50, len(stop["curve"]))
            tap.equal(stop["curve"][-1][0], stop["at"])
        tap.equal([found[rate]["state"] for rate in GOOD[:4]],
                  ["SUCCEEDED"] * 4)
        tap.contains(status["best"]["hypertune"]["params"]["rate"], GOOD)
        number = [trial["id"] for trial in server.trials("digits")
                  if trial["hypertune"]["params"]["rate"] == BAD[0]]
        shown = server.cli("trial", "digits/" + number[0]).stdout
        tap.contains("stopped early by the %s rule" % rule, shown)


def the_median_rule_stops_a_network_that_learns_too_slowly():
    check_digits("median")


def the_decay_rule_stops_a_network_that_learns_too_slowly():
    check_digits("decay")


def the_convex_rule_stops_a_network_that_learns_too_slowly():
    check_digits("convex")


def a_killed_server_continues_early_stopping():
    with harness.Server(slots=1) as server:
        with open(os.path.join(server.folder, "train.py"), "w",
                  encoding="ascii") as file:
            file.write(TRAINER)
        server.submit({
            "spec": 1, "name": "killed", "goal": "maximize score",
            "parameters": {"level": [str(i) for i in (1, 2, 3, 4, 5, 0)]},
            "algorithm": "grid", "trials": 6, "parallel": 1, "args": "none",
            "workdir": server.folder,
            "earlyStopping": {"rule": "median", "minMeasurements": 8},
            "command": ["python3", "train.py", "${level}"]},
            env=environment())
        path = harness.STUDIES + "killed/trials/6"
        harness.wait_until(
            lambda: "latest" in server.call("GET", path)[1].get("hypertune",
                                                                {}),
            "the last trial's first measurement")
        server.kill()
        server.start()
        status = server.wait_study("killed")
        tap.equal(status["state"], "SUCCEEDED", status["reason"])
        own = server.trial("killed", 6)["hypertune"]
        tap.equal(own["state"], "STOPPED", own["reason"])
        tap.equal((own["stop"]["value"], own["stop"]["trials"]), (0, 5))
        tap.equal([server.trial("killed", n)["hypertune"]["state"]
                   for n in range(1, 6)], ["SUCCEEDED"] * 5)


tap.run([the_median_rule_stops_a_network_that_learns_too_slowly,
         the_decay_rule_stops_a_network_that_learns_too_slowly,
         the_convex_rule_stops_a_network_that_learns_too_slowly,
         a_killed_server_continues_early_stopping])
