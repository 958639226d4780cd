"""What the kit gives a container, and its supervisor as the first process
there, on real engines: whatever is in the image and whatever the trainer does."""

import os
import shutil
import subprocess
import tempfile

import engines
import harness
import tap
from engines import PYTHON, shell, spec

PROGRAM = """
#include <hypertune.h>
int main(void)
{
    return report_hyperparameter_tuning_metric("score", 0.875, 3, "");
}
"""


class Kit:
    _folder = None  # a volume root

    def __init__(self, server):
        self._server = server
        self._engine = server.engine

    def _run(self, name, script, **members):
        return self._server.run(spec(name, shell(script), **members))

    def _lines(self, name):
        return self._server.output(name).splitlines()

    def _start(self, name, script, **members):
        """Submits a trial and waits until it says "up"; its container."""
        self._server.submit(spec(name, shell(script), **members))
        harness.wait_until(lambda: "up" in self._lines(name),
                           "a trial that is up")
        return self._server.container(name)

    # --- what is in the kit ---

    def a_c_program_is_built_with_it(self):
        if harness.is_sanitized():
            raise tap.Skip("a sanitizer cannot be linked statically")
        kit = os.path.join(harness.bin_dir(), "..", "kit")
        source = os.path.join(Kit._folder, "program.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(
            ["gcc", "-static", "-o", os.path.join(Kit._folder, "program"),
             "-I" + os.path.join(kit, "include"), source,
             os.path.join(kit, "lib", "libhypertune.a"), "-lpthread"],
            check=True)
        trial = self._run("built", "/program/program && ls $HYPERTUNE_KIT",
                          metrics=None, volumes=[Kit._folder + ":/program:ro"])
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(trial["objective"], 0.875)
        for name in ("bin", "include", "lib", "python"):
            assert name in self._lines("built"), self._lines("built")

    def nothing_in_it_can_be_changed(self):
        self._run("fixed", "echo x 2>&1 >/hypertune/kit/x; "
                  "rm -f /hypertune/kit/bin/hypertune 2>&1; "
                  "hypertune version; echo score=1")
        said = self._lines("fixed")
        assert "Read-only" in said[0] and "Read-only" in said[1], said
        assert said[2].startswith("hypertune "), said

    def its_python_package_goes_first_when_asked(self):
        trial = self._server.run(spec(
            "first", ["python3", "-c",
                      "import hypertune\nprint(hypertune.__file__)\n"
                      "hypertune.report(score=2)"],
            PYTHON, metrics=None, reporter="python",
            env={"PYTHONPATH": "/elsewhere"}))
        tap.equal(self._lines("first"),
                  ["/hypertune/kit/python/hypertune/__init__.py"])
        tap.equal(trial["objective"], 2.0)

    # --- the first process ---

    def the_supervisor_is_the_first_process_and_reaps(self):
        # Each orphan is gone after its end, not a zombie for good.
        trial = self._run("reaps", "cd $AIP_CHECKPOINT_DIR; i=0; "
                          "while [ $i -lt 20 ]; do "
                          "(sh -c 'echo >>ended; exit 3' &); i=$((i+1)); "
                          "done; until [ $(wc -l <ended) = 20 ]; "
                          "do sleep 0.1; done; "
                          "tr '\\0' ' ' </proc/1/cmdline; echo; "
                          "while cat /proc/[0-9]*/stat | grep -q ' Z '; "
                          "do sleep 0.1; done; echo score=1")
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        said = self._lines("reaps")
        assert said[0].startswith("/hypertune/kit/bin/hypertune-shim"), said

    def what_the_trainer_leaves_ends_with_it(self):
        trial = self._run(
            "leftovers", "(trap '' TERM HUP; while :; do sleep 1; done) & "
            "setsid sleep 1000 </dev/null >/dev/null 2>&1 & "
            "echo score=1; exit 4")
        tap.equal(trial["state"], "FAILED")
        assert "exit 4" in trial["reason"], trial["reason"]
        self._server.expect_nothing_left()

    def any_user_has_a_home_and_may_report(self):
        self._run("nobody", "id -u; echo $HOME; hypertune report score=1 && "
                  "touch $AIP_MODEL_DIR/m $AIP_CHECKPOINT_DIR/c && "
                  "cat $HYPERTUNE_TRIAL_TOKEN_FILE | wc -c", metrics=None,
                  container={"user": "12345:6789", "readOnly": True})
        said = self._lines("nobody")
        tap.equal(said[:2], ["12345", "/"])
        assert int(said[2]) > 16, said

    def a_stop_from_outside_is_passed_on_and_the_trial_resumed(self):
        container = self._start(
            "outside", "cd $AIP_CHECKPOINT_DIR; test -n \"$HYPERTUNE_RESUME\" "
            "&& cat saved && echo score=2 && exit 0; "
            "trap 'echo in time >saved; exit 0' TERM; "
            "echo up; while :; do sleep 0.1; done")
        self._engine.call("POST", "/containers/%s/stop?t=20" % container)
        self._server.wait_study("outside")
        trial = self._server.trial("outside", 1)["hypertune"]
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(self._lines("outside"), ["in time", "score=2"])

    # --- hostile trainers ---

    def nothing_is_read_through_what_it_plants(self):
        trial = self._run(
            "planted", "cd $HYPERTUNE_TRIAL_DIR; "
            "ln -s /etc/passwd reports.jsonl; mkfifo output.metrics; "
            "mkdir -p exit.json/full stop/full; rm launch.json; "
            "echo score=3; exit 6")
        tap.equal(trial["state"], "FAILED")
        assert "exit 6" in trial["reason"], trial["reason"]
        self._server.expect_nothing_left()

    def a_stop_reaches_it_whatever_it_plants(self):
        self._start("barred", "trap '' TERM; cd $HYPERTUNE_TRIAL_DIR; "
                    "mkdir -p stop/full; echo up; "
                    "while :; do sleep 0.1; done", grace="1s")
        status, answer = self._server.call(
            "POST", harness.STUDIES + "barred/trials/1:stop")
        tap.equal(status, 200, answer)
        self._server.wait_study("barred")
        trial = self._server.trial("barred", 1)["hypertune"]
        assert "stopped" in trial["reason"], trial
        self._server.expect_nothing_left()

    def a_flood_of_output_is_bounded(self):
        trial = self._run("flood", "yes 0123456789 | head -c 60000000; "
                          "echo; echo score=1")
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(trial["objective"], 1.0)

    def nothing_is_left_of_them_in_the_engine(self):
        self._server.expect_nothing_left()


def main():
    folder = Kit._folder = os.path.realpath(tempfile.mkdtemp(prefix="ht-kit-"))
    try:
        engines.run(Kit, "--volume-root", folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
