"""Completion in real shells, and when the server is away."""

import http.server
import json
import os
import shutil
import socket
import sys
import threading
import time

import tap
from cli_home import Home, Terminal
from harness import wait_until

SPEC = {"spec": 1, "name": "digits", "goal": "maximize accuracy",
        "parameters": {"lr": [0.1, 0.2], "opt": ["adam", "sgd"]},
        "algorithm": "grid", "trials": 2,
        "metrics": {"stdout": "accuracy={accuracy}"},
        "command": ["sh", "-c", "echo accuracy=0.5 $0 $@"]}


def a_home_with_a_study(home):
    home.cli("submit", home.write("spec.json", SPEC), "--wait")


def candidates(home, *words, **variables):
    out, err = home.cli("complete", *words, **variables)
    tap.equal(err, "")
    return [line.split("\t")[0] for line in out.splitlines()]


def expect_answer(want, ask, what):
    """A person waits 280 ms for candidates at most; a machine that is busy may
    need to be asked again."""
    found = [ask()]

    def is_it():
        if found[0] != want:
            found[0] = ask()
        return found[0] == want
    try:
        wait_until(is_it, what)
    except AssertionError:
        tap.equal(found[0], want, what)


def candidates_follow_the_words_before_them():
    with Home() as home:
        a_home_with_a_study(home)
        for words, want in (
                (["des"], ["describe"]),
                (["stop"], ["stop-trial", "stop"]),
                (["compl"], ["completion"]),
                (["completion", ""], ["bash", "zsh", "fish"]),
                (["help", "ex"], ["export", "exit"]),
                (["describe", ""], ["digits"]),
                (["ui", ""], ["digits"]),
                (["ui", "--no-o"], ["--no-open"]),
                (["describe", "digits", ""], []),
                (["-o", "json", "best", "d"], ["digits"]),
                (["trial", ""], ["digits/"]),
                (["trial", "digits/"], ["digits/1", "digits/2"]),
                (["curves", "d"], ["digits"]),
                (["curves", "digits/1", "digits/2"], ["digits/2"]),
                (["retry", "digits/"], []),
                (["add", "digits", ""], ["lr=", "opt="]),
                (["set", "digits", "p"], ["parallel="]),
                (["set", "digits", ""], ["trials=", "parallel=", "lr=", "opt="]),
                (["set", "digits", "--noise", ""], ["low", "high"]),
                (["set", "digits", "--stop-rule", "h"], ["hyperband"]),
                (["clone", "digits", ""], ["lr=", "opt="]),
                (["clone", "d"], ["digits"]),
                (["list", "--st"], ["--state"]),
                (["list", "--state", "run"], ["running"]),
                (["list", "--state=run"], ["--state=running"]),
                (["list", "--state", "=", "run"], ["running"]),
                (["trials", "--state", "inf"], ["infeasible"]),
                (["watch", "--until", "succ"], ["succeeded"]),
                (["best", "-o", "js"], ["json", "jsonl"]),
                (["best", "-o", "f"], []),
                (["gcloud-env", "-o", "f"], ["fish"]),
                (["gcloud-env", "--pro"], ["--project"]),
                (["to"], ["top", "token"]),
                (["top", "--sort", "-l"], ["-left"]),
                (["top", ""], []),
                (["export", ""], ["digits"]),
                (["importance", "digits", "--metric", ""], ["accuracy"]),
                (["curves", "digits/2", "--metric", "a"], ["accuracy"]),
                (["best", "--metric", ""], []),
                (["trials", "digits", "--sort", ""],
                 ["best", "id", "time", "accuracy", "lr", "opt"]),
                (["trials", "digits", "--sort", "-o"], ["-opt"]),
                (["trials", "digits", "--where=l"], ["--where=lr="]),
                (["replay", "digits", "--from", ""], ["1", "2"]),
                (["submit", "--warm-start", "d"], ["digits"]),
                (["check", "-o", "ve"], ["vertex"]),
                (["logs", "--stream", ""], ["stdout", "stderr", "runner"]),
                (["doc"], ["doctor"]),
                (["runner"], ["runner", "runners"]),
                (["fetch", "d"], ["digits/"]),
                (["fetch", "digits/"], ["digits/best", "digits/1",
                                        "digits/2"]),
                (["fetch", "digits/best", ""], [":files"]),
                (["local-run", "--vol"], ["--volume"]),
                (["submit", ""], [":files"]),
                (["export", "digits", "--out", ""], [":files"]),
                (["export", "digits", "-o", "di"], ["dir"]),
                (["import", ""], [":files"]),
                (["run", "--maximize", "m", "--", "tr"], [":files"]),
                (["no-such", ""], []),
                (["complete"], [])):
            expect_answer(want, lambda: candidates(home, *words), words)


