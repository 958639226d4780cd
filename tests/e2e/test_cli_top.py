"""`hypertune top` off a terminal, and on one that comes and goes."""

import csv
import io
import json
import os
import subprocess
import sys

import tap
from cli_home import Home, Terminal
from harness import wait_until

TRAIN = """
echo "step 1 accuracy=0.5"
while [ ! -e go ]; do sleep 0.05; done
"""


def two_studies(home):
    """One has ended, the other runs until there is a file `go`."""
    spec = {"spec": 1, "name": "ended", "goal": "maximize accuracy",
            "parameters": {"lr": [0.1, 0.2]}, "algorithm": "grid",
            "trials": 2, "parallel": 2,
            "metrics": {"stdout": "accuracy={accuracy}"},
            "command": ["sh", "-c", "echo accuracy=0.25"]}
    home.cli("submit", home.write("ended.json", spec), "--wait")
    home.write("train.sh", TRAIN)
    home.cli("submit", home.write("spec.json", {
        **spec, "name": "runs", "command": ["sh", "train.sh"], "grace": "1s",
        "metrics": {"stdout": "step {step} accuracy={accuracy}"}}))


def snapshot(home):
    return json.loads(home.cli("top", "-o", "json")[0])


def reports(home):
    return [trial for runner in snapshot(home)["runners"]
            for trial in runner["trials"] if "value" in trial]


def a_snapshot_has_studies_runners_and_what_runs():
    with Home() as home:
        two_studies(home)
        wait_until(lambda: len(reports(home)) == 2, "both reports")
        got = snapshot(home)
        tap.equal((got["slots"], got["busy"]), (2, 2))
        tap.true(got["diskTotalBytes"] > got["diskFreeBytes"] > 0,
                 (got["diskTotalBytes"], got["diskFreeBytes"]))
        tap.equal([(s["study"], s["state"], s["ended"], s["limit"],
                    s["running"], s.get("best"), s.get("bestTrial"))
                   for s in got["studies"]],
                  [("runs", "RUNNING", 0, 2, 2, None, None),
                   ("ended", "SUCCEEDED", 2, 2, 0, 0.25, "1")])
        runner, = got["runners"]
        tap.equal((runner["engine"], runner["state"], runner["slots"],
                   runner["busy"]), ("process", "ONLINE", 2, 2))
        tap.equal([(t["trial"], t["step"], t["metric"], t["value"])
                   for t in runner["trials"]],
                  [("runs/1", "1", "accuracy", 0.5),
                   ("runs/2", "1", "accuracy", 0.5)])
        tables_and_lines_say_the_same(home, runner["runner"])
        home.write("go", "")


def tables_and_lines_say_the_same(home, runner):
    studies, runners = home.cli("top")[0].split("\n\n")
    tap.equal([line.split()[:4] for line in studies.splitlines()[1:]],
              [["runs", "RUNNING", "............", "0/2"],
               ["ended", "SUCCEEDED", "############", "2/2"]])
    rows = [line.split() for line in runners.splitlines()]
    tap.equal(rows[1][0], runner)
    tap.equal([rows[1][4], rows[2][0]], ["runs/1", "runs/2"])
    tap.equal([row[-1] for row in rows[1:]], ["accuracy=0.5"] * 2)
    lines = [json.loads(line) for line in
             home.cli("top", "-o", "jsonl")[0].splitlines()]
    tap.equal(["studies" in line or "runners" in line for line in lines],
              [False] * 4)
    tap.equal([line.get("study") for line in lines[1:]],
              ["runs", "ended", None])
    got = list(csv.DictReader(io.StringIO(home.cli("top", "-o", "csv")[0])))
    tap.equal([(row["study"], row["running"], row["best"], row["left_ms"])
               for row in got],
              [("runs", "2", "", ""), ("ended", "0", "0.25", "")])


def studies_come_in_the_order_that_was_asked_for():
    with Home() as home:
        two_studies(home)
        for order, want in (("state", ["runs", "ended"]),
                            ("name", ["ended", "runs"]),
                            ("-name", ["runs", "ended"]),
                            ("trials", ["ended", "runs"]),
                            ("-age", ["ended", "runs"]),
                            ("age", ["runs", "ended"])):
            out, _ = home.cli("top", "--sort", order, "-o", "csv")
            tap.equal([row["study"] for row in
                       csv.DictReader(io.StringIO(out))], want, order)
        _, err = home.cli("top", "--sort", "speed", want=2)
        tap.contains("not by \"speed\"", err)
        home.cli("top", "-o", "yaml", want=2)
        home.cli("top", "runs", want=2)
        home.write("go", "")


def it_is_drawn_at_most_four_times_a_second():
    chatty = ("while :; do i=$((i+1)); echo step $i accuracy=0.5; "
              "sleep 0.02; done\n")
    with Home() as home:
        two_studies(home)
        home.write("chatty.sh", chatty)
        home.write("go", "")
        home.cli("submit", "spec.json", "--name", "chatty", "--",
                 "sh", "chatty.sh")
        with Terminal(home, "top") as terminal:
            terminal.expect("chatty/1")
            # Two seconds; half of it, as the first may have been late.
            took = terminal.time_drawings(8)
            tap.true(took > 1, "%.2f s" % took)
            terminal.press("q")
            tap.equal(terminal.wait(), 0)


def a_dumb_terminal_gets_a_snapshot():
    with Home() as home:
        two_studies(home)
        with Terminal(home, "top", TERM="dumb") as terminal:
            tap.equal(terminal.wait(), 0)
            tap.lacks("\x1b", terminal.shown)
            tap.contains("RUNNER", terminal.shown)
        home.write("go", "")


def the_last_picture_stays_while_the_server_is_away():
    with Home() as home:
        server = subprocess.Popen(
            [os.path.join(sys.argv[1], "hypertuned"), "--data", home.state,
             "--listen", "127.0.0.1:0", "--report-listen",
             "tcp://127.0.0.1:0"], stdout=subprocess.PIPE,
            env=home.environment({}), encoding="utf-8")
        ready = server.stdout.readline()
        tap.starts(ready, "ready ")
        url = ready.split()[1].split("=", 1)[1]
        with Terminal(home, "top", "--timeout", "6s", HYPERTUNE_SERVER=url,
                      HYPERTUNE_TOKEN_FILE=os.path.join(
                          home.state, "token")) as terminal:
            terminal.expect("0 studies")
            server.kill()
            server.wait()
            server.stdout.close()
            terminal.expect("0 studies")
            terminal.expect("server away, trying again   [q]uit")
            tap.equal(terminal.wait(), 8)
            tap.equal(terminal.is_raw(), False)
            tap.contains("\x1b[?1049l", terminal.shown)


if __name__ == "__main__":
    tap.run([a_snapshot_has_studies_runners_and_what_runs,
             studies_come_in_the_order_that_was_asked_for,
             it_is_drawn_at_most_four_times_a_second,
             a_dumb_terminal_gets_a_snapshot,
             the_last_picture_stays_while_the_server_is_away])
