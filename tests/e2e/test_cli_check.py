"""`hypertune check`: what will run is shown as it will run, and a script that is
missing is found before anything is started."""

import os

import tap
from cli_home import Home


def spec(**members):
    return {"spec": 1, "name": "plan", "goal": "maximize accuracy",
            "parameters": {"x": [1, 2]}, "algorithm": "grid", "trials": 1,
            "retries": 0, "command": ["python3", "train.py"], **members}


def warnings(home, *arguments, **members):
    home.write("spec.yaml", spec(**members))
    _, err = home.cli("check", *arguments)
    return err


def a_missing_script_is_found():
    with Home() as home:
        home.write("trian.py", "")
        err = warnings(home)
        tap.contains("warning: command: train.py is not in %s, so python3 will "
                     "fail" % home.folder, err)
        tap.contains("did you mean trian.py?", err)
        home.write("train.py", "")
        tap.equal(warnings(home), "")
        tap.equal(warnings(home, command=["python3", "-c", "1", "no.py"]), "")
        tap.equal(warnings(home, command=["sh", "-c", "no.sh", "${x}"]), "")
        tap.contains("no.sh is not in %s" % home.folder,
                     warnings(home, "spec.yaml", "--", "sh", "no.sh",
                              "${x}"))


def a_module_is_missing_only_when_its_package_is_there():
    with Home() as home:
        tap.equal(warnings(home, command=["python3", "-m", "trainer.task"]),
                  "")
        os.mkdir(os.path.join(home.folder, "trainer"))
        home.write("trainer/__init__.py", "")
        tap.contains("task.py is not in %s/trainer" % home.folder,
                     warnings(home, command=["python3", "-m", "trainer.task"]))
        home.write("trainer/task.py", "")
        tap.equal(warnings(home, command=["python3", "-m", "trainer.task"]),
                  "")


tap.run([a_missing_script_is_found,
         a_module_is_missing_only_when_its_package_is_there])