def the_server_is_neither_started_nor_waited_for():
    with Home() as home, socket.socket() as silent:
        tap.equal(candidates(home, "describe", ""), [])
        tap.true(not os.path.exists(home.state), "a server was started:")
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = "http://127.0.0.1:%d" % silent.getsockname()[1]
        start = time.monotonic()
        tap.equal(candidates(home, "describe", "", HYPERTUNE_SERVER=url), [])
        took = time.monotonic() - start
        # 280 ms, and what a loaded machine needs to start a process; another
        # question to a server that is silent takes 30 s.
        tap.true(took < 20, "%.3f s" % took)
        tap.equal(candidates(home, "best", "quick", "--metric", "",
                             HYPERTUNE_SERVER=url), [])
        tap.equal(candidates(home, "desc", HYPERTUNE_SERVER=url),
                  ["describe"])


def in_shell(home, *argv):
    """The shell on a terminal, with hypertune in PATH."""
    program = shutil.which(argv[0])
    if program is None:
        raise tap.Skip(argv[0] + " is not installed")
    return Terminal(home, *argv[1:], program=[program],
                    PATH=os.path.realpath(sys.argv[1]) + ":" +
                    os.environ["PATH"], PS1="ready$ ", HOME=home.folder)


def type_and_expect(shell, typed, want):
    """Presses Tab once more when nothing has come of it."""
    shell.press(typed)

    def is_shown():
        before = shell.shown
        if want not in before and shell.read(5) and shell.shown == before:
            shell.press("\t")
        return want in shell.shown
    wait_until(is_shown, want)
    shell.expect(want)


def tab_completes_in_bash():
    with Home() as home:
        a_home_with_a_study(home)
        with in_shell(home, "bash", "--norc", "--noprofile", "-i") as shell:
            shell.press(". <(hypertune completion bash); PS1=next%\n")
            shell.expect("next%")
            for typed, want in (
                    ("hypertune descr\t", "describe "),
                    ("digi\t", "digits "),
                    ("\x15hypertune trial di\t", "digits/"),
                    ("2\t", "2 "),
                    ("\x15hypertune list --state=runn\t",
                     "--state=running "),
                    ("\x15hypertune add digits op\t", "opt="),
                    ("\x15hypertune check spec.j\t", "spec.json ")):
                type_and_expect(shell, typed, want)
            shell.press("\x15exit\n")
            tap.equal(shell.wait(), 0)


def tab_completes_in_zsh():
    with Home() as home:
        if shutil.which("zsh") is None:
            raise tap.Skip("zsh is not installed")
        a_home_with_a_study(home)
        with in_shell(home, "zsh", "-f", "-i") as shell:
            shell.press("autoload -Uz compinit; compinit -u -D; "
                        "source <(hypertune completion zsh); PS1=next%%\n")
            shell.expect("next%")
            for typed, want in (
                    ("hypertune descr\t", "describe"),
                    ("digi\t", "digits"),
                    ("\x15hypertune trial di\t", "digits/"),
                    ("\x15hypertune list --state=runn\t",
                     "--state=running")):
                type_and_expect(shell, typed, want)
            shell.press("\x15exit\n")
            shell.wait()


def fish_gets_candidates_with_descriptions():
    with Home() as home:
        if shutil.which("fish") is None:
            raise tap.Skip("fish is not installed")
        a_home_with_a_study(home)
        home.write("ask.fish", "hypertune completion fish | source\n"
                   "complete -C 'hypertune descr'\n"
                   "complete -C 'hypertune describe '\n"
                   "complete -C 'hypertune check spec.j'\n")

        def ask():
            with in_shell(home, "fish", "--no-config", "ask.fish") as shell:
                tap.equal(shell.wait(), 0, shell.shown)
                return shell.shown.replace("\r", "").splitlines()
        expect_answer(["describe\teverything about one study",
                       "digits\tSUCCEEDED", "spec.json"], ask, "fish's")


def scripts_are_there_for_three_shells():
    with Home() as home:
        for shell in "bash", "zsh", "fish":
            out, _ = home.cli("completion", shell)
            tap.contains("hypertune completion " + shell, out)
        _, err = home.cli("completion", "bsh", want=2)
        tap.contains("did you mean bash?", err)
        home.cli("completion", want=2)


class Hostile(http.server.BaseHTTPRequestHandler):
    """Every list has a name that a shell would run, and a harmless one."""

    def do_GET(self):
        jobs = [{"name": "x/hyperparameterTuningJobs/%d" % number,
                 "hypertuneStatus": {"name": name, "state": "RUNNING\x1b[2J"}}
                for number, name in enumerate(["$(id)", "a;b", "a b", "good"])]
        body = json.dumps({"studies": jobs}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def a_hostile_server_cannot_put_commands_into_a_line():
    server = http.server.HTTPServer(("127.0.0.1", 0), Hostile)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    with Home() as home:
        out = wait_until(lambda: home.cli(
            "complete", "describe", "", HYPERTUNE_SERVER=(
                "http://127.0.0.1:%d" % server.server_port))[0], "candidates")
        tap.equal(out, "good\tRUNNING\\x1b[2J\n")
    server.shutdown()
    thread.join()
    server.server_close()


if __name__ == "__main__":
    tap.run([candidates_follow_the_words_before_them,
             the_server_is_neither_started_nor_waited_for,
             tab_completes_in_bash,
             tab_completes_in_zsh,
             fish_gets_candidates_with_descriptions,
             scripts_are_there_for_three_shells,
             a_hostile_server_cannot_put_commands_into_a_line])
