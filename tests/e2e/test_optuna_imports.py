"""Scripts of Optuna's users, with `import optuna` changed and nothing else.

The scripts are in optuna_scripts and run as they are with Optuna alone. Here each
runs with the two changes of docs/python.md; then its studies are on the server,
trial by trial.
"""

import contextlib
import importlib
import io
import json
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import warnings

import harness
import optuna_there
import tap
import tree


def changed(path, folder):
    """The script with the imports that docs/python.md tells to change."""
    with open(tree.path("docs/python.md"), encoding="utf-8") as file:
        told = re.search(r"^    (sed .*\n.* tune\.py)$", file.read(), re.M)
    tune = shutil.copy(path, os.path.join(folder, "tune.py"))
    subprocess.run(["sh", "-c", told.group(1)], cwd=folder, check=True)
    with open(tune, encoding="utf-8") as file:
        return file.read()


def run(name):
    """What the script called NAME.py has defined, what it printed, and its
    warnings."""
    path = tree.path("tests/e2e/optuna_scripts/%s.py" % name)
    with tempfile.TemporaryDirectory() as folder:
        text = changed(path, folder)
    tap.lacks("import optuna", text)
    for module in re.findall(r"^import (\w+)", text, re.M):
        try:
            importlib.import_module(module)
        except ImportError:
            raise tap.Skip("%s is not installed" % module) from None
    defined = {"__name__": "__main__"}
    before, printed = os.getcwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, \
            warnings.catch_warnings(record=True) as warned, \
            contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        os.chdir(folder)
        try:
            exec(compile(text, path, "exec"), defined)
        finally:
            os.chdir(before)
    return defined, printed.getvalue(), [str(one.message) for one in warned]


