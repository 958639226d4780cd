"""Every example by the commands of its README, in a copy of its folder."""

import importlib.util
import json
import os
import re
import shutil
import subprocess

import harness
import tap
import tree

PKG_CONFIG = """\
Name: hypertune
Description: the library as it was built, not installed
Version: 0
Libs: -L%s -lhypertune
Cflags: -I%s
"""


def commands_of(readme):
    """The indented lines of a README, outside of sentences."""
    with open(readme, encoding="utf-8") as file:
        return re.findall(r"^    (\S.*)$", file.read(), re.M)


def limit_trials(spec, trials):
    with open(spec, encoding="utf-8") as file:
        text, count = re.subn(r"^trials: .*$", "trials: %d" % trials,
                              file.read(), flags=re.M)
    tap.equal(count, 1, spec)
    with open(spec, "w", encoding="utf-8") as file:
        file.write(text)


def environment(server, folder):
    """That of a shell on a machine where hypertune is installed."""
    library = os.path.realpath(os.path.join(harness.bin_dir(), "..", "lib"))
    with open(os.path.join(folder, "hypertune.pc"), "w",
              encoding="utf-8") as file:
        file.write(PKG_CONFIG % (library, tree.path("hypertune")))
    return dict(
        os.environ, HYPERTUNE_SERVER=server.http,
        HYPERTUNE_TOKEN_FILE=server.token_file, PKG_CONFIG_PATH=folder,
        LD_LIBRARY_PATH=library,
        PYTHONPATH=tree.PACKAGE,
        PATH=harness.bin_dir() + os.pathsep + os.environ["PATH"])


def main():
    with harness.Server(slots=2) as server:
        copies = os.path.join(server.folder, "examples")
        shutil.copytree(tree.path("examples"), copies)
        variables = environment(server, server.folder)

        def follow(example, trials=None):
            """Runs the README; returns what its last command printed. Where a
            trial computes for seconds, the spec is given fewer of them."""
            folder = os.path.join(copies, example)
            if trials:
                limit_trials(os.path.join(folder, "spec.yaml"), trials)
            output = ""
            for command in commands_of(os.path.join(folder, "README.md")):
                done = subprocess.run(
                    ["sh", "-c", command], cwd=folder, env=variables,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, encoding="utf-8",
                    timeout=harness.PATIENCE)
                tap.equal(done.returncode, 0, "%s\n%s%s" % (
                    command, done.stdout, done.stderr))
                output = done.stdout
            return output

        def ends_well(name, trials, better_than, maximize=True):
            """Every trial has a result, and the best is worth the search."""
            status = server.study(name)
            if status["counts"]["succeeded"] != trials:
                raise AssertionError(server.explain(name))
            best = status["best"]["hypertune"]["objective"]
            if (best > better_than) != maximize:
                raise AssertionError("%s: best is %g, not better than %g" %
                                     (name, best, better_than))
            print("# %s: best %g" % (name, best))

        def steps(name):
            return [int(row["step"])
                    for row in server.measurements(name, 1)]

        def a_shell_script_forecasts_the_nile():
            shown = follow("shell")
            tap.contains("--level=", shown)
            ends_well("nile", 20, 112, maximize=False)
            tap.equal(steps("nile"), list(range(1900, 1971, 10)))

        def a_python_program_tells_threes_from_eights():
            shown = follow("python-argparse")
            tap.contains("epoch 8: accuracy", shown)
            ends_well("threes-and-eights", 12, 0.95)
            tap.equal(steps("threes-and-eights"), list(range(1, 9)))

        def a_scikit_learn_model_is_cross_validated():
            if importlib.util.find_spec("sklearn") is None:
                raise tap.Skip("scikit-learn is not installed")
            follow("scikit-learn", 5)
            ends_well("tumours", 5, 0.97)

        def a_c_program_shortens_its_trip():
            if harness.is_sanitized():
                raise tap.Skip("a program without the sanitizer cannot use a "
                               "library that has it")
            follow("c")
            ends_well("salesman", 20, 6.5, maximize=False)
            tap.equal(steps("salesman"), list(range(10, 101, 10)))

        def forked_workers_report_for_themselves():
            follow("forking", 4)
            ends_well("neighbours", 4, 0.975)
            rows = server.measurements("neighbours", 1)
            folds = [row["metrics"]["fold_accuracy"] for row in rows
                     if "fold_accuracy" in row["metrics"]]
            tap.equal(len(folds), 4)
            tap.equal(rows[-1]["metrics"]["accuracy"], sum(folds) / 4)

        def three_replicas_average_their_gradients():
            shown = follow("pytorch-style", 3)
            tap.contains("--momentum=", shown)
            ends_well("pytorch-style", 3, 0.9)
            tap.equal(steps("pytorch-style"), list(range(1, 9)))

        def a_package_for_ai_platform_runs_unchanged():
            shown = follow("cloudml")
            tap.contains("--smoothing=", shown)
            ends_well("cloudml", 12, 0.87)
            tap.equal(steps("cloudml"), [0, 1, 2])
            with open(os.path.join(copies, "cloudml", "output", "1",
                                   "model-2.json"), encoding="utf-8") as file:
                tap.equal(len(json.load(file)["digits"]), 10)

        tap.run([a_shell_script_forecasts_the_nile,
                 a_python_program_tells_threes_from_eights,
                 a_scikit_learn_model_is_cross_validated,
                 a_c_program_shortens_its_trip,
                 forked_workers_report_for_themselves,
                 three_replicas_average_their_gradients,
                 a_package_for_ai_platform_runs_unchanged])


if __name__ == "__main__":
    main()
