"""The Python client against a real server."""

import io
import math
import os
import signal
import threading
import xml.etree.ElementTree
from contextlib import redirect_stdout

import cli_home
import harness
import tap
import tree

import hypertune
from hypertune import study as study_module

TRAINER = """
import math, sys, hypertune
p = hypertune.params()
score = 1 - (math.log10(p["lr"]) + 2) ** 2 / 10
for step in (1, 2, 3):
    hypertune.report(step=step, accuracy=score * step / 3, loss=1 / step)
    hypertune.report(step=step, latency=5 - score)
if p["opt"] == "broken":
    sys.exit(3)
"""

SPACE = [hypertune.Double("lr", 1e-5, 1e-1, log=True),
         hypertune.Categorical("opt", ["adam", "sgd"]),
         hypertune.Double("momentum", 0, 0.99, when={"opt": "sgd"})]


def spec(name, **changes):
    made = {"spec": 1, "name": name, "goal": "maximize accuracy",
            "parameters": {
                "lr": {"type": "double", "min": 1e-4, "max": 1,
                       "scale": "log"},
                "opt": ["adam", "broken"]},
            "algorithm": "random", "trials": 12, "parallel": 4, "seed": 1,
            "retries": 0, "args": "none",
            "command": ["python3", "-c", TRAINER]}
    made.update(changes)
    return made


def loss(lr, opt, momentum=0.5):
    bend = (momentum - 0.9) ** 2 if opt == "sgd" else 0.1
    return (math.log10(lr) + 3) ** 2 + bend


