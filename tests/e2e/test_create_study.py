"""create_study(): a study of clients with all that a spec may say."""

import threading

import harness
import tap

import hypertune

SPACE = {"lr": "log:1e-5..0.1", "layers": "1..8", "batch": [32, 64],
         "opt": ["adam", "sgd"],
         "momentum": {"type": "double", "min": 0, "max": 0.9, "step": 0.3,
                      "when": {"opt": "sgd", "batch": 32}}}


def main():
    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)

        def make(name, params=SPACE, **more):
            return client.create_study(name, "loss", "MINIMIZE", params,
                                       algorithm="random", seed=1, **more)

        def trials_keep_to_steps_conditions_and_constraints():
            study = make("bound", constraints=["layers * 16 <= batch"])
            trials = study.suggest(40)
            tap.equal(study.parameters(), list(SPACE))
            seen = set()
            for params in (trial.params for trial in trials):
                tap.true(params["layers"] * 16 <= params["batch"], params)
                tap.equal("momentum" in params,
                          params["opt"] == "sgd" and params["batch"] == 32)
                seen.add(round(params.get("momentum", -1), 6))
            tap.true({-1, 0} < seen <= {-1, 0, 0.3, 0.6, 0.9}, seen)

        def should_stop_follows_the_rule():
            study = make("stopped", early_stopping={
                "rule": "median", "minTrials": 2})
            for loss in (0.1, 0.2, 0.15):
                trial = study.suggest()[0]
                for step in range(1, 11):
                    trial.report(step=step, loss=loss)
                trial.complete()
            trial = study.suggest()[0]
            trial.report(step=1, loss=9)
            tap.equal(trial.should_stop(), False)
            for step in range(2, 6):
                trial.report(step=step, loss=9)
            tap.equal(trial.should_stop(), True)
            trial.complete()
            tap.equal(trial.state, "STOPPED")

        def at_most_so_many_trials_are_open():
            study = make("capped", parallel=2)
            first = study.suggest(5, "a")
            tap.equal(len(first), 2)
            tap.equal(study.suggest(5, "b"), [])
            tap.equal([trial.id for trial in study.suggest(5, "a")],
                      [trial.id for trial in first])
            study.add({"lr": 1e-3, "layers": 1, "batch": 64, "opt": "adam"})
            tap.equal(study.suggest(1, "b"), [], "one that was added waits")
            first[0].complete(1.0)
            tap.equal([trial.id for trial in study.suggest(5, "b")], [3])

        def asking_waits_for_a_place():
            study = make("queue", parallel=1, until={"trials": 2})
            holder = study.suggest(1, "a")[0]
            asked = []
            thread = threading.Thread(target=lambda: asked.extend(
                trial.complete(2.0) or trial.id for trial in study.ask(5)))
            polls = study._transport.call

            def call(method, path, *rest, **more):
                answer = polls(method, path, *rest, **more)
                if path.endswith(":suggest") and holder.is_open:
                    holder.complete(1.0)  # once it was told that none is free
                return answer
            study._transport.call = call
            thread.start()
            thread.join(300)
            tap.equal((asked, study.state), ([2], "SUCCEEDED"))

        def safety_noise_labels_and_warm_start_are_stored():
            old = make("old")
            for trial in old.ask(3):
                trial.complete(1.0)
            study = make("all", safety=["memory <= 4",
                                        "recall >= 0.8 for 90% of trials"],
                         noise="low", selection="best", warm_start="old",
                         labels={"team": "vision"})
            resource = client._transport.call("GET", study._path())
            tap.equal([metric.get("safetyConfig") for metric in
                       resource["studySpec"]["metrics"]],
                      [None, {"safetyThreshold": 4},
                       {"safetyThreshold": 0.8,
                        "desiredMinSafeTrialsFraction": 0.9}])
            tap.equal(resource["studySpec"]["observationNoise"], "LOW")
            tap.equal(resource["hypertune"]["labels"], {"team": "vision"})
            tap.equal(resource["hypertuneStatus"]["warmStart"][0]["results"],
                      3)
            trial = study.suggest()[0]
            trial.complete(loss=0.0, memory=5.0, recall=1.0)
            tap.raises(hypertune.NoTrialYet, lambda: study.best_trial)

        def a_cell_that_runs_again_gets_its_study():
            def cell(**more):
                return make("cell", load_if_exists=True,
                            **{"until": {"trials": 9, "time": "1h"}, **more})
            study = cell()
            study.suggest()[0].complete(1.0)
            tap.equal((cell().id, cell().counts["succeeded"]), (study.id, 1))
            error = tap.raises(hypertune.Conflict, cell,
                               until={"trials": 10, "time": "1h"},
                               params={**SPACE, "lr": "log:1e-4..0.1"})
            tap.equal(error.violations, {
                "trials": "9 -> 10", "parameters.lr.min": "1e-05 -> 0.0001"})
            tap.contains("study cell exists with another spec", str(error))
            tap.raises(hypertune.Conflict, make, "cell")
            study.stop()
            tap.equal(cell().state, "STOPPED")

        def what_is_wrong_is_named_with_its_place():
            for place, more in (
                    ("parameters.lr.min", {"params": {"lr": "8..1"}}),
                    ("parameters.a.when.b", {"params": [
                        hypertune.Double("a", 0, 1, when={"b": 1})]}),
                    ("constraints[1]", {"constraints": ["lr < 1", "z < 1"]}),
                    ("safety[0]", {"safety": "memory < 4"}),
                    ("earlyStopping.pause", {"early_stopping": {
                        "rule": "asha", "pause": True}}),
                    ("noise", {"noise": "much"}),
                    ("warmStart[0]", {"warm_start": ["nowhere"]}),
                    ("parallel", {"parallel": 0}),
                    ("until.trial", {"until": {"trial": 3}})):
                error = tap.raises(hypertune.InvalidArgument, make, "w",
                                   **more)
                tap.equal(list(error.violations), [place])
                tap.true(isinstance(error, ValueError))
            tap.raises(TypeError, make, "w", constraints=[3])
            tap.raises(TypeError, make, "w", pruner="median")

        def a_spec_of_running_trials_is_refused():
            error = tap.raises(
                hypertune.InvalidArgument, client._transport.call, "POST",
                client._home + "/studies:fromSpec", {"spec": {
                    "name": "runs", "goal": "minimize a",
                    "parameters": {"x": [1, 2]}, "command": ["true"]}})
            tap.contains("run their trials", error.violations["command"])

        tap.run([
            trials_keep_to_steps_conditions_and_constraints,
            should_stop_follows_the_rule,
            at_most_so_many_trials_are_open,
            asking_waits_for_a_place,
            safety_noise_labels_and_warm_start_are_stored,
            a_cell_that_runs_again_gets_its_study,
            what_is_wrong_is_named_with_its_place,
            a_spec_of_running_trials_is_refused,
        ])


if __name__ == "__main__":
    main()
