"""What a server costs and how fast it is: one key=value a line."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402

REPORTS, TRIALS = 20000, 100


def rss_kb(pid):
    for line in harness.read_proc(pid, "status").decode().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def show(key, value, digits=0):
    print("%s=%.*f" % (key, digits, value), flush=True)


def study(name, command, trials):
    return {"spec": 1, "name": name, "goal": "maximize accuracy",
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "algorithm": "random", "trials": trials, "parallel": 2,
            "args": "none", "command": command}


def run(server, spec):
    """Seconds from the study's first trial to its end."""
    server.submit(spec, env={"PATH": harness.bin_dir() + os.pathsep +
                             os.environ["PATH"]})
    status = server.wait_study(spec["name"], 250)
    if status["state"] != "SUCCEEDED":
        sys.exit("bench: %s: %s" % (spec["name"], status["reason"]))
    return (int(status["endTimeMs"]) - int(status["startTimeMs"])) / 1000


def main():
    # All reports are stored: more than a replica may send at once.
    server = harness.Server("--budget", "replica-rate=1000", slots=2)
    show("ready_ms", 1000 * server.start())
    try:
        measure(server)
    finally:
        server.close()


def measure(server):
    show("idle_rss_kb", rss_kb(server.process.pid))
    took = run(server, study("many", ["sh", "-c", "hypertune report"
                                      " accuracy=1"], TRIALS))
    show("trials_per_s", TRIALS / took, 1)
    show("rss_after_%d_trials_kb" % TRIALS, rss_kb(server.process.pid))
    result = os.path.join(server.folder, "result")
    trainer = os.path.join(harness.bin_dir(), "..", "bench", "bench_trial")
    run(server, study("reports", [os.path.realpath(trainer), str(REPORTS),
                                  result], 1))
    with open(result, encoding="ascii") as file:
        called, confirmed = map(float, file.read().split())
    show("report_call_us", 1e6 * called / REPORTS, 1)
    show("reports_acked_per_s", REPORTS / confirmed)
    show("rss_after_%d_reports_kb" % REPORTS, rss_kb(server.process.pid))


main()