def main():
    os.environ["PATH"] = (harness.bin_dir() + os.pathsep +
                          os.environ["PATH"])
    os.environ["PYTHONPATH"] = tree.PACKAGE
    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)

        def make(name, **more):
            return client.create_study(name, metric="loss", goal="MINIMIZE",
                                       params=SPACE, seed=1, **more)

        # --- studies that the server runs ---

        def a_spec_is_submitted_and_watched_to_its_end():
            study = client.submit(spec("watched"))
            output = io.StringIO()
            with redirect_stdout(output), study.watch() as watch:
                tap.equal(watch.until_done(timeout="200s"), "SUCCEEDED")
            lines = output.getvalue().splitlines()
            tap.equal(lines[-1], str(study.summary()))
            tap.equal(len(lines), len(set(lines)), "each line once")
            tap.equal(study.runs_trials, True)
            tap.starts(repr(study),
                       "Study watched SUCCEEDED 12/12 trials, best accuracy=")

        def the_best_trial_has_value_parameters_and_arguments():
            study = client.study("watched")
            best = study.best_trial
            good = study.trials(state="SUCCEEDED")
            tap.equal(best.value, max(trial.value for trial in good))
            tap.equal(best.params["opt"], "adam")
            tap.true(math.isclose(
                1 - (math.log10(best.params["lr"]) + 2) ** 2 / 10, best.value))
            tap.equal(best.args[1], "--opt=adam")
            tap.equal((best.step, best.state), (3, "SUCCEEDED"))
            tap.true(best.start < best.end, (best.start, best.end))

        def trials_are_chosen_by_state_and_conditions():
            study = client.study("watched")
            tap.equal([trial.id for trial in study.trials()],
                      list(range(1, 13)))
            failed = study.trials(state=["failed", "infeasible"])
            tap.equal({trial.params["opt"] for trial in failed}, {"broken"})
            tap.contains("exit 3", failed[0].reason)
            chosen = study.trials(where="lr>0.001 opt=adam accuracy>=0.5")
            tap.equal([trial.id for trial in chosen],
                      [trial.id for trial in study.trials()
                       if trial.params["lr"] > 0.001 and
                       trial.params["opt"] == "adam" and
                       trial.value >= 0.5])
            tap.equal(len(study.trials(where="opt=adam", limit=2)), 2)
            error = tap.raises(ValueError, study.trials, where="rate<1")
            tap.contains("latency", str(error))
            # A metric that is no goal and came in records of its own.
            quick = study.trials(where="latency<4.5", limit=3)
            tap.equal([trial.id for trial in quick],
                      [trial.id for trial in study.trials("SUCCEEDED")
                       if trial.value > 0.5][:3])
            tap.true(len(quick) > 0, quick)
            tap.equal(study.trials(where="latency<4.5", state="FAILED"), [])

        def long_lists_come_in_pages():
            study, page = client.study("watched"), study_module.PAGE
            study_module.PAGE = 5
            try:
                tap.equal(len(study.trials()), 12)
            finally:
                study_module.PAGE = page

        def curves_are_what_a_trial_reported():
            study = client.study("watched")
            best = study.best_trial
            curve = study.curves(best.id)
            tap.equal([step for step, _, _ in curve], [1, 2, 3])
            tap.equal(curve[-1][1], best.value)
            tap.true(curve[0][2] <= curve[2][2], (curve[0][2], curve[2][2]))
            tap.equal([value for _, value, _ in study.curves(best, "loss")],
                      [1, 1 / 2, 1 / 3])
            tap.raises(hypertune.NotFound, study.trial, 99)

        def the_data_frame_has_a_row_for_each_trial():
            study = client.study("watched")
            try:
                import pandas
            except ImportError:
                error = tap.raises(ImportError, study.trials_dataframe)
                tap.contains("pandas", str(error))
                raise tap.Skip("pandas is not installed") from None
            frame = study.trials_dataframe()
            tap.equal(list(frame.columns), [
                "id", "state", "value", "params.lr", "params.opt",
                "metrics.accuracy", "metrics.latency", "metrics.loss",
                "start", "end", "duration"])
            tap.equal(len(frame), 12)
            tap.equal(
                [str(kind) for kind in frame.dtypes],
                ["int64", "category", "float64", "float64", "category"] +
                ["float64"] * 3 + ["datetime64[ns, UTC]"] * 2 +
                ["timedelta64[ns]"])
            best = frame[frame.id == study.best_trial.id].iloc[0]
            tap.equal(best["metrics.latency"], 5 - best.value)
            tap.equal(list(frame["params.opt"].cat.categories),
                      ["adam", "broken"])
            trial = study.best_trial
            tap.equal(best.duration.to_pytimedelta(), trial.end - trial.start)
            tap.equal(frame.value.max(), study.best_trial.value)
            tap.equal(pandas.isna(frame.value).sum(),
                      len(study.trials(state="FAILED")))

        def the_frame_of_measurements_has_a_row_for_each_report():
            try:
                import pandas
            except ImportError:
                raise tap.Skip("pandas is not installed") from None
            study = client.study("watched")
            frame = study.measurements_dataframe()
            tap.equal(list(frame.columns), [
                "trial", "attempt", "replica", "step", "time",
                "metrics.accuracy", "metrics.latency", "metrics.loss"])
            tap.equal(len(frame), 12 * 6)
            tap.equal(str(frame.dtypes["time"]), "datetime64[ns, UTC]")
            best = study.best_trial
            one = frame[(frame.trial == best.id) &
                        frame["metrics.accuracy"].notna()]
            tap.equal(list(zip(one.step, one["metrics.accuracy"])),
                      [(step, value) for step, value, _ in
                       study.curves(best)])
            empty = make("nothing")
            tap.equal([str(kind) for kind in empty.trials_dataframe().dtypes],
                      ["int64", "category", "float64", "float64", "category"] +
                      ["float64"] * 2 + ["datetime64[ns, UTC]"] * 2 +
                      ["timedelta64[ns]"])
            tap.equal(len(empty.measurements_dataframe()), 0)

        def the_frame_has_whole_numbers_and_attributes_of_users():
            try:
                import pandas
            except ImportError:
                raise tap.Skip("pandas is not installed") from None
            study = client.create_study(
                "typed", metric="loss", goal="MINIMIZE", seed=1, params=[
                    hypertune.Categorical("opt", ["adam", "sgd"]),
                    hypertune.Integer("layers", 1, 9, when={"opt": "sgd"}),
                    hypertune.Discrete("batch", [32, 64])])
            study.add({"opt": "adam", "batch": 64}, 1.5)
            study.add({"opt": "sgd", "batch": 32, "layers": 3}, 2)
            study._transport.call(
                "PATCH", study._ours("/metadata"), {"metadata": [
                    {"trial": 2, "ns": "optuna", "key": "user:host",
                     "value": '"a"'},
                    {"trial": 2, "ns": "other", "key": "user:no",
                     "value": "no JSON"}], "expect": []})
            frame = study.trials_dataframe()
            tap.equal(str(frame.dtypes["params.layers"]), "Int64")
            tap.equal(str(frame.dtypes["params.batch"]), "Int64")
            tap.equal(frame["params.layers"][0] is pandas.NA, True)
            tap.equal(frame["params.layers"][1], 3)
            tap.equal(list(frame["user_attrs.host"]), [None, "a"])
            tap.equal(list(frame.columns)[-1], "user_attrs.host")

        def pictures_of_a_real_study_are_well_formed():
            study = client.study("watched")
            for picture in (study.plot_history(), study.plot_curves(),
                            study.plot_parallel(), study.plot_curves("loss"),
                            study.plot_distribution(),
                            study.plot_timeline()):
                svg = xml.etree.ElementTree.fromstring(picture._repr_svg_())
                marks = [node for node in svg.iter() if
                         node.tag.split("}")[1] in (
                             "circle", "polyline", "rect", "path", "use")]
                tap.true(len(marks) >= 3, repr(picture))

        def pictures_are_of_every_metric_that_was_measured():
            study = client.study("watched")
            good = study.trials(state="SUCCEEDED")
            for picture in (study.plot_history("latency"),
                            study.plot_distribution("latency"),
                            study.plot_parallel("latency"),
                            study.plot_pareto("accuracy", "latency"),
                            study.plot_pareto(second="latency")):
                tap.contains("latency", str(picture))
                tap.lacks("best so far", str(picture))  # of what is no goal
                tap.lacks("none is better", str(picture))
                tap.lacks(" yet<", str(picture))
            shown = str(study.plot_history("latency"))
            tap.equal(shown.count("latency="), len(good))
            for plot in (study.plot_history, study.plot_pareto):
                error = tap.raises(ValueError, plot, "latenzy")
                tap.contains("latency", str(error))
            tap.contains("accuracy, latency, loss", str(tap.raises(
                ValueError, study.plot_pareto)))

        def the_same_spec_again_is_the_same_study():
            tap.equal(client.submit(spec("watched")).id,
                      client.study("watched").id)
            error = tap.raises(hypertune.Conflict, client.submit,
                               spec("watched", trials=13))
            tap.contains("--", str(error))
            tap.contains("13", str(error))

        def a_wrong_spec_is_refused_with_its_place():
            path = os.path.join(server.folder, "wrong.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("goal: maximize accuracy\nparametres: {x: 1}\n")
            error = tap.raises(hypertune.InvalidArgument, client.submit, path)
            tap.contains("wrong.yaml:2:1", str(error))

        def a_vertex_job_goes_straight_to_the_server():
            job = {"displayName": "vertex", "hypertune": {"name": "vertex"},
                   "maxTrialCount": 2, "parallelTrialCount": 1,
                   "studySpec": {"algorithm": "RANDOM_SEARCH", "metrics": [
                       {"metricId": "a", "goal": "MAXIMIZE"}],
                       "parameters": [{"parameterId": "lr", "doubleValueSpec": {
                           "minValue": 1e-5, "maxValue": 0.1}}]},
                   "trialJobSpec": {"workerPoolSpecs": [{
                       "replicaCount": 1, "containerSpec": {
                           "command": ["hypertune", "report", "a=1"],
                           "env": [{"name": "PATH",
                                    "value": os.environ["PATH"]}]}}]}}
            study = client.submit(job)
            tap.equal(study.wait("200s"), "FAILED")
            tap.true(study.reason != "")
            tap.raises(hypertune.Conflict, client.submit, job)

        def a_study_without_a_result_has_no_best_trial():
            study = client.study("vertex")
            error = tap.raises(hypertune.NoTrialYet, lambda: study.best_trial)
            tap.contains("no succeeded trial", str(error))
            tap.lacks("best", study._repr_html_())

        def a_study_is_paused_resumed_cancelled_and_deleted():
            study = client.submit(spec("steered", trials=1000, parallel=1,
                                       command=["sleep", "600"], grace="1s"))
            tap.equal(study.pause().state, "PAUSED")
            tap.equal(study.resume().state, "RUNNING")
            tap.raises(hypertune.FailedPrecondition, study.delete)
            tap.raises(TimeoutError, study.wait, 0.01)
            tap.equal(study.cancel().wait("200s"), "CANCELLED")
            study.delete()
            tap.raises(hypertune.NotFound, client.study, "steered")
            tap.raises(hypertune.NotFound, study.summary)

        def a_trial_that_the_server_runs_is_stopped_or_added():
            study = client.submit(spec(
                "long", trials=2, parallel=2, grace="5s",
                command=["sh", "-c", "hypertune report accuracy=1;"
                         "exec sleep 600"]))
            harness.wait_until(lambda: study.counts["active"] == 2 and
                               study.trial(1).latest, "a first report")
            trial = study.trial(1)
            trial.stop()
            tap.equal((trial.state, trial.reason),
                      ("STOPPING", "stopped by user"))
            added = study.add({"lr": 0.5, "opt": "adam"})
            tap.equal(study.trial(added.id).params, added.params)
            tap.raises(hypertune.FailedPrecondition, study.suggest)
            tap.equal(study.stop().wait("200s"), "STOPPED")
            tap.equal(trial.refresh().value, 1)

        # --- studies that are evaluated here ---

        def what_is_no_parameter_is_named():
            error = tap.raises(TypeError, client.create_study, "odd", "loss",
                               "MINIMIZE", [SPACE[0], "momentum"])
            tap.contains("Categorical: 'momentum'", str(error), error)

        def asking_and_telling_finds_the_minimum():
            study = make("told")
            for trial in study.ask(25):
                trial.complete(loss(**trial.params))
            tap.equal(study.counts["succeeded"], 25)
            tap.true(study.best_trial.value < 0.5, study.best_trial.value)
            tap.equal(study.best_trial.value,
                      min(trial.value for trial in study.trials()))
            tap.equal(study.runs_trials, False)
            for trial in study.trials():
                tap.equal("momentum" in trial.params,
                          trial.params["opt"] == "sgd")

        def the_same_seed_gives_the_same_suggestions():
            first = [trial.params for trial in client.study("told").trials()]
            study = make("told-again")
            for trial in study.ask(3):
                trial.complete(loss(**trial.params))
            tap.equal([trial.params for trial in study.trials()], first[:3])

        def reports_make_a_curve_and_complete_takes_the_last():
            study = client.study("told-again")
            with study.suggest()[0] as trial:
                for value in (3, float("nan"), 2):
                    trial.report(loss=value)
                tap.equal(trial.should_stop(), False)
                tap.equal(trial.latest, {"loss": 2})
            tap.equal((trial.state, trial.value, trial.step),
                      ("SUCCEEDED", 2, 3))
            curve = study.curves(trial)
            tap.equal([step for step, _, _ in curve], [1, 2, 3])
            tap.equal([math.isnan(v) for _, v, _ in curve],
                      [False, True, False])
            tap.raises(hypertune.FailedPrecondition, trial.report, loss=1)
            tap.raises(ValueError, trial.report)

        def an_exception_makes_the_trial_infeasible():
            study = client.study("told-again")
            trial = study.suggest()[0]

            def evaluate():
                with trial:
                    raise MemoryError("no <room>\0\udc80" + " " * 10 ** 7)
            tap.raises(MemoryError, evaluate)
            tap.equal((trial.state, trial.refresh().state),
                      ("INFEASIBLE",) * 2)
            tap.equal(trial.reason.rstrip(),
                      "MemoryError: no <room>\ufffd\ufffd")
            tap.contains("&lt;room&gt;", trial._repr_html_())

        def an_interrupted_trial_is_given_again():
            study = client.study("told-again")
            trial = study.suggest()[0]

            def evaluate():
                with trial:
                    raise KeyboardInterrupt
            tap.raises(KeyboardInterrupt, evaluate)
            tap.equal(study.suggest()[0].id, trial.id)
            asking = study.ask(2)
            tap.equal(next(asking).id, trial.id)
            tap.raises(hypertune.FailedPrecondition, next, asking)
            tap.raises(hypertune.FailedPrecondition, trial.complete)
            trial.infeasible("given up")
            tap.equal(trial.reason, "given up")

        def threads_get_trials_of_their_own():
            study = client.study("told-again")
            seen = []

            def work():
                for trial in study.ask(4):
                    seen.append(trial.id)
                    trial.complete(loss(**trial.params))
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            tap.equal((len(seen), len(set(seen))), (16, 16))

        def several_trials_come_at_once():
            study = client.study("told-again")
            trials = study.suggest(3, client_id="batch")
            tap.equal(len({trial.id for trial in trials}), 3)
            tap.equal([trial.id for trial in study.suggest(3, "batch")],
                      [trial.id for trial in trials])
            for trial in trials:
                trial.complete(loss=loss(**trial.params), step=7)
                tap.equal(trial.step, 7)

        def some_parameters_may_be_given():
            study = make("given")
            sgd, small = study.suggest(
                client_id="batch",
                contexts=[{"opt": "sgd", "momentum": 0.5}, {"lr": 0.003}])
            tap.equal((sgd.params["opt"], sgd.params["momentum"]),
                      ("sgd", 0.5))
            tap.equal(small.params["lr"], 0.003)
            tap.equal([trial.id for trial in study.suggest(
                client_id="batch", contexts=[{"lr": 0.003}])], [small.id])
            for trial in study.ask(5, context={"opt": "adam"}):
                tap.equal(trial.params["opt"], "adam")
                trial.complete(loss(**trial.params))
            tap.equal(study.counts["succeeded"], 5)
            refused = tap.raises(hypertune.InvalidArgument, study.suggest,
                                 contexts=[{"opt": "adam", "momentum": 0.5}])
            tap.equal(list(refused.violations),
                      ["contexts[0].parameters[1].value"])

        def the_model_is_asked_and_drawn():
            study = client.study("told")
            shares = study.importances()
            tap.equal(sorted(shares), ["lr", "momentum", "opt"])
            tap.equal(list(shares.values()),
                      sorted(shares.values(), reverse=True))
            for picture in (study.plot_importances(), study.plot_slice("lr"),
                            study.plot_slice("opt"),
                            study.plot_contour("lr", "opt")):
                svg = xml.etree.ElementTree.fromstring(picture._repr_svg_())
                tap.lacks(" yet", "".join(svg.itertext()))
            tap.raises(ValueError, study.plot_slice, "rate")
            tap.raises(ValueError, study.plot_pareto)
            tap.raises(hypertune.InvalidArgument, study.importances, "auc")

        def several_goals_have_a_front():
            study = client.create_study(
                "front", metric=["gain", "cost"],
                goal=["MAXIMIZE", "minimize"],
                params=[hypertune.Double("x", 0, 1)])
            for trial in study.ask(6):
                x = trial.params["x"]
                trial.complete(gain=x, cost=x * x)
            tap.equal(study.goals(), {"gain": True, "cost": False})
            tap.equal({trial.id for trial in study.best_trials()},
                      {1, 2, 3, 4, 5, 6})
            tap.equal(study.trial(3).metrics["cost"],
                      study.trial(3).params["x"] ** 2)
            tap.equal(str(study.plot_pareto("cost", "gain")).count(
                "<title>trial "), 6)
            tap.raises(ValueError, study.plot_pareto, "auc")
            tap.raises(ValueError, client.create_study, "f", ["a", "b"],
                       "MAXIMIZE", SPACE)

        def a_trial_is_deleted():
            study = make("shorter")
            study.add({"lr": 0.01, "opt": "adam"}, 1.0).delete()
            tap.equal(study.trials(), [])

        def a_trial_of_ones_own_choice_is_added():
            study = client.study("told-again")
            known = study.add({"lr": 0.001, "opt": "sgd", "momentum": 0.9}, 0)
            tap.equal((known.state, known.value), ("SUCCEEDED", 0))
            tap.equal(study.best_trial.id, known.id)
            added = study.add({"lr": 0.002, "opt": "adam"})
            tap.equal(added.state, "REQUESTED")
            asked = study.suggest()[0]
            tap.equal((asked.id, asked.params),
                      (added.id, {"lr": 0.002, "opt": "adam"}))
            asked.complete({"loss": 1.0})
            part = study.add({"momentum": 0.5})  # the search adds the rest
            tap.equal((sorted(part.params), part.params["opt"],
                       part.params["momentum"]),
                      (["lr", "momentum", "opt"], "sgd", 0.5))
            tap.equal(study.suggest()[0].params, part.params)
            study.suggest()[0].complete(1.0)
            tap.raises(hypertune.InvalidArgument, study.add,
                       {"opt": "adam"}, 1.0)
            error = tap.raises(hypertune.InvalidArgument, study.add,
                               {"lr": 7, "opt": "adam"})
            tap.contains("outside", str(error))

        def asking_ends_with_the_study():
            study = make("until", algorithm="random",
                         until={"trials": 3, "time": "1h"})
            tap.equal(len([trial.complete(1.0) for trial in study.ask(9)]), 3)
            tap.equal((study.state, study.summary().max_trials),
                      ("SUCCEEDED", 3))
            study = make("target", until={"target": 100})
            tap.equal(len([trial.complete(1.0) for trial in study.ask(9)]), 1)
            tap.raises(ValueError, make, "x", until={"trial": 3})
            tap.raises(ValueError, make, "x", algorithm="magic")
            tap.raises(hypertune.FailedPrecondition, study.cancel)

        def a_study_that_clients_evaluate_is_stopped_and_deleted():
            study = make("stopped")
            study.suggest()[0].complete(1.0)
            tap.equal(study.stop().state, "STOPPED")
            tap.equal(list(study.ask(3)), [])
            study.delete()
            tap.raises(hypertune.NotFound, client.study, "stopped")

        def a_project_sees_its_own_studies():
            other = hypertune.Client(server.http, server.token_file,
                                     project="p q", location="l:1")
            study = other.create_study("told", "loss", "minimize", SPACE)
            tap.equal([one.id for one in other.studies()], [study.id])
            for trial in study.ask(1):
                trial.report(loss=1)
                trial.complete()
            tap.equal(other.study("told").best_trial.value, 1)
            tap.equal([point[:2] for point in study.curves(1)], [(1, 1)])
            tap.raises(ValueError, other.submit, spec("elsewhere"))

        def all_studies_are_listed_once_newest_first():
            ids = [study.id for study in client.studies()]
            tap.equal(ids, sorted(set(ids), reverse=True))
            names = {study.name: study for study in client.studies()}
            tap.equal(names["watched"].runs_trials, True)
            tap.equal(names["told"].runs_trials, False)

        # --- the way there ---

        def without_a_token_nothing_is_shown():
            tap.raises(hypertune.PermissionDenied,
                       hypertune.Client(server.http).studies)

        def an_unreachable_server_is_an_error_in_time():
            gone = hypertune.Client("http://127.0.0.1:1", timeout=1)
            error = tap.raises(hypertune.Unavailable, gone.studies)
            tap.contains("cannot reach http://127.0.0.1:1", str(error))

        def the_own_server_is_started_and_started_again():
            with cli_home.Home() as home:
                os.environ["HYPERTUNE_STATE"] = home.state
                own = hypertune.Client()
                study = own.create_study("mine", "loss", "minimize", SPACE)
                tap.equal(own.server, home.note()["http"])
                tap.equal(hypertune.Client(own.server).study("mine").id,
                          study.id, "by its URL alone")
                cli_home.stop(home.note()["pid"], signal.SIGKILL)
                for trial in study.ask(2):
                    trial.complete(1.0)
                tap.equal(study.counts["succeeded"], 2)
            # The first server's runner was adopted and waits for a third.
            for pid in harness.processes(
                    os.path.join(harness.bin_dir(), "hypertune-runner"),
                    home.state):
                cli_home.stop(pid)

        tap.run([
            a_spec_is_submitted_and_watched_to_its_end,
            the_best_trial_has_value_parameters_and_arguments,
            trials_are_chosen_by_state_and_conditions,
            long_lists_come_in_pages,
            curves_are_what_a_trial_reported,
            the_data_frame_has_a_row_for_each_trial,
            the_frame_of_measurements_has_a_row_for_each_report,
            the_frame_has_whole_numbers_and_attributes_of_users,
            pictures_of_a_real_study_are_well_formed,
            pictures_are_of_every_metric_that_was_measured,
            the_same_spec_again_is_the_same_study,
            a_wrong_spec_is_refused_with_its_place,
            a_vertex_job_goes_straight_to_the_server,
            a_study_without_a_result_has_no_best_trial,
            a_study_is_paused_resumed_cancelled_and_deleted,
            a_trial_that_the_server_runs_is_stopped_or_added,
            what_is_no_parameter_is_named,
            asking_and_telling_finds_the_minimum,
            the_same_seed_gives_the_same_suggestions,
            reports_make_a_curve_and_complete_takes_the_last,
            an_exception_makes_the_trial_infeasible,
            an_interrupted_trial_is_given_again,
            threads_get_trials_of_their_own,
            several_trials_come_at_once,
            some_parameters_may_be_given,
            the_model_is_asked_and_drawn,
            several_goals_have_a_front,
            a_trial_is_deleted,
            a_trial_of_ones_own_choice_is_added,
            asking_ends_with_the_study,
            a_study_that_clients_evaluate_is_stopped_and_deleted,
            a_project_sees_its_own_studies,
            all_studies_are_listed_once_newest_first,
            without_a_token_nothing_is_shown,
            an_unreachable_server_is_an_error_in_time,
            the_own_server_is_started_and_started_again,
        ])


if __name__ == "__main__":
    main()
