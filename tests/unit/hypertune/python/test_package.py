"""The package: what importing it brings, and how it is installed."""

import glob
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

import tap
import tree

import hypertune


def run_python(path, program):
    done = subprocess.run([path, "-c", program], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=tree.PACKAGE,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    tap.equal(done.returncode, 0, done.stdout.decode())
    return done.stdout.decode().strip()


def a_trainer_imports_nothing_of_the_client():
    tap.equal(run_python(sys.executable, (
        "import hypertune, sys; hypertune.report(a=1);"
        "print([m for m in sys.modules if m.startswith('hypertune.')"
        " and m.split('.')[1] not in"
        " ('reporter', 'metric_file', 'sender', 'spreq')])")), "[]")


def every_public_name_is_there_and_documented():
    for name in hypertune._HOMES:
        thing = getattr(hypertune, name)
        tap.true(thing.__doc__, name)
        for member, value in vars(thing).items():
            if not member.startswith("_") and (callable(value) or
                                               isinstance(value, property)):
                tap.true(value.__doc__, "%s.%s" % (name, member))
    tap.raises(AttributeError, getattr, hypertune, "Cleint")


def the_oldest_python_it_promises_can_import_it():
    home = pwd.getpwuid(os.getuid()).pw_dir
    found = glob.glob(home + "/.pyenv/versions/3.8.*/bin/python3.8")
    path = shutil.which("python3.8", path="/usr/bin:/usr/local/bin") or (
        found[0] if found else None)
    if path is None:
        raise tap.Skip("there is no python3.8")
    tap.equal(run_python(path, (
        "import hypertune; print([bool(getattr(hypertune, n)) for n in"
        " hypertune._HOMES].count(False));"
        "import hypertune.plots.trials, hypertune.watch")), "0")


def pip_installs_it_into_a_virtual_environment_without_a_network():
    with tempfile.TemporaryDirectory() as path:
        done = subprocess.run([sys.executable, "-m", "venv", path + "/venv"],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0 and b"ensurepip" in done.stdout:
            raise tap.Skip("python3-venv is not installed")
        tap.equal(done.returncode, 0, done.stdout.decode())
        shutil.copytree(tree.PACKAGE, path + "/source")
        environment = {**os.environ, "PIP_NO_INDEX": "1"}
        subprocess.run(
            [path + "/venv/bin/pip", "install", "--quiet", "--no-cache-dir",
             "--disable-pip-version-check", path + "/source"], check=True,
            env=environment, stdout=subprocess.DEVNULL)
        subprocess.run(
            [path + "/venv/bin/python", "-c",
             "import os, hypertune; print(hypertune.Client, hypertune.report);"
             "os.stat(os.path.join(hypertune.__path__[0], 'optuna', "
             "'storage.py')); os.stat(os.path.join(hypertune.__path__[0], '..',"
             "'hydra_plugins', 'hypertune_sweeper', 'sweeper.py'))"],
            check=True, cwd=path, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    tap.run([
        a_trainer_imports_nothing_of_the_client,
        every_public_name_is_there_and_documented,
        the_oldest_python_it_promises_can_import_it,
        pip_installs_it_into_a_virtual_environment_without_a_network,
    ])
