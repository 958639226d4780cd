"""Training loops of hypertune.torch in real trials: they report, stop, and
continue where an attempt was killed."""

import importlib.util
import os
import signal

import harness
import tap
import tree

SCRIPT = os.path.join(tree.TRAINERS, "torch_loop.py")
EPOCHS = 5
WAYS = ["never", "before report 3", "at the end"]
# Two processes; the shell outlives the SIGTERM with which a stop comes.
TOGETHER = """
trap : TERM
export WORLD_SIZE=2
RANK=1 python3 "$0" never "$1" & other=$!
RANK=0 python3 "$0" never "$1" && wait $other
"""


def submit(server, name, command, **members):
    spec = {"spec": 1, "name": name, "goal": "minimize loss", "seed": 1,
            "parameters": {"way": ["never"]}, "algorithm": "grid",
            "trials": 1, "args": "none", "workdir": server.folder,
            "command": command}
    spec.update(members)
    server.submit(spec)


def notes(server, name):
    """The lines of a file that the trainers write, split at commas."""
    path = os.path.join(server.folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return [line.strip().split(",") for line in file]


def curve(server, study, trial):
    """The values at each step, the newest where there are several."""
    return {int(point["step"]): point["metrics"]
            for point in server.measurements(study, trial)}


def a_killed_trial_continues_as_if_nothing_had_happened():
    with harness.Server() as server:
        submit(server, "ways", ["python3", SCRIPT, "${way}", str(EPOCHS)],
               parameters={"way": WAYS}, trials=len(WAYS), parallel=2,
               retries=1)
        status = server.wait_study("ways")
        tap.equal(status["state"], "SUCCEEDED", server.explain("ways"))
        trials = {trial["hypertune"]["params"]["way"]: trial["hypertune"]
                  for trial in server.trials("ways")}
        curves = {trial["hypertune"]["params"]["way"]:
                  curve(server, "ways", trial["id"])
                  for trial in server.trials("ways")}
        tap.equal(sorted(curves["never"]), list(range(1, EPOCHS + 1)))
        tap.equal(set(curves["never"][1]), {"loss", "val/first"})
        begun = notes(server, "epochs")
        for way in WAYS:
            tap.equal(trials[way]["attempt"], 1 if way == "never" else 2, way)
            tap.equal(trials[way]["objective"], trials["never"]["objective"],
                      way)
            tap.equal(curves[way], curves["never"], way)
            tap.equal([line[2] for line in begun if line[0] == way],
                      [str(step) for step in range(1, EPOCHS + 1)], way)


def processes_that_train_together_stop_after_the_same_epoch():
    with harness.Server() as server:
        submit(server, "two", ["sh", "-c", TOGETHER, SCRIPT, "1000000"])
        harness.wait_until(
            lambda: ["never", "1", "2"] in notes(server, "epochs"),
            "the second epoch of the second process")
        server.cli("stop-trial", "two/1")
        status = server.wait_study("two")
        own = server.trial("two", 1)["hypertune"]
        tap.equal(own["state"], "STOPPED", server.explain("two"))
        ended = dict(notes(server, "ended"))
        tap.equal(sorted(ended), ["0", "1"], own)
        tap.equal(ended["0"], ended["1"], "the last epoch of each")
        tap.equal(own["step"], ended["0"])
        steps = [int(point["step"])
                 for point in server.measurements("two", 1)]
        tap.equal(len(steps), len(set(steps)), "one process reports")
        tap.equal(status["counts"]["failed"], 0)


def a_trial_that_pauses_continues_from_its_checkpoint():
    with harness.Server() as server:
        submit(server, "pauses", ["python3", SCRIPT, "${way}", "4"],
               parameters={"way": ["a", "b"]}, trials=2, parallel=1,
               earlyStopping={"rule": "asha", "minSteps": 2, "maxSteps": 4,
                              "factor": 2, "pause": True})
        status = server.wait_study("pauses")
        tap.equal(status["state"], "SUCCEEDED", server.explain("pauses"))
        begun = [tuple(line) for line in notes(server, "epochs")]
        tap.equal(len(begun), len(set(begun)), "no epoch was trained twice")
        tap.contains("SUCCEEDED", [trial["hypertune"]["state"]
                                   for trial in server.trials("pauses")])


def a_trial_that_was_asked_for_is_reported_to():
    import hypertune
    import hypertune.torch
    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)
        study = client.create_study(
            "asked", metric="loss", goal="MINIMIZE",
            params=[hypertune.Double("x", 0, 1)])
        for trial in study.ask(1):
            with trial:
                for epoch in hypertune.torch.epochs(9, trial=trial):
                    epoch.report(loss=10 - epoch)
                    error = tap.raises(RuntimeError, epoch.report, loss=0)
                    tap.contains("epoch %d is reported" % epoch, str(error))
                    if epoch == 3:
                        trial.stop()
        tap.equal((study.trial(1).value, study.trial(1).step), (7, 3))


def a_sigterm_that_is_no_stop_ends_the_process_at_once():
    import hypertune.torch
    child = os.fork()
    if child == 0:
        folder = os.environ["TMPDIR"]
        os.environ.update(HYPERTUNE_TRIAL_DIR=folder,
                          AIP_CHECKPOINT_DIR=folder)
        for _ in hypertune.torch.epochs(1):
            os.kill(os.getpid(), signal.SIGTERM)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    tap.equal(os.WTERMSIG(status), signal.SIGTERM)


def a_checkpoint_of_other_parts_is_refused():
    import hypertune.torch
    import torch
    folder = os.environ["TMPDIR"]
    os.environ.update(HYPERTUNE_TRIAL_DIR=folder, AIP_CHECKPOINT_DIR=folder)
    model = torch.nn.Linear(1, 1)
    for epoch in hypertune.torch.epochs(1, model=model):
        epoch.report()
    os.environ["HYPERTUNE_RESUME"] = "1"
    tap.equal(list(hypertune.torch.epochs(1, model=model)), [])
    error = tap.raises(ValueError, list, hypertune.torch.epochs(
        1, model=model, optimizer=torch.optim.SGD(model.parameters(), 1)))
    tap.contains("hypertune.pt has the states of model, not of model, optim",
                 str(error))
    for name in ("HYPERTUNE_TRIAL_DIR", "HYPERTUNE_RESUME"):
        del os.environ[name]


if importlib.util.find_spec("torch") is None:
    tap.skip("training loops of PyTorch", "python3-torch is not installed")
tap.run([a_killed_trial_continues_as_if_nothing_had_happened,
         processes_that_train_together_stop_after_the_same_epoch,
         a_trial_that_pauses_continues_from_its_checkpoint,
         a_trial_that_was_asked_for_is_reported_to,
         a_sigterm_that_is_no_stop_ends_the_process_at_once,
         a_checkpoint_of_other_parts_is_refused])
