"""`watch` and `top` in a real terminal, of 80 and 200 columns."""

import http.server
import json
import os
import signal
import subprocess
import threading

import tap
from cli_home import Home
from harness import wait_until
from tmux import Tmux

SIZES = (80, 200)
TRAIN = """
for step in 1 2 3 4; do echo "step $step accuracy=0.$step"; done
printf 'by \\033[2J\\033]0;owned\\007 nobody\\n'
while [ -e train.sh ] && [ ! -e go ] && [ ! -e more ]; do sleep 0.05; done
echo more to say
while [ -e train.sh ] && [ ! -e go ]; do sleep 0.05; done
[ ! -e broken ] || exit 3
"""


def a_running_study(home, **changes):
    """Its trials end as soon as there is a file `go`."""
    spec = {"spec": 1, "name": "quick", "goal": "maximize accuracy",
            "parameters": {"learning_rate": {"type": "double", "min": 0.1,
                                             "max": 0.9},
                           "optimizer": ["adam", "s\x9b2J\u202egd"]},
            "algorithm": "random", "seed": 1, "trials": 8, "parallel": 4,
            "grace": "1s", "retries": 0,
            "metrics": {"stdout": "step {step} accuracy={accuracy}"},
            "command": ["sh", "train.sh"], **changes}
    home.write("train.sh", TRAIN)
    home.cli("submit", home.write("spec.json", spec))


def in_terminals(case):
    """Runs the case in a terminal of each size."""
    for columns in SIZES:
        with Home() as home, Tmux(home, columns) as terminal:
            a_running_study(home)
            case(home, terminal, columns)


def heads(terminal):
    return [line for line in terminal.lines() if line.startswith("quick  ")]


def watch_shows_what_runs_and_why_the_rest_waits():
    def case(home, terminal, columns):
        # The first two are through; events show one step a second only.
        wait_until(lambda: home.run("curves", "quick", "-o", "csv")[1]
                   .count("\n") == 9, "all measurements")
        terminal.type("hypertune watch quick")
        terminal.expect("quick  RUNNING  random  maximize accuracy",
                        " elapsed", "0/8", "2 slots: 2 busy", "0 failed",
                        "best   none yet", "why    2 of 4 wait: 2 slots",
                        "RUNNING   ID     STEP   ACCURACY  CURVE", "▁▃▅▇",
                        " [p]ause  [s]top  [l]ogs  [b]est  [q]uit")
        wide = ("RUNNER", "WHY", "drawn", "learning_rate=0.")
        tap.equal([text in terminal.screen() for text in wide],
                  [columns == 200] * 4, terminal.screen())
        home.write("go", "")
        terminal.expect("8/8", "quick  SUCCEEDED", "LAST      ",
                        " SUCCEEDED 0.4", "best   0.4  trial ", "0.4 |",
                        "why    all 8 trials have ended")
        terminal.expect_prompt()
        tap.equal(len(heads(terminal)), 1, terminal.screen())
    in_terminals(case)


def failures_are_shown_with_their_reason():
    def case(home, terminal, _):
        home.write("broken", "")
        home.write("go", "")
        terminal.type("hypertune watch quick")
        terminal.expect("8 failed", "LAST      ", " FAILED exit 3",
                        "quick  FAILED", "why    ")
        terminal.expect_prompt()
    in_terminals(case)


def keys_do_what_the_last_line_says():
    def case(home, terminal, _):
        terminal.type("hypertune watch quick")
        terminal.expect("RUNNING   ID")
        terminal.press("p")
        terminal.expect("quick  PAUSED", "[r]esume  [s]top", "pause: done")
        terminal.press("r")
        terminal.expect("quick  RUNNING", "[p]ause  [s]top", "resume: done")
        terminal.press("b")
        terminal.expect("best: none yet")
        terminal.press("l")
        terminal.expect("printed:", "step 4 accuracy=0.4", "by \\x1b[2J")
        # What it prints later comes by itself.
        home.write("more", "")
        terminal.expect("more to say")
        terminal.press("s")
        terminal.expect("stop ends running trials; continue? [y/N]")
        terminal.press("n")
        terminal.expect("[p]ause  [s]top")
        tap.contains("RUNNING", heads(terminal)[0], terminal.screen())
        terminal.press("s")
        terminal.expect("continue? [y/N]")
        terminal.press("y")
        terminal.expect_prompt()
        out, _ = home.cli("list", "-o", "json")
        tap.equal(json.loads(out)[0]["hypertuneStatus"]["state"], "STOPPED")
    in_terminals(case)


