"""`make install` into an empty folder: a tree that works on its own."""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile

import cli_home
import harness
import tap
import tree
from guests import DEVICES, PYTHON, REPORT

TRAINER = """
#include <hypertune.h>
int main(void)
{
    return report_hyperparameter_tuning_metric("accuracy", 0.5, 1, 0);
}
"""
work = tempfile.mkdtemp()
root = os.path.join(work, "root")


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=harness.PATIENCE,
                          **more)
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        raise AssertionError("%s: exit %d\n%s" % (command, done.returncode,
                                                  text))
    return text


def installed(path):
    return os.path.join(root, "usr", path)


def environment(**more):
    return dict(os.environ, PATH=installed("bin") + ":" + os.environ["PATH"],
                LD_LIBRARY_PATH=installed("lib"), XDG_RUNTIME_DIR=work,
                HYPERTUNE_STATE=os.path.join(work, "state"), **more)


def make_install_fills_the_usual_folders():
    build = os.path.dirname(harness.bin_dir())
    run("make", "-s", "-C", tree.ROOT, "B=" + build, "install", "DESTDIR=" + root,
        "PREFIX=/usr")
    for path in ("bin/hypertune", "bin/hypertuned", "bin/hypertune-runner",
                 "bin/hypertune-shim", "bin/hypertune-shim-loader",
                 "bin/hypertune-trial", "lib/hypertune/kit/bin/hypertune-shim",
                 "lib/hypertune/kit/bin/hypertune-shim-loader",
                 "include/hypertune.h", "lib/libhypertune.a",
                 "lib/pkgconfig/hypertune.pc",
                 "lib/systemd/system/hypertuned.service",
                 "lib/systemd/system/hypertune-runner.service",
                 "lib/systemd/user/hypertuned.service",
                 "lib/python3/dist-packages/hypertune/__init__.py",
                 "lib/python3/dist-packages/hypertune/optuna/__init__.py",
                 "lib/python3/dist-packages/hydra_plugins/hypertune_sweeper/"
                 "sweeper.py",
                 "share/man/man1/hypertune.1", "share/man/man8/hypertuned.8",
                 "share/man/man5/hypertune-spec.5",
                 "share/bash-completion/completions/hypertune",
                 "share/zsh/vendor-completions/_hypertune",
                 "share/fish/vendor_completions.d/hypertune.fish"):
        if not os.path.getsize(installed(path)):
            raise AssertionError(path + " is empty")


def the_library_has_a_versioned_name_and_two_links_to_it():
    tap.equal(os.readlink(installed("lib/libhypertune.so")),
              "libhypertune.so.0")
    version = run(installed("bin/hypertune"), "version").split()[1]
    tap.equal(os.readlink(installed("lib/libhypertune.so.0")),
              "libhypertune.so." + version)
    dynamic = run("readelf", "-d", installed("lib/libhypertune.so"))
    assert "soname: [libhypertune.so.0]" in dynamic, dynamic


def a_c_trainer_is_built_by_pkg_config_and_runs():
    source = os.path.join(work, "trainer.c")
    program = os.path.join(work, "trainer")
    with open(source, "w") as file:
        file.write(TRAINER)
    flags = run("pkg-config", "--cflags", "--libs", "hypertune",
                env=environment(PKG_CONFIG_PATH=installed("lib/pkgconfig"),
                                PKG_CONFIG_SYSROOT_DIR=root)).split()
    run("gcc", "-o", program, source, *flags)
    metrics = os.path.join(work, "metrics")
    run(program, env=environment(CLOUD_ML_HP_METRIC_FILE=metrics))
    with open(metrics) as file:
        assert '"accuracy": "0.5"' in file.read()


def a_study_runs_with_the_installed_programs_alone():
    shown = run("hypertune", "run", "--minimize", "loss", "--param", "x=0..1.0",
                "-n", "3", "--", "sh", "-c",
                'hypertune report loss="${1#--x=}"', "trial",
                cwd=work, env=environment())
    assert "--x=" in shown, shown
    run("hypertune", "list", cwd=work, env=environment())
    with open(os.path.join(work, "state", "server.json")) as file:
        cli_home.stop(json.load(file)["pid"])


