"""local-run: one trial as the service would run it, and nothing left of it."""

import contextlib
import glob
import os
import signal
import subprocess
import tempfile

import engines
import tap
from cli_home import Home
from engines import TINY
from harness import PATIENCE, bin_dir, processes, wait_until

LONG = "trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.1; done"


def has(text, *words):
    for word in words:
        if word not in text:
            raise AssertionError("no %r in:\n%s" % (word, text))


def expect_nothing_left(home):
    """Neither folders nor processes of a private server."""
    tap.equal(glob.glob(os.path.join(home.temporary, "hypertune-local-*")), [])
    for program in ("hypertuned", "hypertune-runner", "hypertune-shim"):
        wait_until(lambda: not processes(
            os.path.join(bin_dir(), program), home.temporary),
            "the end of each " + program)
    tap.true(not os.path.exists(home.state), "the own server was asked:")


@contextlib.contextmanager
def local(**variables):
    """A home whose temporary files have their own folder; its run() is
    local-run there."""
    with Home() as home:
        home.temporary = os.path.join(home.folder, "temporary")
        os.mkdir(home.temporary)
        # HYPERTUNE_SERVER does not matter: the server is a private one.
        home.variables = dict(variables, TMPDIR=home.temporary,
                              HYPERTUNE_SERVER="http://127.0.0.1:9")
        yield home
        expect_nothing_left(home)


def run(home, *arguments, want=0):
    return home.cli("local-run", *arguments, want=want, **home.variables)


# --- processes ---

def a_command_runs_and_its_exit_code_passes_through():
    with local() as home:
        out, err = run(home, "--", "sh", "-c", "echo said; echo told >&2; "
                       "hypertune report acc=0.5 --step 3; exit 3", want=3)
        tap.equal(out, "said\n")
        has(err, "told\n", "reported: acc=0.5 (step 3); 1 measurement",
            "exit 3: told")
        run(home, "--", "sh", "-c", "kill -9 $$", want=137)


def a_metric_that_is_asked_for_must_be_reported():
    report = ["sh", "-c", "echo $CLOUD_ML_HP_METRIC_TAG $CLOUD_ML_TRIAL_ID; "
              "hypertune report acc=0.5; echo $#", "x", "--epochs=2"]
    with local() as home:
        out, _ = run(home, "--metric", "acc", "--", *report)
        tap.equal(out, "acc 1\n1\n", "its arguments are what was said:")
        _, err = run(home, "--metric", "loss", "--", *report, want=7)
        has(err, 'the metric "loss" was not reported', "acc=0.5")
        _, err = run(home, "--", "true")
        has(err, "reported: nothing")


def variables_reach_it_and_kept_outputs_stay():
    with local() as home:
        out, err = run(home, "--keep", "--env", "A=b c", "--", "sh", "-c",
                       'echo "$A"; echo model >"$AIP_MODEL_DIR/m"')
        tap.equal(out, "b c\n")
        kept = err.split("kept: ")[1].strip()
        found = glob.glob(os.path.join(kept, "runs", "*", "**", "model", "m"),
                          recursive=True)
        tap.equal(len(found), 1, kept)
        subprocess.run(["rm", "-rf", kept], check=True)


def an_interrupt_stops_it_with_its_grace():
    with local() as home:
        process = home.start("local-run", "--", "sh", "-c", LONG,
                             **home.variables)
        tap.equal(process.stdout.readline(), "up\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        tap.equal(process.returncode, 130, err)
        tap.equal(out, "bye\n")
        has(err, "stopping it...")


def a_timeout_ends_it():
    with local() as home:
        out, err = run(home, "--timeout", "1s", "--", "sh", "-c", LONG,
                       want=8)
        has(err, "stopping it...")
        # On a slow machine it has not even begun by then.
        tap.true("bye" in out or "up" not in out, out)


def what_cannot_be_run_is_said_before_a_server_starts():
    with local(DOCKER_HOST="unix:///nonexistent/engine.sock") as home:
        has(run(home, "--", "no-such-program", want=2)[1], "not in PATH")
        has(run(home, want=2)[1], "usage: hypertune local-run IMAGE")
        has(run(home, "--env", "A", "--", "true", want=2)[1], "--env needs")
        has(run(home, "--memory", "much", "--", "true", want=2)[1],
            "--memory needs a size")
        has(run(home, "--volume", "/tmp:/t", "--", "true", want=2)[1],
            "--volume is for images")
        has(run(home, "some/image:1", want=125)[1],
            "no container engine answers", "hypertune doctor")


# --- containers ---

def containers_with(engine, folder):
    """Containers with a mount from the folder; others may come and go
    meanwhile."""
    found = []
    for name in engine.containers("hypertune.server"):
        _, said = engine.send("GET", "/containers/%s/json" % name)
        if folder.encode() in said:
            found.append(name)
    return found


def an_image_runs_as_a_trial_would(engine, home):
    data = os.path.join(home.folder, "data")
    os.mkdir(data)
    with open(os.path.join(data, "a,b"), "w", encoding="ascii") as file:
        file.write("numbers\n")
    out, err = run(home, TINY, "--metric", "acc", "--env", "A=b", "--volume",
                   "data:/data:ro", "--", "sh", "-c",
                   "echo $A; cat /data/*; hypertune report acc=0.25 --step 7; "
                   "exit 5", want=5)
    tap.equal(out, "b\nnumbers\n")
    # Behind it there may be the last line of stderr: that the server did not
    # answer in time, where the machine is slow.
    has(err, "reported: acc=0.25 (step 7)", "exit 5")


def a_missing_image_is_no_separate_failure(engine, home):
    _, err = run(home, "localhost/not-here:1", "--", "true", want=125)
    has(err, "localhost/not-here:1")


def an_interrupt_removes_the_container(engine, home):
    engine = getattr(engine, "engine", engine)
    process = home.start("local-run", TINY, "--", "sh", "-c", LONG,
                         **home.variables)
    tap.equal(process.stdout.readline(), "up\n")
    tap.equal(len(containers_with(engine, home.temporary)), 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    tap.equal(process.returncode, 130, err)
    tap.equal(containers_with(engine, home.temporary), [])


def container_cases(engine):
    def bound(case):
        def in_home():
            with local(DOCKER_HOST=engine.host) as home:
                case(engine, home)
        in_home.__name__ = "%s_on_%s" % (case.__name__, engine.name)
        return in_home
    return [bound(case) for case in (
        an_image_runs_as_a_trial_would,
        a_missing_image_is_no_separate_failure,
        an_interrupt_removes_the_container)]


if __name__ == "__main__":
    cases = [a_command_runs_and_its_exit_code_passes_through,
             a_metric_that_is_asked_for_must_be_reported,
             variables_reach_it_and_kept_outputs_stay,
             an_interrupt_stops_it_with_its_grace,
             a_timeout_ends_it,
             what_cannot_be_run_is_said_before_a_server_starts]
    with tempfile.TemporaryDirectory() as folder, \
            engines.FakeEngine(folder) as fake:
        for place in [fake] + engines.here():
            cases += container_cases(place)
        tap.run(cases)
