"""Trials in containers of real engines: what a trainer finds there, how it
reports, and what of it is kept."""

import json
import os
import subprocess
import tempfile

import engines
import harness
import tap
import tfevents
import tree
from engines import PYTHON, shell, spec

PACKAGES = "/usr/local/lib/python3.11/dist-packages/"
SECRET = "correct-horse-battery-staple"


def package_file():
    """HT_CLOUDML_HYPERTUNE may name hypertune.py of Google's own package."""
    path = os.environ.get("HT_CLOUDML_HYPERTUNE") or os.path.join(
        tree.TRAINERS, "google_hypertune.py")
    with open(path, encoding="utf-8") as file:
        return file.read()


REPORT_THREE = """
import hypertune
print(hypertune.__file__)
reporter = hypertune.HyperTune()
for step in (1, 2, 3):
    reporter.report_hyperparameter_tuning_metric(
        hyperparameter_metric_tag="score", metric_value=step / 4,
        global_step=step)
"""


class Trials:
    _root = None  # folder with the volume and the secrets

    def __init__(self, server):
        self._server = server
        self._engine = server.engine

    def _succeed(self, given):
        trial = self._server.run(given)
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        return trial

    def _lines(self, name, replica="master-0"):
        return self._server.output(name, replica).splitlines()

    def _steps(self, name):
        return [(int(row["step"]), row["metrics"]["score"])
                for row in self._server.measurements(name, 1)]

    # --- reporting ---

    def a_shell_trainer_reports_from_busybox(self):
        trial = self._succeed(spec("shell", shell(
            "hypertune report score=0.25 --step 1 && "
            "hypertune report score=0.5 --step 2; hypertune params x"),
            metrics=None))
        tap.equal(trial["objective"], 0.5)
        tap.equal(self._steps("shell"), [(1, 0.25), (2, 0.5)])
        value = trial["params"]["x"] if "params" in trial else None
        tap.equal(float(self._lines("shell")[0]), value)

    def event_files_of_tensorboard_are_read_in_the_container(self):
        trial = self._succeed(spec("events", shell(
            "cd $HYPERTUNE_TRIAL_DIR && " +
            tfevents.shell_of("logs/eval", ("score", 0.25, 1),
                              ("score", 0.5, 2))),
            metrics={"events": "logs"}))
        tap.equal(trial["objective"], 0.5)
        tap.equal(self._steps("events"), [(1, 0.25), (2, 0.5)])

    def its_use_of_the_machine_is_measured(self):
        self._succeed(spec("used", ["python3", "-c", (
            "import time; kept = bytearray(b'x') * (64 << 20)\n"
            "while time.process_time() < 2: pass\n"
            "print('score=1')")], PYTHON))
        one, = self._server.get(harness.OURS + "used/trials/1/usage")["usage"]
        series = one["series"]
        times = [0] + series["ms"]
        total = sum(used * (end - begin) / 1000 for used, begin, end in
                    zip(series["used"], times, times[1:]))
        tap.equal(1.8 < total < 3.5, True, total)
        peak = max(size or 0 for size in series["memory"])
        tap.equal(64 << 20 < peak < 200 << 20, True, peak)

    def a_package_of_the_image_is_never_shadowed(self):
        self._engine.build("localhost/google:1", {
            "Dockerfile": "FROM %s\nCOPY hypertune %shypertune\n" %
                          (PYTHON, PACKAGES),
            "hypertune/hypertune.py": package_file(),
            "hypertune/__init__.py": "from hypertune.hypertune import *\n"})
        trial = self._succeed(spec(
            "google", ["python3", "-c", REPORT_THREE], "localhost/google:1",
            metrics=None))
        tap.equal(self._lines("google"),
                  [PACKAGES + "hypertune/__init__.py"])
        tap.equal(trial["objective"], 0.75)
        tap.equal(self._steps("google"), [(1, 0.25), (2, 0.5), (3, 0.75)])

    def our_package_is_offered_where_the_image_has_none(self):
        trial = self._succeed(spec(
            "offered", ["python3", "-c", REPORT_THREE], PYTHON, metrics=None))
        path = self._lines("offered")[0]
        tap.starts(path, "/hypertune/kit/")
        tap.equal(trial["objective"], 0.75)

    def reports_reach_the_server_at_once_over_the_bridge(self):
        # --strict fails when the server has not confirmed in time.
        self._succeed(spec("bridge", shell(
            "test -n \"$HYPERTUNE_REPORT_URL\" && "
            "hypertune report score=1 --strict --timeout 100s"), metrics=None))

    def without_a_network_the_file_is_enough(self):
        trial = self._succeed(spec("cut-off", shell(
            "test -z \"$HYPERTUNE_REPORT_URL\" && "
            "hypertune report score=1 && ls /sys/class/net"), metrics=None,
            container={"network": "none"}))
        tap.equal(trial["objective"], 1.0)
        tap.lacks("eth0", self._lines("cut-off"))

    # --- the image ---

    def the_image_s_own_entry_point_gets_the_flags(self):
        self._engine.build("localhost/entry:1", {
            "Dockerfile": "FROM %s\nENV GREETING='good day'\nWORKDIR /there\n"
                          "COPY train.sh /bin/\n"
                          "ENTRYPOINT [\"/bin/train.sh\", \"first\"]\n"
                          "CMD [\"unused\"]\n" % engines.TINY,
            "train.sh": "#!/bin/sh\npwd; echo $GREETING; echo $PATH\n"
                        "for word; do echo $word; done; echo score=1\n"})
        self._succeed(spec("entry", image="localhost/entry:1"))
        said = self._lines("entry")
        tap.equal(said[:2] + said[3:4], ["/there", "good day", "first"])
        tap.equal(said[2].split(":")[:2], ["/hypertune/kit/bin",
                                           "/usr/local/bin"])
        tap.starts(said[4], "--x=0.", said)

    def the_shell_that_submits_stays_outside(self):
        self._server.submit(spec("outside", shell("env; echo score=1")),
                            env={"LD_LIBRARY_PATH": "/mine",
                                 "VIRTUAL_ENV": "/mine"})
        self._server.wait_study("outside")
        tap.equal([line for line in self._lines("outside")
                   if "/mine" in line], [])

    def an_attempt_records_the_image_it_ran(self):
        trial = self._succeed(spec("digest", shell("echo score=1")))
        if "sha256:" not in json.dumps(trial["attempts"]):
            raise AssertionError("no digest in %s" % trial["attempts"])

    # --- limits and rights ---

    def limits_and_rights_are_as_promised(self):
        self._server.submit(spec(
            "limits", shell("trap '' TERM; echo up; "
                            "until hypertune should-stop; do sleep 0.1; done;"
                            " grep -E '^(CapEff|NoNewPrivs)' /proc/1/status;"
                            " echo score=1"),
            resources={"cpus": 0.5, "memory": "96Mi"},
            container={"pids": 77, "shm": "8Mi"}))
        harness.wait_until(lambda: "up" in self._server.output("limits"),
                           "a trial that runs")
        found = self._engine.inspect(self._server.container("limits"))
        host = found["HostConfig"]
        tap.equal(host["Memory"], 96 << 20, "memory")
        tap.equal(host["NanoCpus"], 500000000, "cpus")
        tap.equal(host["PidsLimit"], 77, "pids")
        tap.equal(host["ShmSize"], 8 << 20, "shm")
        tap.equal(host["Privileged"], False, "privileged")
        tap.lacks(host["NetworkMode"], ("host", "none"), "network")
        tap.contains(host["PidMode"], ("", "private"), "pid space")
        sources = [mount["Source"] for mount in found["Mounts"]]
        tap.equal([path for path in sources if path.endswith(".sock")], [])
        self._stop_trial("limits")
        said = self._lines("limits")[1:]
        tap.equal(said[0].split(), ["CapEff:", "0" * 16], "capabilities")
        tap.equal(said[1].split(), ["NoNewPrivs:", "1"], "privileges")

    def the_user_and_the_root_file_system_are_as_asked(self):
        self._succeed(spec(
            "nobody", shell("id -u; touch /forbidden || echo read-only;"
                            " touch /tmp/mine && hypertune report score=1"),
            container={"user": "65534:65534", "readOnly": True},
            metrics=None))
        tap.equal(self._lines("nobody"), ["65534", "read-only"])

    def a_trial_cannot_have_more_processes_than_its_limit(self):
        self._succeed(spec("pids", shell(
            "(for i in $(seq 60); do sleep 9 & done; wait) 2>&1 | "
            "grep -c fork; echo score=1"), container={"pids": 20}))
        tap.equal(self._lines("pids"), ["1", "score=1"])

    # --- stopping ---

    def _stop_trial(self, name):
        status, answer = self._server.call(
            "POST", harness.STUDIES + name + "/trials/1:stop")
        tap.equal(status, 200, answer)
        self._server.wait_study(name)
        return self._server.trial(name, 1)["hypertune"]

    def _stops_early(self, name, **container):
        self._server.submit(spec(name, shell(
            "trap '' TERM; echo waiting; "
            "until hypertune should-stop; do sleep 0.1; done; "
            "hypertune report score=7; echo told"), metrics=None,
            container=container, grace="30s"))
        harness.wait_until(lambda: "waiting" in self._server.output(name),
                           "a trial that waits")
        trial = self._stop_trial(name)
        tap.equal(trial["state"], "STOPPED", trial["reason"])
        tap.equal(trial.get("objective"), 7.0)
        tap.equal(self._lines(name)[-1], "told")

    def should_stop_is_heard_on_the_bridge(self):
        self._stops_early("early-bridge")

    def should_stop_is_heard_without_a_network(self):
        self._stops_early("early-none", network="none")

    def a_trial_that_ignores_its_end_is_killed_after_the_grace(self):
        self._server.submit(spec("stubborn", shell(
            "trap '' TERM; echo score=1; echo waiting; "
            "while :; do sleep 0.1; done"),
            grace="1s"))
        harness.wait_until(lambda: "waiting" in self._server.output(
            "stubborn"), "a trial that waits")
        tap.equal(self._stop_trial("stubborn")["state"], "STOPPED")
        self._server.expect_nothing_left()

    # --- what is kept ---

    def checkpoints_survive_a_retry(self):
        trial = self._succeed(spec(
            "resumed", shell(
                "cd $AIP_CHECKPOINT_DIR; echo resume=$HYPERTUNE_RESUME; "
                "test -e step && cat step && echo score=1 && exit 0; "
                "echo step-5 >step; exit 3"), retries=1))
        tap.equal(len(trial["attempts"]), 2)
        tap.equal(self._lines("resumed"), ["resume=1", "step-5", "score=1"])

    def a_model_is_there_after_the_container_has_gone(self):
        trial = self._succeed(spec("model", shell(
            "echo weights >$AIP_MODEL_DIR/model; echo score=1")))
        self._server.expect_nothing_left()
        attempt = trial["attempts"][-1]
        output = json.dumps(attempt).split('"output": "')[1].split('"')[0]
        with open(os.path.join(output, "model", "model"),
                  encoding="ascii") as file:
            tap.equal(file.read(), "weights\n")

    def what_a_trial_wrote_reaches_another_machine(self):
        self._succeed(spec("fetched", shell(
            "echo weights >$AIP_MODEL_DIR/model; chmod 600 $AIP_MODEL_DIR/model; "
            "ln -s /etc/shadow $AIP_MODEL_DIR/link; echo score=1")))
        folder = os.path.join(self._server.folder, "fetched-1")
        done = subprocess.run(
            ["unshare", "--uts", "sh", "-c",
             "hostname elsewhere && exec \"$0\" \"$@\"",
             os.path.join(harness.bin_dir(), "hypertune"), "--data",
             self._server.data, "fetch", "fetched/1", folder],
            encoding="utf-8", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        tap.equal(done.returncode, 0, done.stderr)
        tap.contains("its runner sends what it wrote", done.stderr)
        tap.equal(os.listdir(os.path.join(folder, "model")), ["model"])
        with open(os.path.join(folder, "model", "model"),
                  encoding="ascii") as file:
            tap.equal(file.read(), "weights\n")

    def volumes_below_a_root_are_mounted(self):
        data = os.path.join(Trials._root, "data")
        self._succeed(spec("volume", shell(
            "cat /data/input; touch /data/x || echo read-only; echo score=1"),
            volumes=[data + ":/data:ro"]))
        tap.equal(self._lines("volume")[:2], ["42", "read-only"])

    def a_secret_is_known_inside_and_nowhere_else(self):
        self._succeed(spec("secret", shell(
            "test \"$KEY\" = %s || exit 9; echo key=$KEY; echo score=1" %
            "correct-horse-battery-\"staple\""),
            secrets={"KEY": {"file": "key"}}))
        tap.lacks(SECRET, self._server.output("secret"))
        for path, content in harness.contents(self._server.data).items():
            if "/runs/" not in path:
                tap.lacks(SECRET.encode(), content, path)

    def nothing_is_left_of_them_in_the_engine(self):
        self._server.expect_nothing_left()


def main():
    root = Trials._root = os.path.realpath(tempfile.mkdtemp(prefix="ht-root-"))
    for name, text in (("data/input", "42\n"), ("secrets/key", SECRET)):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    engines.run(Trials, "--volume-root", root, "--secrets",
                os.path.join(root, "secrets"))


if __name__ == "__main__":
    main()
