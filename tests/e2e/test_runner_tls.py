"""A runner that reaches its server by TLS only: whom it trusts, where its
trials report to, and what becomes of them when keys or addresses change."""

import os
import shlex
import shutil
import signal
import subprocess

import harness
import tap
from runner_process import Runner
from tls_server import TlsServer

WRONG_PIN = "sha256//" + 43 * "A" + "="
ENV = {"PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]}

server = TlsServer("--runner", "none")


def submit(name, script):
    """A study of one trial that may report by the network only."""
    server.submit({
        "spec": 1, "name": name, "goal": "maximize accuracy", "trials": 1,
        "parameters": {"x": [1]}, "algorithm": "grid", "retries": 0,
        "args": "none", "metricDoctor": "warn",
        "command": ["sh", "-c", "unset HYPERTUNE_REPORT_FILE; " + script]},
        env=ENV)


def report(value):
    return "hypertune report accuracy=%d --step %d; " % (value, value)


WAIT = "while ! [ -e %s ]; do sleep 0.02; done; "


def values(name):
    return [one["metrics"]["accuracy"]
            for one in server.measurements(name, 1)]


def check(name, *expected):
    status = server.wait_study(name)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name))
    tap.equal(values(name), list(expected), name)
    tap.equal(len(server.trial(name, 1)["hypertune"]["attempts"]), 1)


def begin(name, *later):
    """A trial that reports 1, then each later value when the file `name`-VALUE
    exists; returns the function that makes it exist."""
    mark = os.path.join(server.folder, name + "-%d")
    submit(name, report(1) + "".join(
        WAIT % (mark % value) + report(value) for value in later))
    harness.wait_until(lambda: server.trials(name) and values(name) == [1],
                       "the first report")

    def go_on(value):
        with open(mark % value, "w", encoding="ascii"):
            pass
    return go_on


def its_trials_report_to_it_on_loopback_and_it_passes_that_on():
    with Runner(server, "ca", "--ca", server.ca) as runner:
        submit("by-ca", "echo to=$HYPERTUNE_REPORT_URL; " + report(7))
        check("by-ca", 7)
        tap.contains("to=tcp://127.0.0.1:%d\n" % runner.port(),
                     server.cli("logs", "by-ca/1").stdout)
        assert runner.port() != server.ports[1].number


