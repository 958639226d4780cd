"""What -o csv and -o jsonl print is for programs: plain numbers, moments of
ISO 8601, nothing for nothing, in every command that has a table."""

import csv
import io
import json
import re

import tap
from cli_home import Home
from harness import wait_until

SPEC = {"spec": 1, "name": "plain", "goal": "maximize accuracy",
        "parameters": {"lr": {"type": "double", "min": 0.1, "max": 0.9},
                       "opt": ["adam", "sgd"]},
        "algorithm": "random", "seed": 1, "trials": 12, "parallel": 2,
        "command": ["sh", "-c", "echo accuracy=${1#--lr=}", "x"],
        "metrics": {"stdout": "accuracy={accuracy}"}}
WAITS = {**SPEC, "name": "waits", "trials": 1,
         "command": ["sh", "-c", "sleep 600"], "grace": "1s"}

COMMANDS = [
    ["list"], ["describe", "plain"], ["describe", "waits"],
    ["trials", "plain"], ["trials", "waits"], ["trial", "plain/3"],
    ["trial", "waits/1"], ["best", "plain"], ["curves", "plain"],
    ["compare", "plain/1", "plain/2", "--all"], ["importance", "plain"],
    ["health", "plain"],
    ["replay", "plain"], ["replay", "plain", "--algorithm", "bayesian"],
    ["top"], ["runners"], ["projects"], ["audit"], ["token", "list"],
    ["doctor"], ["export", "plain"], ["export", "waits"]]

# What only people read, and columns of which each cell is a number or empty.
FOR_PEOPLE = re.compile(
    r"-|now|[\d.]+ ?(ms|s|m|h|d|%)|(\d+[smhd])+|[\d.]+ [KMGT]?i?B|\d+/\d*|"
    r"\w+=[\d.]+")
NUMBERS = ("ID TRIALS LIMIT RUN FAIL BEST STEP TIME ATTEMPT ACCURACY lr SLOTS "
           "BUSY SKEW CODE COUNT IMPORTANCE ended limit running waiting "
           "failed best left_ms value step attempt").split()
MOMENTS = ("CREATED STARTED ENDED SEEN EXPIRES created started "
           "time").split()
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def check_cell(command, title, cell):
    what = "%s %s: %r" % (" ".join(command), title, cell)
    if (command[0], title) == ("runners", "TRIALS"):
        return  # names of trials
    if title in NUMBERS and cell:
        tap.true(re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell), what)
    if title in MOMENTS:
        tap.true(cell == "" or MOMENT.fullmatch(cell), what)
    elif title not in ("text", "POINT"):
        tap.true(not FOR_PEOPLE.fullmatch(cell), what)


def rows_of(home, command):
    out, _ = home.cli(*command, "-o", "csv")
    titles, *rows = csv.reader(io.StringIO(out))
    for row in rows:
        tap.equal(len(row), len(titles), command)
        for title, cell in zip(titles, row):
            # One is a count in top, the other seconds in trials.
            is_moment = (command[0], title) in (("export", "ended"),
                                                ("audit", "TIME"))
            check_cell(command, "ENDED" if is_moment else title, cell)
    return [dict(zip(titles, row)) for row in rows]


def every_table_is_plain():
    found = {" ".join(command): rows_of(shared, command)
             for command in COMMANDS}
    plain, = [row for row in found["list"] if row["NAME"] == "plain"]
    tap.equal((plain["TRIALS"], plain["LIMIT"], plain["METRIC"]),
              ("12", "12", "accuracy"))
    best, = found["best plain"]
    tap.equal(plain["BEST"], best["ACCURACY"])
    waits, = [row for row in found["list"] if row["NAME"] == "waits"]
    tap.equal((waits["BEST"], waits["ENDED"]), ("", ""))
    tap.equal(found["describe plain"], [plain])
    tap.equal(len(found["trials plain"]), 12)
    tap.true(all(0 < float(row["TIME"]) < 600
                 for row in found["trials plain"]))


def a_table_without_rows_has_its_titles():
    for command in (["list", "--state", "failed"], ["token", "list"],
                    ["trials", "plain", "--state", "failed"],
                    ["audit", "--who", "nobody-of-that-name"]):
        out, _ = shared.cli(*command, "-o", "csv")
        tap.equal(len(out.splitlines()), 1, command)


def numbers(value):
    """All scalars of a JSON document."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [one for item in value for one in numbers(item)]
    return [value]


def lines_of_json_are_plain():
    for command in COMMANDS:
        if command[0] == "doctor":
            continue  # its texts are sentences for people
        out, _ = shared.cli(*command, "-o", "jsonl")
        for line in out.splitlines():
            for one in numbers(json.loads(line)):
                tap.true(one not in ("-", "now") and not (
                    isinstance(one, str) and
                    re.fullmatch(r"[\d.]+ ?(ms|m|h|d|%)", one)),
                         "%s: %r" % (command, one))


def the_state_is_one_line():
    best, = rows_of(shared, ["best", "plain"])
    out, err = shared.cli("describe", "plain", "-o", "line")
    tap.equal((out, err), ("plain SUCCEEDED 12/12 best accuracy=%.6g trial %s"
                           "\n" % (float(best["ACCURACY"]), best["ID"]), ""))
    tap.equal(shared.cli("describe", "waits", "-o", "line", want=9)[0],
              "waits RUNNING 0/1\n")
    shared.cli("pause", "waits")
    tap.equal(shared.cli("describe", "waits", "-o", "line", want=9)[0],
              "waits PAUSED 0/1\n")
    shared.cli("cancel", "waits", "--yes")
    shared.run("watch", "waits")
    tap.equal(shared.cli("describe", "waits", "-o", "line", want=7)[0],
              "waits CANCELLED 1/1\n")
    shared.cli("describe", "other", "-o", "line", want=3)
    tap.contains("args line", shared.cli("describe", "plain", "-o", "lime2",
                                         want=2)[1])


with Home() as shared:
    shared.cli("submit", shared.write("plain.json", SPEC), "--wait")
    shared.cli("submit", shared.write("waits.json", WAITS))
    wait_until(lambda: "ACTIVE" in shared.cli("trials", "waits")[0],
               "a trial that runs")
    tap.run([every_table_is_plain,
             a_table_without_rows_has_its_titles,
             lines_of_json_are_plain,
             the_state_is_one_line])
