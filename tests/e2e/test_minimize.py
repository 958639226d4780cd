"""minimize(): a Python function, evaluated in processes."""

import functools
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import redirect_stdout

import harness
import tap
import tree

import hypertune

# Argument 1 and 2: the server; 3: a folder. Its trials wait for ever.
KILLED = """
import os, sys, threading, hypertune
def f(x, trial):
    trial.report(x, step=1)
    trial.report(x, step=2)
    path = os.path.join(sys.argv[3], str(trial.id))
    with open(path + ".part", "w") as file:
        file.write("%d %r" % (os.getpid(), x))
    os.rename(path + ".part", path)
    threading.Event().wait()
hypertune.minimize(f, {"x": "0.0..1"}, trials=3, parallel=2, name="killed",
                   seed=5, client=hypertune.Client(*sys.argv[1:3]))
"""


def touch(folder, name):
    with open(os.path.join(folder, name), "w"):
        pass


def is_gone(pid):
    """Has it ended, whether or not it was waited for?"""
    stat = harness.read_proc(pid, "stat")
    return not stat or stat.rsplit(b")", 1)[1].split()[0] == b"Z"


def quietly(call, *arguments, **named):
    """What the call returns, and what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        returned = call(*arguments, **named)
    return returned, printed.getvalue()


def main():
    with harness.Server() as server, tempfile.TemporaryDirectory() as folder:
        client = hypertune.Client(server.http, server.token_file)

        def minimize(f, params=None, **more):
            return quietly(hypertune.minimize, f,
                           params or {"x": "0.0..1"}, client=client,
                           **more)[0]

        def states(study):
            return [trial.state for trial in study.trials()]

        def a_function_gets_what_it_names():
            space = {"x": "0..2.5", "opt": ["a", "b"], "m": {
                "type": "double", "min": 3, "max": 4, "when": {"opt": "a"}}}
            for f in (lambda x, opt, m=9: x + m,
                      lambda **params: params["x"] + params.get("m", 9),
                      lambda trial: trial.params["x"] + trial.params.get(
                          "m", 9),
                      functools.partial(lambda add, x, trial, m=9: x + m, 1)):
                study = minimize(f, space, trials=4)
                for trial in study.trials():
                    tap.equal(trial.value, trial.params["x"] +
                              trial.params.get("m", 9))

        def reports_without_a_trial_are_those_of_this_one():
            def f(x):
                for step in range(1, 4):
                    hypertune.report(step=step, value=x + step)
                tap.equal(hypertune.params(), {"x": x})
                return x + (100 if hypertune.should_stop() else 0)
            study = minimize(f, trials=2)
            for trial in study.trials():
                x = trial.params["x"]
                tap.equal([(step, value) for step, value, _
                           in study.curves(trial)],
                          [(1, x + 1), (2, x + 2), (3, x + 3)])
                tap.equal(trial.value, x)

        def a_function_that_does_not_fit_makes_no_study():
            space = {"x": "0..1.5", "opt": ["a", "b"], "m": {
                "type": "double", "min": 3, "max": 4, "when": {"opt": "a"}}}
            before = len(client.studies())
            for f, part in (
                    (lambda x, m=1: 1, "does not take the parameter opt"),
                    (lambda x, opt, m: 1, "give it a default"),
                    (lambda x, opt, rate, m=1: 1, "rate, which is no")):
                tap.contains(part, str(tap.raises(TypeError, minimize, f,
                                                  space)))
            tap.raises(TypeError, minimize, lambda trial: 1,
                       {"trial": "1..8"})
            tap.raises(ValueError, minimize, lambda x: 1, parallel=0)
            tap.equal(len(client.studies()), before)

        def the_best_is_found_and_what_is_printed_names_its_trial():
            def parabola(x):
                print("x is\n%r" % x, end="")
                return (x - 0.25) ** 2
            study, printed = quietly(
                hypertune.minimize, parabola, {"x": "0.0..1"}, trials=12,
                seed=1, client=client)
            tap.equal((study.state, study.name[:9], study.metric),
                      ("SUCCEEDED", "parabola-", "value"))
            tap.true(study.best_trial.value < 0.01, study.best_trial)
            tap.equal(printed, "".join(
                "[trial %d] x is\n[trial %d] %r\n" % (
                    trial.id, trial.id, trial.params["x"])
                for trial in study.trials()))
            again, _ = quietly(hypertune.maximize, parabola,
                               {"x": "0.0..1"}, trials=3, client=client)
            tap.true(again.id != study.id and again.maximize)

        def a_trial_that_fails_or_dies_leaves_the_others_alone():
            def f(n):
                if n == 2:
                    raise ValueError("no such n")
                if n == 3:
                    os.kill(os.getpid(), signal.SIGSEGV)
                if n == 4:
                    os._exit(7)
                if n == 5:
                    os.kill(os.getpid(), signal.SIGKILL)
                return [1.0, None, None, None, None, "x", None][n - 1]
            study = minimize(f, {"n": "1..7"}, trials=7, parallel=2,
                             algorithm="grid")
            by_n = {trial.params["n"]: trial for trial in study.trials()}
            tap.equal(by_n[1].value, 1)
            for n, reason in (
                    (2, "ValueError: no such n"), (3, "killed by SIGSEGV"),
                    (4, "exit status 7"), (5, "SIGKILL, perhaps for want of"),
                    (6, "returned 'x', not a number"),
                    (7, "returned None, and has reported no result")):
                tap.equal(by_n[n].state, "INFEASIBLE")
                tap.contains(reason, by_n[n].reason)

        def a_free_place_asks_at_once():
            place = tempfile.mkdtemp(dir=folder)

            def f(trial):
                touch(place, str(trial.id))
                if trial.id == 1:  # until all others have begun behind it
                    harness.wait_until(lambda: len(os.listdir(place)) == 9,
                                       "the other trials")
                return trial.id
            study = minimize(f, trials=9, parallel=4)
            tap.equal(states(study), ["SUCCEEDED"] * 9)

        def early_stopping_ends_a_trial():
            def f(x, trial):
                for step in range(1, 21):
                    trial.report(x, step=step)
                    if trial.should_stop():
                        return None
                return x
            study = minimize(f, trials=12, early_stopping="median", seed=3,
                             algorithm="random")
            stopped = study.trials("stopped")
            tap.true(0 < len(stopped) < 12, states(study))
            for trial in stopped:
                tap.true(len(study.curves(trial)) < 20)
                tap.true(trial.value > study.best_trial.value)

        def several_goals_come_by_name():
            study = client.create_study("front", ["gain", "cost"],
                                        ["maximize", "minimize"],
                                        {"x": "0.0..1"},
                                        until={"trials": 9})
            quietly(hypertune.evaluate, client.create_study(
                "front-2", ["gain", "cost"], ["maximize", "minimize"],
                {"x": "0.0..1"}, until={"trials": 3}, parallel=1),
                lambda x: {"gain": x, "cost": x * x}, parallel=2)
            tap.equal([sorted(trial.metrics) for trial in
                       client.study("front-2").trials()],
                      [["cost", "gain"]] * 3)
            error = tap.raises(hypertune.TrialsFailed, quietly,
                               hypertune.evaluate, study,
                               lambda x: 1.0)
            tap.contains("its result was refused", str(error))

        def a_broken_function_does_not_use_up_the_trials():
            def broken(x):
                raise KeyError("colum %r" % x)
            error = tap.raises(hypertune.TrialsFailed, minimize, broken,
                               name="repaired", trials=5, parallel=2)
            tap.contains("KeyError", str(error))
            tap.contains('raise KeyError("colum', str(error))
            study = client.study("repaired")
            first = [trial.params for trial in study.trials()]
            tap.equal(set(states(study)), {"ACTIVE"})
            minimize(lambda x: x, name="repaired", trials=5)
            tap.equal(states(study), ["SUCCEEDED"] * 5)
            tap.equal([trial.params for trial in study.trials()][:len(first)],
                      first)
            # Two alike and no third: it was their parameters.
            study = minimize(broken, trials=2)
            tap.equal(states(study), ["INFEASIBLE"] * 2)

        def the_budget_is_of_all_calls_with_a_name():
            study = minimize(lambda x: x, name="more", trials=3, seed=1)
            tap.equal(minimize(lambda x: x, name="more", trials=3,
                               seed=1).id, study.id)
            tap.equal(study.counts["succeeded"], 3)
            minimize(lambda x: x, name="more", trials=5, seed=1)
            tap.equal((study.counts["succeeded"], study.state),
                      (5, "SUCCEEDED"))
            error = tap.raises(hypertune.Conflict, minimize, lambda x: x,
                               {"x": "0.0..2"}, name="more", trials=5)
            tap.equal(error.violations, {"parameters.x.max": "1 -> 2"})

        def an_interrupt_ends_the_processes():
            def f(x, trial):
                touch(folder, "interrupted-%d-%d" % (trial.id, os.getpid()))
                if trial.id == 2:
                    harness.wait_until(lambda: any(
                        name.startswith("interrupted-1-")
                        for name in os.listdir(folder)), "the first trial")
                    os.kill(os.getppid(), signal.SIGINT)
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                threading.Event().wait()
            tap.raises(KeyboardInterrupt, minimize, f, name="interrupted",
                       trials=3, parallel=2)
            begun = [name for name in os.listdir(folder)
                     if name.startswith("interrupted-")]
            tap.equal(len(begun), 2)
            for name in begun:
                tap.true(is_gone(int(name.split("-")[2])), name)
            tap.equal(states(client.study("interrupted")), ["ACTIVE"] * 2)

        def a_search_that_was_killed_is_continued():
            place = tempfile.mkdtemp(dir=folder)
            parent = subprocess.Popen([
                sys.executable, "-c", KILLED, server.http, server.token_file,
                place], env={**os.environ, "PYTHONPATH": tree.PACKAGE})
            try:
                harness.wait_until(
                    lambda: {"1", "2"} <= set(os.listdir(place)) or
                    parent.poll() is not None, "two trials")
            finally:
                parent.send_signal(signal.SIGKILL)
                parent.wait()
            begun = {}
            for number in (1, 2):
                with open(os.path.join(place, str(number))) as file:
                    pid, x = file.read().split()
                harness.wait_until(lambda: is_gone(int(pid)), "its end")
                begun[number] = float(x)

            def f(x, trial):
                print(trial.id, repr(x))
                for step in range(1, 4):
                    trial.report(x + step, step=step)
                return x
            study, printed = quietly(
                hypertune.minimize, f, {"x": "0.0..1"}, trials=3, seed=5,
                name="killed", client=client)
            tap.equal([line.split()[2:] for line in
                       printed.splitlines()[:2]],
                      [[str(number), repr(x)] for number, x in begun.items()])
            tap.equal(states(study), ["SUCCEEDED"] * 3)
            x = begun[1]
            tap.equal([point[:2] for point in study.curves(1)],
                      [(1, x), (2, x), (3, x + 3)])

        def two_processes_never_evaluate_one_trial():
            def f(x):
                touch(folder, "alone")
                harness.wait_until(
                    lambda: os.path.exists(os.path.join(folder, "go")), "go")
                return x
            thread = threading.Thread(target=hypertune.minimize, args=(
                f, {"x": "0.0..1"}, 1), kwargs={"name": "alone",
                                                "client": client})
            thread.start()
            try:
                harness.wait_until(
                    lambda: os.path.exists(os.path.join(folder, "alone")),
                    "the trial")
                error = tap.raises(hypertune.FailedPrecondition, minimize, f,
                                   name="alone", trials=1)
                tap.contains("another process", str(error))
            finally:
                touch(folder, "go")
                thread.join()
            tap.equal(states(client.study("alone")), ["SUCCEEDED"])

        tap.run([
            a_function_gets_what_it_names,
            reports_without_a_trial_are_those_of_this_one,
            a_function_that_does_not_fit_makes_no_study,
            the_best_is_found_and_what_is_printed_names_its_trial,
            a_trial_that_fails_or_dies_leaves_the_others_alone,
            a_free_place_asks_at_once,
            early_stopping_ends_a_trial,
            several_goals_come_by_name,
            a_broken_function_does_not_use_up_the_trials,
            the_budget_is_of_all_calls_with_a_name,
            an_interrupt_ends_the_processes,
            a_search_that_was_killed_is_continued,
            two_processes_never_evaluate_one_trial,
        ])


if __name__ == "__main__":
    main()