def a_new_size_leaves_nothing_of_the_old_picture():
    for command, low in ("watch quick", (41, 12)), ("top", (60, 14)):
        with Home() as home, Tmux(home, 200) as terminal:
            a_running_study(home)
            terminal.type("hypertune " + command)
            terminal.expect("quick", "[q]uit")
            for columns, rows in ((80, 16), low, (200, 30)):
                terminal.resize(columns, rows)
                wait_until(lambda: fits(terminal, columns),
                           "a picture of %d columns" % columns)
            terminal.press("q")
            terminal.expect_prompt()


def fits(terminal, columns):
    """Is there one picture alone, made for this width?"""
    lines = terminal.lines()
    titles = [line for line in lines
              if line.startswith(("RUNNING   ID", "STUDY "))]
    keys = [line for line in lines if "[q]uit" in line]
    return (len(titles) == len(keys) == 1 and
            max(map(len, lines)) < columns and
            ("  WHY  " in titles[0] or "   disk " in lines[0]) ==
            (columns == 200))


def a_terminal_is_left_as_it_was_found():
    with Home() as home, Tmux(home, 80) as terminal:
        a_running_study(home)
        before = terminal.modes()
        for command, whole in (("watch quick", "0"), ("top", "1")):
            for leave, code in (("C-c", 130), (signal.SIGTERM, 143),
                                (signal.SIGHUP, 143), ("q", 0)):
                terminal.clear()
                terminal.type("hypertune " + command)
                terminal.expect("quick", "[q]uit")
                tap.equal(terminal.ask("alternate_on"), whole, command)
                tap.true(terminal.modes() != before, command)
                if isinstance(leave, str):
                    terminal.press(leave)
                else:
                    os.kill(child_of(terminal), leave)
                terminal.expect_prompt()
                tap.equal(terminal.modes(), before, (command, leave))
                terminal.type("echo code $?")
                terminal.expect("code %d" % code)


def child_of(terminal):
    return int(subprocess.check_output(
        ["pgrep", "-P", terminal.ask("pane_pid")]))


def ctrl_z_gives_top_s_screen_back():
    with Home() as home, Tmux(home, 80) as terminal:
        a_running_study(home)
        terminal.type("set -m")
        before = terminal.modes()
        terminal.type("hypertune top")
        terminal.expect("STUDY ", "[q]uit")
        terminal.press("C-z")
        terminal.expect_prompt()
        tap.equal(terminal.modes(), before)
        terminal.type("fg")
        terminal.expect("STUDY ", "[q]uit")
        tap.equal(terminal.ask("alternate_on"), "1")
        terminal.press("q")
        terminal.expect_prompt()


def top_shows_studies_runners_and_what_runs():
    def case(home, terminal, columns):
        home.cli("submit", "spec.json", "--name", "another", "--trials", "2")
        terminal.type("hypertune top")
        terminal.expect("hypertune 0.", "up ", "database ", "disk ",
                        "2 studies: 2 running", "2 slots: 2 busy",
                        "STUDY ", "PROGRESS", "............", "0/8", "0/2",
                        "RUNNER ", "process", "2/2", "quick/1",
                        "accuracy=0.4", " by state")
        tap.equal(terminal.sees("disk"), True)
        tap.equal(studies(terminal), ["another", "quick"])
        terminal.press("n")
        terminal.expect(" by name")
        terminal.press("n")
        terminal.expect(" by -name")
        wait_until(lambda: studies(terminal) == ["quick", "another"],
                   "the other order")
        home.write("go", "")
        terminal.expect("8/8", "2/2", "############", "accuracy=0.4",
                        "2 studies: 0 running", "2 slots: 0 busy")
        tap.equal(terminal.sees("quick/1"), False)
        terminal.press("q")
        terminal.expect_prompt()
        tap.equal(terminal.sees("STUDY "), False, terminal.screen())
    in_terminals(case)