def main():
    import optuna
    from optuna.trial import TrialState

    import hypertune
    import hypertune.optuna as ours

    with harness.Server() as server:
        os.environ["HYPERTUNE_SERVER"] = server.http
        os.environ["HYPERTUNE_TOKEN_FILE"] = server.token_file
        client = hypertune.Client()
        states = {TrialState.COMPLETE: "SUCCEEDED",
                  TrialState.PRUNED: "STOPPED", TrialState.FAIL: "INFEASIBLE"}

        def is_on_the_server(study):
            """All trials of the study, as the dashboard has them."""
            remote = client.study(study.study_name)
            kept = [(t.id - 1, t.state, t.params) for t in remote.trials()]
            tap.equal(kept, [(t.number, states[t.state], {
                name: value if isinstance(value, str) or not isinstance(
                    t.distributions[name],
                    optuna.distributions.CategoricalDistribution)
                else "null" for name, value in t.params.items()})
                for t in study.trials])
            tap.true(len(kept) > 0)

        def a_random_forest():
            seen, printed, _ = run("forest")
            study = seen["study"]
            is_on_the_server(study)
            tap.equal(client.study(study.study_name).best_trial.value,
                      study.best_value)
            tap.contains("accuracy 0.9", printed)

        def pruned_trials():
            seen, printed, _ = run("pruning")
            is_on_the_server(seen["study"])
            is_on_the_server(seen["band"])
            tap.true(len(seen["pruned"]) >= 1, printed)
            tap.true(isinstance(seen["band"].sampler, ours.Sampler))

        def branches_and_loops():
            study = run("branches")[0]["study"]
            is_on_the_server(study)
            tap.equal({"layers" in t.params for t in study.trials},
                      {True, False})

        def several_goals_with_a_constraint():
            seen, printed, warned = run("goals")
            study = seen["study"]
            is_on_the_server(study)
            tap.true(isinstance(study.sampler, ours.Sampler))
            about = [text for text in warned if "no effect" in text]
            tap.equal(len(about), 1, warned)
            tap.contains("NSGAIISampler: ", about[0])
            tap.contains("population_size has no effect", about[0])
            kept = optuna.load_study(study_name=study.study_name,
                                     storage=ours.Storage()).trials
            tap.equal([len(t.system_attrs["constraints"]) for t in kept],
                      [1] * 10)

        def a_loop_around_ask_and_tell():
            seen, printed, _ = run("asking")
            is_on_the_server(seen["study"])
            tap.equal(printed.split()[0], "13")

        def callbacks_attributes_and_threads():
            seen = run("attributes")[0]
            study = seen["study"]
            is_on_the_server(study)
            tap.equal(study.study_name, "attributes")
            tap.true(len(seen["seen"]) >= 7)
            again = ours.load_study("attributes")
            tap.equal(again.user_attrs["contributors"], ["Akiba", "Sano"])
            tap.equal(again.trials[0].user_attrs["memo"], "a guess")
            told = [subprocess.run(
                [os.path.join(harness.bin_dir(), "hypertune"), *words],
                stdout=subprocess.PIPE, check=True).stdout.decode()
                for words in (["describe", "attributes"],
                              ["trial", "attributes/1"],
                              ["trial", "attributes/1", "-o", "json"])]
            tap.contains('\nattribute   contributors = ["Akiba", "Sano"]\n',
                         told[0])
            for line in ('memo = "a guess"', "square = 4"):
                tap.contains("\nattribute   %s" % line, told[1])
            shown = json.loads(told[2])["hypertune"]["userAttributes"]
            tap.equal({name: json.loads(text) for name, text in
                       shown.items()}, again.trials[0].user_attrs)
            # It is continued, since it says load_if_exists.
            before = len(study.trials)
            after = run("attributes")[0]["study"]
            tap.equal(after.study_name, "attributes")
            tap.true(len(after.trials) > before)

        def figures_and_importances():
            seen = run("figures")[0]
            is_on_the_server(seen["study"])
            tap.equal(seen["frame"]["user_attrs_sum"].tolist(),
                      [t.user_attrs["sum"] for t in seen["study"].trials])
            tap.equal(next(iter(seen["importances"])), "x")

        def studies_that_are_kept_elsewhere():
            seen = run("databases")[0]
            names = ours.get_all_study_names()
            study = seen["study"]
            tap.true(isinstance(study.sampler, ours.Sampler))
            tap.lacks("a", names)
            tap.equal(seen["loaded"], 8)
            tap.equal(seen["summaries"], [("b", 8)])
            tap.equal(seen["gone"], [])

        def points_of_other_kinds():
            seen = run("points")[0]
            for name in ("grid", "chance", "sequence", "study"):
                is_on_the_server(seen[name])
            points = {(t.params["x"], t.params["y"])
                      for t in seen["grid"].trials}
            tap.equal(points, {(x, y) for x in (-50, 0, 50.5)
                               for y in (-99, 99)})
            tap.equal(len(seen["grid"].trials), 6)
            tap.equal([t.params["y"] for t in seen["study"].trials[4:]],
                      [7] * 4)

        def attributes_are_kept_as_people_read_them():
            study = ours.create_study(study_name="read")
            values = {"name": "J\u00e9r\u00f4me \u4e2d", "half": "\ud800",
                      "more": float("inf"), "long": 2 ** 70}
            for name, value in values.items():
                study.set_user_attr(name, value)
            tap.equal(ours.load_study("read").user_attrs, values)
            kept = client._transport.call("GET", "/hypertune/v1/studies/%d" %
                                          client.study("read").id)
            tap.equal(kept["hypertuneStatus"]["userAttributes"], {
                "name": '"J\u00e9r\u00f4me \u4e2d"', "half": '"\\ud800"',
                "more": "Infinity", "long": str(2 ** 70)})

        # --- names ---

        def all_names_of_optuna_are_there():
            missing = [name for name in optuna.__all__
                       if not hasattr(ours, name)]
            tap.equal(missing, [])
            for name in ("samplers", "study", "pruners", "storages", "trial"):
                theirs = getattr(optuna, name)
                tap.equal([one for one in theirs.__all__ if not hasattr(
                    importlib.import_module("hypertune.optuna." + name),
                    one)], [])
            tap.true(set(optuna.__all__) <= set(dir(ours)))
            tap.raises(AttributeError, getattr, ours, "nothing")

        def a_module_is_loaded_once():
            import hypertune.optuna.samplers.nsgaii
            import hypertune.optuna.trial
            import hypertune.optuna.visualization.matplotlib as pictures
            tap.true(pictures is optuna.visualization.matplotlib)
            tap.equal(pictures.__spec__.name,
                      "optuna.visualization.matplotlib")
            tap.true(hypertune.optuna.trial is optuna.trial)
            tap.true(hypertune.optuna.samplers.nsgaii is
                     optuna.samplers.nsgaii)
            tap.true(ours.exceptions is optuna.exceptions)
            tap.raises(ModuleNotFoundError, importlib.import_module,
                       "hypertune.optuna.nothing")

        def samplers_take_optunas_arguments():
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                sampler = ours.samplers.TPESampler(
                    seed=3, n_startup_trials=5, multivariate=True)
                ours.samplers.TPESampler(seed=3)
                ours.integration.BoTorchSampler(seed=3)
            about = [str(one.message) for one in warned
                     if "no effect" in str(one.message)]
            tap.equal(len(about), 1)
            tap.contains("multivariate, n_startup_trials have no effect",
                         about[0])
            tap.equal(sampler._seed, 3)
            tap.equal(sampler._algorithm, None)
            tap.equal(ours.samplers.RandomSampler(4)._algorithm,
                      "RANDOM_SEARCH")
            tap.raises(TypeError, ours.samplers.TPESampler, seeed=3)
            again = pickle.loads(pickle.dumps(sampler))
            tap.true(type(again) is ours.samplers.TPESampler)
            tap.equal(ours.samplers.TPESampler.hyperopt_parameters(),
                      optuna.samplers.TPESampler.hyperopt_parameters())
            tap.true(ours.samplers.GridSampler is optuna.samplers.GridSampler)

        # --- studies ---

        def a_name_that_is_taken_gets_a_number():
            made = [ours.create_study(study_name="twice") for _ in range(3)]
            tap.equal([study.study_name for study in made],
                      ["twice", "twice-2", "twice-3"])
            first = ours.create_study(study_name="twice", load_if_exists=True)
            tap.equal(first.study_name, "twice")
            tap.raises(optuna.exceptions.DuplicatedStudyError,
                       ours.create_study, study_name="twice",
                       storage=ours.Storage())
            unnamed = {ours.create_study().study_name for _ in range(2)}
            tap.equal(len(unnamed), 2)

        def studies_are_listed_copied_and_deleted():
            study = ours.create_study(None, None, None, "listed", "maximize")
            study.optimize(lambda t: t.suggest_float("x", 0, 1), 3)
            ours.copy_study("listed", to_study_name="copied")
            kept = {summary.study_name: summary.best_trial and
                    summary.best_trial.value
                    for summary in ours.get_all_study_summaries()}
            tap.equal(kept["copied"], study.best_value)
            ours.delete_study("listed")
            names = ours.get_all_study_names()
            tap.contains("copied", names)
            tap.lacks("listed", names)
            tap.equal(len(ours.load_study("copied").trials), 3)
            tap.raises(KeyError, ours.load_study, "listed")
            elsewhere = optuna.storages.InMemoryStorage()
            moved = optuna.create_study(storage=elsewhere, study_name="moved")
            moved.optimize(lambda t: t.suggest_int("n", 1, 3), 2)
            ours.copy_study("moved", from_storage=elsewhere)
            is_on_the_server(ours.load_study("moved"))

        def without_a_server_there_is_one_error_at_once():
            asked = []

            def hang_up():
                with contextlib.suppress(OSError):  # its socket was closed
                    while True:
                        asked.append(away.accept()[0])
                        asked[-1].close()
            with socket.create_server(("127.0.0.1", 0)) as away:
                threading.Thread(target=hang_up, daemon=True).start()
                url = "http://127.0.0.1:%d" % away.getsockname()[1]
                done = subprocess.run(
                    [sys.executable, "-c",
                     "import sys\nsys.path[:0] = [%r]\n"
                     "import hypertune.optuna as optuna\n"
                     "optuna.create_study()" % tree.path("hypertune/python")],
                    env=dict(os.environ, HYPERTUNE_SERVER=url),
                    stderr=subprocess.PIPE, timeout=harness.PATIENCE)
                away.shutdown(socket.SHUT_RDWR)
            tap.equal(done.returncode, 1)
            told = done.stderr.decode().splitlines()
            tap.contains("Unavailable: ", told[-1])
            tap.contains(url, told[-1])
            # A connection is tried a few times, but nothing waits for a
            # minute as it does for a study that runs.
            tap.true(1 <= len(asked) < 10, len(asked))

        tap.run([a_random_forest, pruned_trials, branches_and_loops,
                 several_goals_with_a_constraint, a_loop_around_ask_and_tell,
                 callbacks_attributes_and_threads, figures_and_importances,
                 studies_that_are_kept_elsewhere, points_of_other_kinds,
                 attributes_are_kept_as_people_read_them, all_names_of_optuna_are_there, a_module_is_loaded_once,
                 samplers_take_optunas_arguments,
                 a_name_that_is_taken_gets_a_number,
                 studies_are_listed_copied_and_deleted,
                 without_a_server_there_is_one_error_at_once])


if __name__ == "__main__":
    optuna_there.run(main)
