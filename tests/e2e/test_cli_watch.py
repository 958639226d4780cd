"""`hypertune watch` on a real terminal and off it, through thick and thin."""

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios

import tap
from cli_home import Home, Terminal, gone, stop
from harness import PATIENCE, Port, wait_until

TRAIN = """
for step in 1 2 3; do echo "step $step accuracy=0.$step"; done
while [ ! -e go ]; do sleep 0.05; done
"""


def spec():
    return {"spec": 1, "name": "quick", "goal": "maximize accuracy",
            "parameters": {"learning_rate": {"type": "double", "min": 0.1,
                                             "max": 0.9},
                           "optimizer": ["adam", "sgd"]},
            "algorithm": "random", "seed": 1, "trials": 4, "parallel": 2,
            "grace": "1s",
            "metrics": {"stdout": "step {step} accuracy={accuracy}"},
            "command": ["sh", "train.sh"]}


def a_running_study(home, **variables):
    """Its trials end as soon as there is a file `go`."""
    home.write("train.sh", TRAIN)
    home.cli("submit", home.write("spec.json", spec()), **variables)


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ,
                struct.pack("HHHH", rows, columns, 0, 0))
    os.kill(terminal.pid, signal.SIGWINCH)


def is_stopped(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


def the_picture_has_what_a_person_asks_first():
    with Home() as home, home_terminal(home, "watch", "quick") as terminal:
        resize(terminal, 30, 120)
        for text in ("quick  RUNNING  random  maximize accuracy", " elapsed",
                     "trials ....", "0/4", " slots: ", " busy",
                     "best   none yet", "RUNNING   ID", "CURVE", "RUNNER",
                     "0.3", "[p]ause  [s]top  [l]ogs  [b]est  [q]uit"):
            terminal.expect(text)
        home.write("go", "")
        terminal.expect("SUCCEEDED")
        tap.equal(terminal.wait(), 0)
        tap.contains("LAST      ", terminal.shown)
        tap.contains("4/4", terminal.shown)


def home_terminal(home, *arguments, **variables):
    a_running_study(home)
    return Terminal(home, *arguments, **variables)


def it_redraws_in_place_at_most_four_times_a_second():
    chatty = ("while :; do i=$((i+1)); echo step $i accuracy=0.5; "
              "sleep 0.02; done\n")
    with Home() as home:
        home.write("train.sh", chatty)
        home.cli("submit", home.write("spec.json", spec()))
        with Terminal(home, "watch", "quick") as terminal:
            terminal.expect("RUNNING   ID")
            # Two seconds; half of it, as the first may have been late.
            took = terminal.time_drawings(8)
            tap.true(took > 1, "%.2f s" % took)
            tap.true(terminal.shown.count("A\r") >=
                     terminal.shown.count("\x1b[J") - 1)
            terminal.press("q")
            tap.equal(terminal.wait(), 0)


def forty_columns_are_enough():
    with Home() as home, home_terminal(home, "watch", "quick") as terminal:
        terminal.expect("RUNNING   ID")
        resize(terminal, 12, 40)
        terminal.expect("\x1b[2J\x1b[H")
        wait_until(lambda: terminal.read(0.1) and
                   terminal.shown.count("\x1b[J") >= 2, "two pictures")
        frame = strip(terminal.shown.split("\x1b[J")[1])
        terminal.press("q")
        tap.equal(terminal.wait(), 0)
    tap.contains("RUNNING   ID", frame)
    for line in frame.splitlines():
        tap.true(len(line) < 40, line)


def strip(shown):
    for escape in "\x1b[2J", "\x1b[H", "\x1b[1m", "\x1b[0m", "\x1b[K":
        shown = shown.replace(escape, "")
    return shown.split("A\r", 1)[-1]


def colours_are_off_when_they_are_not_wanted():
    with Home() as home, home_terminal(home, "watch", "quick",
                                       NO_COLOR="1") as terminal:
        terminal.expect("RUNNING   ID")
        terminal.press("q")
        tap.equal(terminal.wait(), 0)
        tap.lacks("\x1b[1m", terminal.shown)
        with Terminal(home, "watch", "quick") as coloured:
            coloured.expect("\x1b[1mquick")


def a_dumb_terminal_gets_lines():
    with Home() as home, home_terminal(home, "watch", "quick",
                                       TERM="dumb") as terminal:
        home.write("go", "")
        tap.equal(terminal.wait(), 0)
        tap.lacks("\x1b", terminal.shown)
        # The first trials may have ended before it looked.
        tap.contains(" SUCCEEDED accuracy=0.3", terminal.shown)
        tap.contains(" study quick SUCCEEDED", terminal.shown)


def every_way_out_restores_the_terminal():
    ways = (("\x03", None, 130), (None, signal.SIGTERM, 143),
            (None, signal.SIGHUP, 143), ("\x1c", None, 143), ("q", None, 0))
    with Home() as home:
        a_running_study(home)
        for keys, number, code in ways:
            with Terminal(home, "watch", "quick") as terminal:
                terminal.expect("RUNNING   ID")
                tap.equal(terminal.is_raw(), True)
                if keys:
                    terminal.press(keys)
                else:
                    os.kill(terminal.pid, number)
                tap.equal(terminal.wait(), code, (keys, number))
                tap.equal(terminal.is_raw(), False, (keys, number))


def ctrl_z_gives_the_terminal_back_until_it_is_continued():
    # As under a shell: someone else of the session can continue the group.
    inner = ("import os,signal,subprocess,sys\n"
             "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
             "child = subprocess.Popen(sys.argv[1:], preexec_fn=lambda: ("
             "os.setpgid(0, 0), os.tcsetpgrp(0, os.getpgid(0))))\n"
             "print('pid', child.pid, flush=True)\n"
             "sys.exit(child.wait())\n")
    with Home() as home:
        a_running_study(home)
        program = os.path.join(sys.argv[1], "hypertune")
        with Terminal(home, inner, program, "watch", "quick",
                      program=[sys.executable, "-c"]) as terminal:
            terminal.expect("pid ")
            terminal.expect("RUNNING   ID")
            pid = int(subprocess.check_output(
                ["pgrep", "-P", str(terminal.pid)]))
            tap.equal(terminal.is_raw(), True)
            terminal.press("\x1a")
            wait_until(lambda: is_stopped(pid), "a stopped watch")
            tap.equal(terminal.is_raw(), False)
            terminal.shown = ""
            os.kill(pid, signal.SIGCONT)
            terminal.expect("RUNNING   ID")
            wait_until(terminal.is_raw, "the terminal's raw mode")
            terminal.press("q")
            tap.equal(terminal.wait(), 0)
            tap.equal(terminal.is_raw(), False)


def a_server(home, port):
    process = subprocess.Popen(
        [os.path.join(sys.argv[1], "hypertuned"), "--data", home.state,
         "--listen", port.address, "--report-listen", "tcp://127.0.0.1:0"],
        stdout=subprocess.PIPE, env=home.environment({}), encoding="utf-8")
    ready = process.stdout.readline()
    tap.starts(ready, "ready http=http://" + port.address)
    return process


def named(home, port):
    return {"HYPERTUNE_SERVER": "http://" + port.address,
            "HYPERTUNE_TOKEN_FILE": os.path.join(home.state, "token")}


def shows_a_pause(home, port, lines):
    """Does `lines` follow by now, so that it shows a new event?"""
    for verb in "pause", "resume":
        home.cli(verb, "quick", **named(home, port))
    return bool(select.select([lines.stdout], [], [], 0.3)[0])


def a_restart_of_the_server_is_outlived():
    with Home() as home, contextlib.closing(Port()) as port:
        server = a_server(home, port)
        a_running_study(home)
        with Terminal(home, "watch", "quick",
                      **named(home, port)) as terminal:
            lines = home.start("watch", "quick", **named(home, port))
            terminal.expect("RUNNING   ID")
            wait_until(lambda: shows_a_pause(home, port, lines),
                       "the watch in lines to follow")
            server.kill()
            server.wait()
            terminal.expect("server away, trying again")
            tap.equal(lines.stderr.readline(), "server away, trying again\n")
            server.stdout.close()
            server = a_server(home, port)
            terminal.expect("[p]ause")
            home.write("go", "")
            tap.equal(terminal.wait(), 0)
            out, err = lines.communicate(timeout=PATIENCE)
            tap.equal(lines.returncode, 0, err)
            tap.contains("the server is back", err)
            tap.equal(sum(" SUCCEEDED accuracy=" in line
                          for line in out.splitlines()), 4, out)
        server.stdout.close()


def an_absent_server_can_be_left():
    with Home() as home, contextlib.closing(Port()) as port:
        server = a_server(home, port)
        a_running_study(home)
        server.kill()
        server.wait()
        server.stdout.close()
        for options, leave, code in (((), "q", 0),
                                     (("--timeout", "6s"), "", 8)):
            server = a_server(home, port)
            with Terminal(home, "watch", "quick", *options,
                          **named(home, port)) as terminal:
                terminal.expect("RUNNING   ID")
                server.kill()
                server.wait()
                server.stdout.close()
                terminal.expect("server away")
                terminal.press(leave)
                tap.equal(terminal.wait(), code, options)
                tap.equal(terminal.is_raw(), False)


def the_own_server_is_started_again_when_it_died():
    with Home() as home:
        a_running_study(home)
        with Terminal(home, "watch", "quick") as terminal:
            terminal.expect("RUNNING   ID")
            first = home.note()["pid"]
            stop(first, signal.SIGKILL)
            wait_until(lambda: (home.note() or {"pid": first})["pid"] != first,
                       "a new server")
            home.write("go", "")
            tap.equal(terminal.wait(), 0)
        tap.equal(gone(first), True)


def another_server_at_its_port_is_not_taken_for_the_own_one():
    with Home() as home, Home() as other, \
            contextlib.closing(Port()) as port:
        a_running_study(home, HYPERTUNED_LISTEN=port.address)
        tap.equal(home.note()["http"], "http://" + port.address)
        with Terminal(home, "watch", "quick") as terminal:
            terminal.expect("RUNNING   ID")
            os.kill(terminal.pid, signal.SIGSTOP)
            stop(home.note()["pid"], signal.SIGKILL)
            server = a_server(other, port)
            os.kill(terminal.pid, signal.SIGCONT)
            home.write("go", "")
            tap.equal(terminal.wait(), 0)
        tap.true(home.note()["http"] != "http://" + port.address)
        server.stdout.close()
    server.wait()


def a_deleted_study_ends_the_watch():
    with Home() as home:
        a_running_study(home)
        with Terminal(home, "watch", "quick") as terminal:
            terminal.expect("RUNNING   ID")
            home.cli("cancel", "quick", "--yes")
            tap.equal(terminal.wait(), 7)
        home.cli("submit", "spec.json", "--name", "other")
        lines = home.start("watch", "other", "--until", "paused")
        terminal = Terminal(home, "watch", "other")
        with terminal:
            terminal.expect("RUNNING   ID")
            # Over for a moment only, and then another one has its name.
            home.cli("pause", "other")
            tap.equal(lines.wait(PATIENCE), 0)
            lines.communicate()
            os.kill(terminal.pid, signal.SIGSTOP)
            home.cli("cancel", "other", "--yes")
            wait_until(lambda: home.run("delete", "other", "--yes")[0] == 0,
                       "the end of the study")
            home.cli("submit", "spec.json", "--name", "other")
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.expect("study other was deleted while it was watched")
            tap.equal(terminal.wait(), 3)
            tap.equal(terminal.is_raw(), False)


def exit_codes_say_how_it_ended():
    with Home() as home:
        a_running_study(home)
        home.cli("watch", "quick", "--until", "succeeded", "--timeout",
                 "300ms", want=8)
        home.write("go", "")
        home.cli("watch", "quick", "--until", "succeeded")
        home.cli("watch", "quick", "--until", "stopped", want=7)
        home.cli("watch", "quick", "--until", "suceeded", want=2)
        home.cli("watch", "absent", want=3)


if __name__ == "__main__":
    tap.run([the_picture_has_what_a_person_asks_first,
             it_redraws_in_place_at_most_four_times_a_second,
             forty_columns_are_enough,
             colours_are_off_when_they_are_not_wanted,
             a_dumb_terminal_gets_lines,
             every_way_out_restores_the_terminal,
             ctrl_z_gives_the_terminal_back_until_it_is_continued,
             a_restart_of_the_server_is_outlived,
             an_absent_server_can_be_left,
             the_own_server_is_started_again_when_it_died,
             another_server_at_its_port_is_not_taken_for_the_own_one,
             a_deleted_study_ends_the_watch,
             exit_codes_say_how_it_ended])
