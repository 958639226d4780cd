"""A week of work in a short time: studies come, report, end and are deleted
while the clock runs ahead. After its first part the server has as many files
open and hardly more memory, and its write-ahead log stays small.

The week has HYPERTUNE_ROUNDS (default 4) rounds, each with a study of
HYPERTUNE_TRIALS (default 20) trials, which send 250 reports, and one of a
client that asks for suggestions."""

import os

import api
import checker
import fake_clock
import harness
import tap

ROUNDS = int(os.environ.get("HYPERTUNE_ROUNDS", "4"))
TRIALS = int(os.environ.get("HYPERTUNE_TRIALS", "20"))
REPORTS = 250
WEEK_HOURS = 168
MIB = 1 << 20
WAL_MOST = 64 * MIB
KEPT = 2  # rounds whose studies are not deleted yet
# Trials end in each way: without a result, with an error, and well.
TRAINER = """
[ "$CLOUD_ML_TRIAL_ID" != 3 ] || exit 0
i=0
while [ $i -lt %d ]; do
    i=$((i + 1))
    echo score=0.$i
done
[ "$CLOUD_ML_TRIAL_ID" != 7 ]
""" % REPORTS


def run_trials(server, number):
    """Of the runner."""
    name = "trials-%d" % number
    server.submit({
        "spec": 1, "name": name, "goal": "maximize score", "trials": TRIALS,
        "parallel": 4, "retries": 0, "maxFailed": TRIALS,
        "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
        "command": ["sh", "-c", TRAINER], "args": "none",
        "metrics": {"stdout": "score={score}"}})
    status = server.wait_study(name)
    counts = status["counts"]
    tap.equal((status["state"], counts["succeeded"], counts["failed"]),
              ("SUCCEEDED", TRIALS - 2, 2), status)


def run_client(server, number):
    """A search by Gaussian processes, one trial of which is left open."""
    made = server.call("POST", api.STUDIES, {
        "displayName": "client-%d" % number, "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [{"parameterId": name, "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}} for name in "xyz"]}})[1]
    for n in range(10):
        trial = server.call("POST", "/v1/%s/trials:suggest" % made["name"], {
            "suggestionCount": 1, "clientId": "me-%d" % n})[1][
                "response"]["trials"][0]
        loss = sum((point["value"] - 0.3) ** 2
                   for point in trial["parameters"])
        if n < 9:
            tap.equal(server.call("POST", "/v1/%s:complete" % trial["name"], {
                "finalMeasurement": {"metrics": [
                    {"metricId": "loss", "value": loss}]}})[0], 200)
    return made["name"]


def delete(server, number, name):
    tap.equal(server.call("DELETE", "/v1/" + name)[0], 200)
    server.cli("delete", "--yes", "trials-%d" % number)


def figures(server):
    """Bytes in memory, open files, bytes of the write-ahead log."""
    folder = "/proc/%d/" % server.process.pid
    status = harness.read_proc(server.process.pid, "status").decode()
    line, = [line for line in status.splitlines() if line.startswith("VmRSS")]
    wal = os.path.join(server.data, "hypertune.db-wal")
    return (int(line.split()[1]) << 10, len(os.listdir(folder + "fd")),
            os.path.getsize(wal) if os.path.exists(wal) else 0)


def main():
    if fake_clock.missing():
        tap.skip("a week", fake_clock.missing())
    with fake_clock.fake_clock() as clock, harness.Server() as server:

        def a_week_leaves_memory_and_files_as_its_first_part_did():
            seen, names = [], []
            for number in range(ROUNDS):
                clock.set("+%dh" % (WEEK_HOURS * number // ROUNDS))
                names.append(run_client(server, number))
                run_trials(server, number)
                if number >= KEPT:
                    delete(server, number - KEPT, names[number - KEPT])
                seen.append(figures(server))
                print("# round %d: %.1f MiB, %d files, log of %.1f MiB" % (
                    number, seen[-1][0] / MIB, seen[-1][1],
                    seen[-1][2] / MIB), flush=True)
            first, last = seen[ROUNDS // 3], seen[-1]
            tap.true(last[0] <= 1.05 * first[0] + 2 * MIB, (first, last))
            tap.true(last[1] <= first[1] + 4, (first, last))
            tap.true(max(wal for _, _, wal in seen) <= WAL_MOST, seen)
            tap.equal(checker.stop_and_check(server, is_over=False)[1], [])

        tap.run([a_week_leaves_memory_and_files_as_its_first_part_did])


if __name__ == "__main__":
    main()
