"""`import hypertune` in trials that are processes: ours where Python has none,
else the one that is installed, which is never shadowed."""

import json
import os

import tap
from cli_home import Home

TRAIN = """
import hypertune
print(hypertune.__file__)
hypertune.HyperTune().report_hyperparameter_tuning_metric("accuracy", 0.75, 3)
"""

INSTALLED = """
class HyperTune:
    def report_hyperparameter_tuning_metric(self, name, value, step):
        print("%s=%g" % (name, value / 3))
"""


def spec(**members):
    return {"spec": 1, "name": "import", "goal": "maximize accuracy",
            "parameters": {"x": [1]}, "algorithm": "grid", "args": "none",
            "trials": 1, "retries": 0, "command": ["python3", "train.py"],
            **members}


def run(home, **variables):
    """What the trial printed first: the package's file."""
    home.write("train.py", TRAIN)
    home.write("spec.yaml", spec())
    home.run("submit", "--wait", **variables)
    out, err = home.cli("logs", "import/1")
    assert out, err
    return out.splitlines()[0]


def objective(home):
    trial = json.loads(home.cli("trial", "import/1", "-o", "json")[0])
    return trial["hypertune"]["objective"]


def ours_is_found_without_an_installation():
    with Home() as home:
        path = run(home)
        assert path.endswith("/kit/python/hypertune/__init__.py"), path
        tap.equal(objective(home), 0.75)


def an_installed_one_is_not_shadowed():
    with Home() as home:
        site = os.path.join(home.folder, "site")
        os.makedirs(os.path.join(site, "hypertune"))
        home.write("site/hypertune/__init__.py", INSTALLED)
        path = run(home, PYTHONPATH=site)
        tap.equal(path, os.path.join(site, "hypertune", "__init__.py"))
        tap.contains("\naccuracy=0.25\n", home.cli("logs", "import/1")[0])


def one_in_the_trainers_folder_is_not_shadowed():
    with Home() as home:
        home.write("hypertune.py", INSTALLED)
        tap.equal(run(home), os.path.join(home.folder, "hypertune.py"))


tap.run([ours_is_found_without_an_installation,
         an_installed_one_is_not_shadowed,
         one_in_the_trainers_folder_is_not_shadowed])
