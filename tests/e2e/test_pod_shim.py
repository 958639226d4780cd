"""The first process of a pod: it waits for its folder, runs the trainer, leaves
its end where the cluster has it, and what else runs in the container alone."""

import os
import signal

import elements
import harness
import pods
import tap
from elements import DEAF, SAVES, python, read, shell, wait_file

ENDS = "stopped: the cluster ends the pod"


def the_end_is_in_the_folder_the_message_and_the_code():
    for script, code, outcome in (("exit 0", 0, "succeeded"),
                                  ("exit 3", 3, "failed"),
                                  ("kill -9 $$", 137, "failed")):
        with pods.Pod() as pod:
            pod.bring(shell(script))
            ending = pod.wait_exit()
            tap.equal(ending["outcome"], outcome)
            tap.equal(pod.wait_message(), ending)
            tap.equal(pod.process.poll(), None, "it waits for the runner")
            pod.signal()
            tap.equal(pod.end(), code)


def a_reason_as_long_as_any_fits_into_the_message():
    with pods.Pod() as pod:
        pod.bring(["/" + "\1" * 600])
        ending = pod.wait_exit()
        tap.true(len(ending["reason"]) > 500)
        tap.equal(pod.wait_message(), ending)
        tap.true(os.path.getsize(pod.log) <= 4096)
        pod.signal()
        tap.equal(pod.end(), 126)


def the_trainer_has_the_containers_environment_and_folder():
    with pods.Pod(workdir="/usr/share", OF_IMAGE="1", BOTH="image",
                  HOME="/image") as pod:
        pod.bring(shell("env; pwd; grep SigIgn /proc/self/status"),
                  env=[("BOTH", "job")], workdir=".")
        pod.wait_exit()
        lines = read(pod.folder, "stdout.000000000000.log").split("\n")
        for line in ("OF_IMAGE=1", "BOTH=job", "HOME=/image", "/usr/share",
                     "HYPERTUNE_TRIAL_DIR=" + pod.folder):
            tap.true(line in lines, line)
        # Of Slurm's warning alone a trainer is protected.
        ignored, = [line for line in lines if line.startswith("SigIgn:")]
        tap.equal(int(ignored.split()[1], 16) >> signal.SIGUSR1 - 1 & 1, 0)
        tap.true("BOTH=image" not in lines)


def a_pod_that_ends_while_it_waits_begins_no_trial():
    # What an image may name as its STOPSIGNAL.
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGWINCH):
        with pods.Pod() as pod:
            pod.signal(number)
            tap.equal(pod.end(), 143)
            tap.true(not os.path.exists(pod.root))


def a_pod_that_ends_while_the_trainer_runs_loses_it():
    with pods.Pod() as pod:
        pod.bring(python(SAVES))
        wait_file(pod.folder, "up")
        pod.signal()
        elements.expect_lost(pod.folder, ENDS)
        tap.equal(read(pod.folder, "terms"), "15\n")
        tap.equal(pod.wait_message()["outcome"], "lost")
        # Its trainer ended with 0, and yet there is no result.
        tap.equal(pod.end(), 143)


def a_trainer_that_does_not_end_with_the_pod_is_killed_after_its_grace():
    with pods.Pod() as pod:
        pod.bring(shell(DEAF), term_ms=300)
        wait_file(pod.folder, "up")
        pod.signal(signal.SIGUSR1)
        elements.expect_lost(pod.folder, ENDS)
        pod.signal()
        tap.equal(pod.end(), 137)


def an_order_to_stop_of_the_runner_is_one():
    with pods.Pod() as pod:
        pod.bring(python(SAVES))
        wait_file(pod.folder, "up")
        elements.write(pod.folder, "stop", "stop enough\n")
        ending = pod.wait_exit()
        tap.equal((ending["outcome"], ending["reason"]),
                  ("stopped", "stopped: enough"))
        pod.signal()
        tap.equal(pod.end(), 143)


def what_the_trainer_leaves_ends_and_the_mirror_does_not():
    with pods.Pod() as pod:
        mirror = pod.enter(elements.SHIM, "--pod-mirror", pod.root)
        tap.true(mirror.stdout.read(9), "its greeting")
        # Ends after what began it: an orphan of a program that was entered.
        pod.enter("sh", "-c", "(sleep 0.2; :) & exit 0").wait()
        pod.bring(shell("setsid setsid sh -c 'touch $HYPERTUNE_TRIAL_DIR/left;"
                        "unset HYPERTUNE_TRIAL_DIR; exec sleep 1000' & "
                        "while [ ! -e $HYPERTUNE_TRIAL_DIR/left ]; do "
                        "sleep 0.01; done"))
        pod.wait_exit()
        pod.wait_message()
        first = pod.first()
        harness.wait_until(lambda: elements.children(first) == [],
                           "all that is left to end and to be reaped")
        tap.equal(mirror.poll(), None, "the mirror runs")
        mirror.stdin.close()
        tap.equal(mirror.wait(timeout=harness.PATIENCE), 0)
        pod.signal()
        tap.equal(pod.end(), 0)


def a_supervisor_that_is_killed_is_lost_and_leaves_nothing():
    with pods.Pod() as pod:
        pod.bring(shell("touch $HYPERTUNE_TRIAL_DIR/up; sleep 1000 & wait"))
        wait_file(pod.folder, "up")
        os.kill(elements.children(pod.first())[0], signal.SIGKILL)
        elements.expect_lost(pod.folder, "its supervisor process was killed")
        harness.wait_until(lambda: elements.children(pod.first()) == [],
                           "the end of the trainer")
        pod.signal()
        tap.equal(pod.end(), 1)


def a_folder_outside_of_the_root_is_refused():
    for folder in ("../x", "/x", "a//b", ""):
        with pods.Pod(folder) as pod:
            tap.equal(pod.end(), 2)
            tap.contains("not a relative path", pod.process.stderr.read())


tap.run([the_end_is_in_the_folder_the_message_and_the_code,
         a_reason_as_long_as_any_fits_into_the_message,
         the_trainer_has_the_containers_environment_and_folder,
         a_pod_that_ends_while_it_waits_begins_no_trial,
         a_pod_that_ends_while_the_trainer_runs_loses_it,
         a_trainer_that_does_not_end_with_the_pod_is_killed_after_its_grace,
         an_order_to_stop_of_the_runner_is_one,
         what_the_trainer_leaves_ends_and_the_mirror_does_not,
         a_supervisor_that_is_killed_is_lost_and_leaves_nothing,
         a_folder_outside_of_the_root_is_refused])