def the_service_manager_learns_when_the_server_is_ready():
    path = os.path.join(work, "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(harness.PATIENCE)
        server = subprocess.Popen(
            [installed("bin/hypertuned"), "--data", os.path.join(work, "data"),
             "--listen", "127.0.0.1:0", "--report-listen", "tcp://127.0.0.1:0",
             "--runner", "none"], stdout=subprocess.PIPE,
            env=environment(NOTIFY_SOCKET=path))
        try:
            # First, as it ends when the server does.
            assert server.stdout.readline().startswith(b"ready http=")
            tap.equal(manager.recv(64), b"READY=1")
            server.terminate()
            tap.equal(manager.recv(64), b"STOPPING=1")
            tap.equal(server.wait(timeout=harness.PATIENCE), 0)
        finally:
            server.kill()
            server.wait()
            server.stdout.close()


UNITS = ("system/hypertuned", "system/hypertune-runner", "user/hypertuned")


def place_unit(name):
    """Copies an installed unit, with the path of its program; returns it."""
    unit = os.path.join(work, name + ".service")
    os.makedirs(os.path.dirname(unit), exist_ok=True)
    with open(installed("lib/systemd/%s.service" % name)) as f:
        text = f.read()
    tap.lacks("@BINDIR@", text)
    with open(unit, "w") as f:
        f.write(text.replace("/usr/bin/", installed("bin/")))
    return unit


def systemd_finds_no_fault_in_the_units():
    if shutil.which("systemd-analyze") is None:
        raise tap.Skip("systemd-analyze is not installed")
    for name in UNITS:
        said = run("systemd-analyze", "verify", "--man=no", place_unit(name),
                   *(["--user"] if name.startswith("user") else []),
                   env=environment())
        assert os.path.basename(name) + ".service" not in said, said


def the_units_are_as_closed_as_is_said():
    """docs/operations.md has the figures."""
    if shutil.which("systemd-analyze") is None:
        raise tap.Skip("systemd-analyze is not installed")
    with open("docs/operations.md") as f:
        said = f.read()
    for name, most in (("hypertuned", 2.0), ("hypertune-runner", 6.5)):
        score = re.search(r"Overall exposure level for .*: ([0-9.]+)", run(
            "systemd-analyze", "security", "--offline=yes",
            place_unit("system/" + name), env=environment())).group(1)
        tap.true(float(score) <= most, (name, score))
        tap.true(re.search(r"[ (]%s[,:]" % re.escape(score), said), score)


def the_runners_unit_leaves_trainers_what_they_need():
    with open(installed("lib/systemd/system/hypertune-runner.service")) as f:
        unit = f.read()
    for closed in ("MemoryDenyWriteExecute=", "PrivateDevices=",
                   "DevicePolicy=", "RestrictNamespaces=",
                   "ProtectControlGroups=", "ProtectClock=", "DeviceAllow="):
        tap.lacks("\n" + closed, unit)
    tap.contains("\nDelegate=yes\n", unit)


def a_trial_compiles_and_opens_devices_with_the_units_capabilities():
    """No systemd starts units here, so setpriv gives the runner the unit's
    user, capabilities and no_new_privs; its filter of calls and its mounts are
    left out."""
    if os.geteuid() != 0:
        raise tap.Skip("the unit's user is root")
    with open(installed("lib/systemd/system/hypertune-runner.service")) as f:
        unit = dict(line.split("=", 1) for line in f.read().splitlines()
                    if "=" in line and not line.startswith("#"))
    tap.equal(unit["NoNewPrivileges"], "yes")
    kept = ",".join("+" + name.lower()[len("cap_"):]
                    for name in unit["CapabilityBoundingSet"].split())
    options = unit["ExecStart"].split()[3:]
    with harness.Server("--runner", "none") as server:
        with open(os.path.join(work, "runner.log"), "wb") as log:
            runner = subprocess.Popen(
                ["setpriv", "--bounding-set", "-all," + kept, "--no-new-privs",
                 installed("bin/hypertune-runner"), "--server", server.http,
                 "--token-file", os.path.join(server.data, "runner-token"),
                 "--state", os.path.join(work, "units-state"), *options],
                env=environment(), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)

        def has_come():
            tap.equal(runner.poll(), None, "the runner's exit status")
            return server.get("/hypertune/v1/runners")["runners"]
        try:
            harness.wait_until(has_come, "the runner")
            server.submit({"spec": 1, "name": "unit", "trials": 1,
                           "goal": "maximize score", "algorithm": "grid",
                           "parameters": {"x": [1]}, "args": "none",
                           "workdir": "/",
                           "command": [PYTHON, "-c", DEVICES + REPORT]})
            status = server.wait_study("unit")
            tap.equal(status["state"], "SUCCEEDED", server.explain("unit"))
        finally:
            runner.terminate()
            runner.wait(harness.PATIENCE)


if harness.is_sanitized():
    tap.skip("make install", "the sanitized build is not for installing")
else:
    try:
        tap.run([make_install_fills_the_usual_folders,
                 the_library_has_a_versioned_name_and_two_links_to_it,
                 a_c_trainer_is_built_by_pkg_config_and_runs,
                 a_study_runs_with_the_installed_programs_alone,
                 the_service_manager_learns_when_the_server_is_ready,
                 systemd_finds_no_fault_in_the_units,
                 the_units_are_as_closed_as_is_said,
                 the_runners_unit_leaves_trainers_what_they_need,
                 a_trial_compiles_and_opens_devices_with_the_units_capabilities
                 ])
    finally:
        shutil.rmtree(work, ignore_errors=True)