def joined(name, *words):
    """`hypertune runner join` on the machine `name`; the running process."""
    home = os.path.join(server.data, name)
    os.makedirs(home, exist_ok=True)
    with open(os.path.join(home, "log"), "ab") as log:
        return subprocess.Popen(
            [os.path.join(harness.bin_dir(), "hypertune"), "runner", "join",
             server.https, *words, "--slots", "1"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env=dict(os.environ, HYPERTUNE_STATE=home))


def log_of(name):
    with open(os.path.join(server.data, name, "log"), encoding="utf-8") as file:
        return file.read()


def one_command_makes_a_machine_a_runner():
    made = server.cli("token", "create", "box", "--role", "join")
    token = made.stdout.strip()
    tap.contains("hypertune runner join https://", made.stderr)
    words = shlex.split(made.stderr[made.stderr.index("hypertune runner"):])
    tap.equal(words[-2:], ["--token", "TOKEN"])
    for number in (1, 2):  # the second time it has joined already
        process = joined("box", *words[4:-1], token)
        try:
            submit("joined-%d" % number, report(number))
            check("joined-%d" % number, number)
        finally:
            process.terminate()
            process.wait(harness.PATIENCE)
    tap.equal(log_of("box").count("joined https://"), 1)
    tap.lacks(token, server.log_text())
    process = joined("other", *words[4:-1], token)
    tap.equal(process.wait(harness.PATIENCE), 4)
    tap.contains("used to join", log_of("other"))
    process = joined("third", *words[4:-2])
    tap.equal(process.wait(harness.PATIENCE), 4)
    tap.contains("hypertune token create NAME --role join", log_of("third"))
    process = joined("fourth", "--token", token)
    tap.equal(process.wait(harness.PATIENCE), 4)
    tap.contains("no trust in", log_of("fourth"))


def a_server_that_it_does_not_trust_gets_no_token():
    for trust in ((), ("--pin", WRONG_PIN)):
        with Runner(server, "none%d" % len(trust), *trust) as runner:
            runner.wait_log("no trust in")
            tap.lacks("server.greeted", runner.log())
    tap.lacks("peer.refused", server.log_text())


def no_token_goes_over_a_network_in_clear():
    runner = Runner(server, "clear", url="http://tuner.example:8470")
    for option, code, text in (((), 2, "use https://"),
                               (("--pin", "sha256//x"), 2, "use https://")):
        done = subprocess.run(
            [os.path.join(harness.bin_dir(), "hypertune-runner"), "--server",
             runner.url, "--token-file", runner.token, *option],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            timeout=harness.PATIENCE)
        tap.equal(done.returncode, code, done.stderr)
        tap.contains(text, done.stderr)
    runner.options = ("--insecure",)
    with runner:
        runner.wait_log("server.away")


def a_server_at_every_address_has_its_runner_on_this_machine():
    every = harness.Server("--insecure")
    every.report = every.report.replace("127.0.0.1", "0.0.0.0")
    every.control = every.control.replace("127.0.0.1", "0.0.0.0")
    with every:
        every.submit({
            "spec": 1, "name": "every", "goal": "maximize accuracy",
            "trials": 1, "parameters": {"x": [1]}, "algorithm": "grid",
            "args": "none", "command": ["sh", "-c", report(3)]}, env=ENV)
        tap.equal(every.wait_study("every")["state"], "SUCCEEDED",
                  every.explain("every"))


def a_restarted_runner_takes_what_its_trials_send_at_the_same_port():
    pin, _ = server.pins()
    with Runner(server, "again", "--pin", pin) as runner:
        go_on = begin("again", 2)
        port = runner.port()
    with runner:
        harness.wait_until(lambda: runner.log().count("server.greeted") == 2,
                           "the second hello")
        tap.equal(runner.port(), port)
        go_on(2)
        check("again", 1, 2)


def rotate():
    """To the next key, as docs/operations.md describes it."""
    pin, _ = server.pins()
    server.make("rotate")
    _, after = server.pins()
    server.process.send_signal(signal.SIGHUP)
    harness.wait_until(lambda: server.note()["tls"]["pins"] == "%s;%s" % (
        pin, after), "both pins")
    return after


def a_key_changes_while_a_trial_runs():
    pin, _ = server.pins()
    after = rotate()
    with Runner(server, "rotated", "--pin", pin) as runner:
        go_on = begin("rotated", 2, 3)
        server.make("rotate")
        server.reload(after)
        go_on(2)
        harness.wait_until(lambda: values("rotated") == [1, 2], "the report")
    with runner:  # --pin has the key of before, uplink.json the one of now
        harness.wait_until(lambda: runner.log().count("server.greeted") == 2,
                           "the second hello")
        go_on(3)
        check("rotated", 1, 2, 3)


def turn(name, *trust):
    """Both steps while one trial and its runner run; between them the runner
    asks the server again, as it does every ten minutes."""
    with Runner(server, name, *trust) as runner:
        go_on = begin(name, 2, 3)
        before, _ = server.pins()
        after = rotate()
        server.stop()
        runner.wait_log("server.away")  # so it looks where the server is
        server.start()
        harness.wait_until(
            lambda: runner.kept()["pins"] == before + ";" + after,
            "the next key at the runner")
        go_on(2)
        harness.wait_until(lambda: values(name) == [1, 2], "the report")
        server.make("rotate")
        server.reload(after)
        server.stop()  # no connection of before is left
        server.start()
        go_on(3)
        check(name, 1, 2, 3)


def a_whole_rotation_passes_while_a_trial_runs():
    turn("by-pin", "--pin", server.pins()[0])
    turn("by-authority", "--ca", server.ca)


def begin_tls(name, *trust):
    shutil.move(server.tls, server.tls + ".kept")
    server.stop()
    harness.Server.start(server)
    with Runner(server, name, url=server.http) as runner:
        mark = os.path.join(server.folder, name)
        server.submit({
            "spec": 1, "name": name, "goal": "maximize accuracy",
            "trials": 1, "parameters": {"x": [1]}, "algorithm": "grid",
            "retries": 0, "args": "none",
            "command": ["sh", "-c", report(1) + WAIT % mark + report(2)]},
            env=ENV)
        harness.wait_until(lambda: server.trials(name) and
                           values(name) == [1], "the first report")
        server.stop()
        shutil.move(server.tls + ".kept", server.tls)
        server.start()
    runner.url, runner.options = server.https, trust
    with runner:
        with open(mark, "w", encoding="ascii"):
            pass
        check(name, 1, 2)


def tls_begins_while_a_trial_runs():
    begin_tls("begun-by-ca", "--ca", server.ca)
    begin_tls("begun-by-pin", "--pin", server.pins()[0])


with server:
    tap.run([
        its_trials_report_to_it_on_loopback_and_it_passes_that_on,
        one_command_makes_a_machine_a_runner,
        a_server_that_it_does_not_trust_gets_no_token,
        no_token_goes_over_a_network_in_clear,
        a_server_at_every_address_has_its_runner_on_this_machine,
        a_restarted_runner_takes_what_its_trials_send_at_the_same_port,
        a_key_changes_while_a_trial_runs,
        a_whole_rotation_passes_while_a_trial_runs,
        tls_begins_while_a_trial_runs,
    ])