def studies(terminal):
    lines = terminal.lines()
    start = [line.startswith("STUDY ") for line in lines].index(True) + 1
    end = lines.index("", start)
    return [line.split()[0] for line in lines[start:end]]


class Hostile(http.server.BaseHTTPRequestHandler):
    """Names that would steer a terminal; more studies than lines."""

    EVIL = "a\x1b]0;owned\x07\x1b[2J\x1b[31m\u009b5A\u202eb\rc\nd"

    def do_GET(self):
        evil = self.EVIL
        jobs = [{"name": "x/studies/%d" % n, "maxTrialCount": 4, "studySpec": {
                 "metrics": [{"metricId": evil}]}, "hypertuneStatus": {
                     "name": "s%03d" % n + evil, "state": "RUNNING",
                     "kind": "TUNING", "reason": evil,
                     "best": {"id": "1", "hypertune": {"objective": 1}},
                     "counts": {"active": n == 99}}} for n in range(100)]
        latest = {"step": evil, "metrics": {evil: 0.5}}
        answers = {
            "server": {"version": evil, "readOnlyReason": evil},
            "studies": {"studies": jobs},
            "runners": {"runners": [{"runner": evil, "engine": evil,
                                     "host": evil, "slots": 1, "busy": 1,
                                     "state": "ONLINE"}]},
            "trials": {"trials": [{"id": evil, "hypertune": {
                "runner": evil, "latest": latest}}]}}
        body = json.dumps(answers[self.path.split("?")[0].split("/")[-1]]
                          if "events" not in self.path else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def hostile_names_do_not_steer_the_terminal():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d" % server.server_port
    for columns in SIZES:
        with Home() as home, Tmux(home, columns,
                                  HYPERTUNE_SERVER=url) as terminal:
            title = terminal.ask("pane_title")
            terminal.type("hypertune top --sort -age")
            terminal.expect("\\x1b]0;owned\\x07", "s000", "100 studies",
                            "RUNNER", "arrows scroll")
            tap.lacks("\x1b[31m", terminal.colours())
            terminal.press("Down")
            terminal.expect(" 2 to ")
            tap.equal(terminal.sees("s000"), False)
            terminal.press("Up")
            terminal.expect(" 1 to ", "s000")
            tap.equal(terminal.ask("pane_title"), title)
            terminal.press("q")
            terminal.expect_prompt()
    with Home() as home, Tmux(home, 200) as terminal:
        title = terminal.ask("pane_title")
        a_running_study(home)
        terminal.type("hypertune watch quick")
        terminal.expect("RUNNING   ID")
        terminal.press("l")
        terminal.expect("\\x1b[2J\\x1b]0;owned\\x07 nobody")
        tap.equal(terminal.ask("pane_title"), title)
        tap.equal(len(heads(terminal)), 1)
        terminal.press("q")
        terminal.expect_prompt()


def colour_and_letters_are_what_the_terminal_takes():
    with Home() as home, Tmux(home, 80) as terminal:
        a_running_study(home)
        for command, title in (("watch quick", "quick  "),
                               ("top", "hypertune 0.")):
            for setting, bold in (("", True), ("NO_COLOR=1 ", False)):
                terminal.clear()
                terminal.type("%shypertune %s" % (setting, command))
                terminal.expect("[q]uit")
                tap.equal("\x1b[1m" + title in terminal.colours(), bold)
                terminal.press("q")
                terminal.expect_prompt()
        terminal.clear()
        terminal.type("LC_ALL=C hypertune watch quick")
        terminal.expect("  _-+#  ", "[q]uit")
        tap.true(terminal.screen().isascii(), terminal.screen())
        terminal.press("q")
        terminal.expect_prompt()


if __name__ == "__main__":
    tap.run([watch_shows_what_runs_and_why_the_rest_waits,
             failures_are_shown_with_their_reason,
             keys_do_what_the_last_line_says,
             a_new_size_leaves_nothing_of_the_old_picture,
             a_terminal_is_left_as_it_was_found,
             ctrl_z_gives_top_s_screen_back,
             top_shows_studies_runners_and_what_runs,
             hostile_names_do_not_steer_the_terminal,
             colour_and_letters_are_what_the_terminal_takes])
