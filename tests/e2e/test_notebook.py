"""The example notebook, executed by Jupyter against the user's own server."""

import ast
import json
import os
import re
import shutil
import subprocess

import cli_home
import harness
import tap
import tree

SOURCE = tree.path("examples/notebook")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def command():
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        return re.search(r"^    (jupyter .*)$", file.read(), re.M).group(1)


def has(interpreter, module):
    return subprocess.run([interpreter, "-c", "import " + module],
                          stderr=subprocess.DEVNULL).returncode == 0


def kernel():
    """The interpreter that notebooks run in; None without Jupyter."""
    if shutil.which("jupyter") is None:
        return None
    done = subprocess.run(["jupyter", "--paths", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True)
    for folder in json.loads(done.stdout.decode())["data"]:
        path = os.path.join(folder, "kernels", "python3", "kernel.json")
        if os.path.exists(path):
            python = shutil.which(load(path)["argv"][0])
            if python and has(python, "ipykernel, nbconvert"):
                return python
    return None


class Executed:
    """The notebook's outputs, found by what their cells contain."""

    def __init__(self, path):
        self.cells = [cell for cell in load(path)["cells"]
                      if cell["cell_type"] == "code"]

    def data(self, text):
        """What the cell with `text` has shown, by MIME type."""
        cell = next(cell for cell in self.cells
                    if text in "".join(cell["source"]))
        shown = [output["data"] for output in cell["outputs"]
                 if "data" in output]
        tap.equal(len(shown), 1, "outputs of " + text)
        return {kind: "".join(value) for kind, value in shown[0].items()}


def execute(home):
    for name in ("notebook", "python-argparse", "digits"):
        shutil.copytree(tree.path("examples/" + name),
                        os.path.join(home.folder, name))
    folder = os.path.join(home.folder, "notebook")
    variables = home.environment({
        "HOME": home.folder, "JUPYTER_ALLOW_INSECURE_WRITES": "1",
        "PYTHONPATH": tree.PACKAGE,
        "PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]})
    done = subprocess.run(["sh", "-c", command()], cwd=folder, env=variables,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=harness.PATIENCE)
    tap.equal(done.returncode, 0, done.stdout.decode())
    return Executed(os.path.join(folder, "executed.ipynb"))


def main():
    notebook = {}

    def it_is_stored_without_outputs():
        for cell in load(os.path.join(SOURCE, "tuning.ipynb"))["cells"]:
            tap.equal(cell.get("outputs", []), [])
            tap.equal(cell.get("execution_count"), None)

    def every_cell_runs():
        interpreter = kernel()
        if interpreter is None:
            raise tap.Skip("Jupyter is not installed")
        with cli_home.Home() as home:
            notebook["executed"] = execute(home)
        notebook["pandas"] = has(interpreter, "pandas")

    def shown(text):
        if "executed" not in notebook:
            raise tap.Skip("it was not executed")
        return notebook["executed"].data(text)

    def a_study_and_its_trials_are_shown_as_cards():
        card = shown("create_study")["text/html"]
        tap.contains("branin - RUNNING", card)
        tap.contains("best loss", card)
        trial = shown("study.best_trial")
        tap.contains("<code>x=", trial["text/html"])
        tap.contains("SUCCEEDED loss=", trial["text/plain"])

    def the_minimum_is_found():
        text = shown("study.best_trial")["text/plain"]
        loss = float(re.search(r"loss=(\S+)", text).group(1))
        tap.true(0.397 < loss < 3, text)

    def a_watched_study_has_one_output_that_ends_with_it():
        data = shown("until_done")
        tap.contains("threes-and-eights - SUCCEEDED", data["text/html"])
        tap.contains("12 / 12", data["text/html"])

    def pictures_are_inline():
        for text in ("plot_history", "plot_parallel", "plot_curves",
                     "plot_distribution", "plot_timeline",
                     "plot_importances", "plot_slice", "plot_contour",
                     "plot_pareto"):
            svg = shown(text)["image/svg+xml"]
            tap.starts(svg, "<svg ", text)
            tap.lacks(" yet<", svg, text)
            tap.lacks("not enough", svg, text)

    def the_model_tells_what_matters():
        shares = ast.literal_eval(shown("study.importances()")["text/plain"])
        tap.equal(sorted(shares), ["x", "y"])
        tap.true(0.5 < sum(shares.values()) < 1.000001, shares)

    def the_table_is_shown_with_pandas():
        shown("plot_curves")
        if not notebook["pandas"]:
            raise tap.Skip("pandas is not installed")
        tap.contains("params.learning_rate",
                     shown("trials_dataframe")["text/html"])

    tap.run([it_is_stored_without_outputs,
             every_cell_runs,
             a_study_and_its_trials_are_shown_as_cards,
             the_minimum_is_found,
             a_watched_study_has_one_output_that_ends_with_it,
             pictures_are_inline,
             the_model_tells_what_matters,
             the_table_is_shown_with_pandas])


if __name__ == "__main__":
    main()
