"""Real trials with a library that is not in Debian: arguments are the folder of
the programs and the name of a train_NAME.py; run.sh starts it."""

import os
import subprocess
import sys

import harness
import tap

import hypertune

HERE = os.path.dirname(os.path.realpath(__file__))
SCRIPT = os.path.join(HERE, "train_%s.py" % sys.argv[2])
PATHS = {"PYTHONPATH": os.environ["FOREIGN_PATH"]}
EPOCHS = 5


def submit(server, name, ways, **members):
    server.submit(dict({
        "spec": 1, "name": name, "goal": "minimize loss", "algorithm": "grid",
        "parameters": {"way": ways}, "trials": len(ways), "parallel": 2,
        "args": "none", "workdir": server.folder, "env": PATHS,
        "command": ["python3", SCRIPT, "${way}"]}, **members))


def curve(server, study, trial):
    return {int(point["step"]): point["metrics"]["loss"]
            for point in server.measurements(study, trial)}


def a_killed_trial_continues_from_the_checkpoint_of_its_library():
    with harness.Server() as server:
        submit(server, "ways", ["whole", "killed"], retries=1)
        status = server.wait_study("ways")
        tap.equal(status["state"], "SUCCEEDED", server.explain("ways"))
        curves = [curve(server, "ways", number) for number in (1, 2)]
        print("# " + repr(curves))
        tap.equal(sorted(curves[0]), list(range(1, EPOCHS + 1)))
        tap.equal(curves[1], curves[0])
        tap.equal(sorted(server.trial("ways", number)["hypertune"]["attempt"]
                         for number in (1, 2)), [1, 2])


def trees(server):
    return server.get("/hypertune/v1/server")["store"]["trees"]


def a_stopped_trial_keeps_its_results():
    with harness.Server() as server:
        submit(server, "stop", ["endless"])
        code = trees(server)
        path = harness.OURS + "stop/measurements?trial=1"
        harness.wait_until(
            lambda: len(server.call("GET", path)[1].get("measurements",
                                                        ())) > 1,
            "two epochs")
        harness.wait_until(lambda: trees(server) > code,
                           "a checkpoint at the server")
        server.cli("stop-trial", "stop/1")
        server.wait_study("stop")
        own = server.trial("stop", 1)["hypertune"]
        tap.equal(own["state"], "STOPPED", server.explain("stop"))
        tap.true(own["objective"] < 10, own)
        ended = os.path.exists(os.path.join(server.folder, "endless"))
        print("# the library ended %s" % (
            "after an epoch" if ended else "at once, by SIGTERM"))


def a_trial_that_was_asked_for_ends_when_it_is_stopped():
    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)
        study = client.create_study("asked", metric="loss", goal="MINIMIZE",
                                    params=[hypertune.Double("x", 0, 1)])
        done = subprocess.run(
            ["python3", SCRIPT, "asked"], cwd=server.folder,
            stdout=subprocess.PIPE, encoding="utf-8", check=True,
            env=dict(os.environ, HYPERTUNE_SERVER=server.http,
                     HYPERTUNE_TOKEN_FILE=server.token_file, **PATHS))
        tap.equal(done.stdout.splitlines()[-1], "2")
        tap.equal(study.trial(1).step, 2)


tap.run([a_killed_trial_continues_from_the_checkpoint_of_its_library,
         a_stopped_trial_keeps_its_results,
         a_trial_that_was_asked_for_ends_when_it_is_stopped])
