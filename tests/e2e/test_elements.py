"""hypertune-shim --slurm: an element of an array job asks for trials and runs
them, one after the other."""

import os
import shutil
import signal

import harness
import tap
from elements import (Batch, DEAF, SAVES, SAVES_SLOWLY, children, expect_lost,
                      family, now_ms, python, read, shell, wait_end, wait_exit,
                      wait_file, write)

BEFORE_LIMIT = "stopped before Slurm's time limit"
WITH_JOB = "stopped: Slurm ends the job"
SOON = 20000  # ms, by far less than the minute that a deaf trainer has else


def an_element_runs_trials_until_there_is_none():
    with Batch() as batch:
        task = batch.start()
        first = batch.give(1, shell("echo one"))
        tap.equal(wait_exit(first)["outcome"], "succeeded")
        second = batch.give(2, shell("echo two; exit 3"))
        tap.equal(wait_exit(second)["reason"], "exit 3")
        batch.refuse(3)
        code, said = wait_end(task)
        tap.equal(code, 0)
        tap.contains("there is no further trial", said)
        tap.equal(read(first, "stdout.000000000000.log"), "one\n")
        tap.equal(read(second, "stdout.000000000000.log"), "two\n")
        tap.equal(os.stat(batch.element).st_mode & 0o777, 0o700)


def an_element_says_who_it_is():
    with Batch() as batch:
        task = batch.start(SLURM_JOB_END_TIME="4000000000")
        batch.refuse(1)
        tap.equal(wait_end(task)[0], 0)
        told = batch.self()
        tap.true(abs(now_ms() - told.pop("beganMs")) < 60000)
        tap.equal(told, {"job": 7, "index": 4, "launch": "first", "turn": 1,
                         "host": os.uname().nodename, "nodes": "n[1-2]",
                         "gpus": "2,3", "endMs": 4000000000000})


def the_trainer_has_slurms_variables_over_those_of_the_runner():
    with Batch() as batch:
        task = batch.start(SLURMD_NODENAME="n1")
        folder = batch.give(1, ["/usr/bin/env"],
                            env=[("CUDA_VISIBLE_DEVICES", "0"),
                                 ("TMPDIR", "/none"), ("HOME", "/home/u")])
        wait_exit(folder)
        batch.refuse(2)
        wait_end(task)
        env = dict(line.split("=", 1) for line in read(
            folder, "stdout.000000000000.log").splitlines())
        tap.equal(env, {
            "PATH": "/usr/bin:/bin", "HYPERTUNE_TRIAL_DIR": folder,
            "HOME": "/home/u", "CUDA_VISIBLE_DEVICES": "2,3",
            "TMPDIR": batch.root, "SLURM_ARRAY_JOB_ID": "7",
            "SLURM_ARRAY_TASK_ID": "4", "SLURM_JOB_NODELIST": "n[1-2]",
            "SLURMD_NODENAME": "n1"})


def the_trainer_has_what_modules_have_set():
    before = "PATH=/usr/bin:/bin\nUNRELATED=1\nTMPDIR=/none"
    with Batch() as batch:
        batch.start(PATH="/apps/bin:/usr/bin:/bin", CUDA_HOME="/apps",
                    HYPERTUNE_ENV_BEFORE=before)
        folder = batch.give(1, shell("echo $PATH $CUDA_HOME $UNRELATED"))
        wait_exit(folder)
        tap.equal(read(folder, "stdout.000000000000.log"),
                  "/apps/bin:/usr/bin:/bin /apps\n")


def a_restarted_element_continues_after_the_last_answer():
    with Batch() as batch:
        task = batch.start()
        folder = batch.give(1, python(SAVES))
        wait_file(folder, "up")
        lost = family(task.pid)
        for number in signal.SIGSTOP, signal.SIGKILL:
            for pid in lost:
                os.kill(pid, number)
        wait_end(task)
        again = batch.start(HYPERTUNE_LAUNCH="second")
        batch.wait_ask(2)
        tap.equal((batch.self()["launch"], batch.self()["turn"]),
                  ("second", 2))
        batch.refuse(2)
        tap.equal(wait_end(again)[0], 0)
        tap.true(not os.path.exists(os.path.join(folder, "exit.json")))


def an_element_that_was_started_again_after_its_end_ends():
    with Batch() as batch:
        first = batch.start()
        batch.refuse(1)
        tap.equal(wait_end(first)[0], 0)
        again = batch.start(HYPERTUNE_LAUNCH="second")
        worker = batch.start(HYPERTUNE_LAUNCH="second", SLURM_PROCID="1")
        for task in again, worker:
            tap.equal(wait_end(task)[0], 0)
        tap.true(not os.path.exists(batch.element + "/ask.2"))


def an_element_that_was_started_again_takes_no_further_trial():
    with Batch() as batch:
        first = batch.start()
        batch.wait_ask(1)
        batch.start(HYPERTUNE_LAUNCH="second")
        harness.wait_until(lambda: batch.self()["launch"] == "second",
                           "the second launch")
        folder = batch.give(1, shell("echo $PPID"))
        tap.equal(wait_end(first), (0, "hypertune: ends: Slurm has started"
                                    " the element again\n"))
        wait_exit(folder)
        batch.wait_ask(2)


def a_folder_that_a_shim_had_is_not_run_again():
    with Batch() as batch:
        task = batch.start()
        folder = batch.attempt({"master-0": shell("echo again")})
        write(folder + "/master-0", "shim.json",
              {"pid": 2, "start": 1, "boot": ""})
        batch.wait_ask(1)
        write(batch.element, "answer.1", {"folder": folder})
        batch.refuse(2)
        code, said = wait_end(task)
        tap.equal(code, 0)
        tap.contains("belongs to another process", said)
        tap.equal(sorted(os.listdir(folder + "/master-0")),
                  ["launch.json", "shim.json"])


def a_killed_shim_ends_its_trial_only():
    with Batch() as batch:
        task = batch.start()
        folder = batch.give(1, python(SAVES))
        wait_file(folder, "up")
        os.kill(children(task.pid)[0], signal.SIGKILL)
        expect_lost(folder, "its supervisor process was killed")
        batch.refuse(2)
        tap.equal(wait_end(task)[0], 0)


# --- limits and signals ---

def a_trainer_is_stopped_before_the_limit():
    with Batch() as batch:
        task = batch.start()
        limit = now_ms() + 15000
        folder = batch.give(1, python(SAVES), limit_ms=limit, grace_ms=8000)
        expect_lost(folder, BEFORE_LIMIT)
        tap.true(now_ms() < limit, "it ended before its limit")
        tap.equal(read(folder, "stop"), "stop %s\n" % BEFORE_LIMIT)
        tap.equal(read(folder, "terms"), "15\n")
        code, said = wait_end(task)
        tap.equal(code, 0)
        tap.contains("its time is over soon", said)
        tap.true(not os.path.exists(batch.element + "/ask.2"))


def a_batch_says_the_limit_where_slurm_does_not():
    with Batch(limitMs=15000) as batch:
        begin = now_ms()
        task = batch.start()
        folder = batch.give(1, python(SAVES), grace_ms=8000)
        expect_lost(folder, BEFORE_LIMIT)
        tap.true(now_ms() - begin >= 7000, "it ended too early")
        tap.equal(read(folder, "terms"), "15\n")
        code, said = wait_end(task)
        tap.equal(code, 0)
        tap.contains("its time is over soon", said)


def a_deaf_trainer_is_killed_at_the_limit():
    with Batch() as batch:
        end = now_ms() // 1000 + 8
        batch.start(SLURM_JOB_END_TIME=str(end))
        folder = batch.give(1, shell(DEAF), grace_ms=2000,
                            term_ms=60000)
        expect_lost(folder, BEFORE_LIMIT)
        tap.true(now_ms() < end * 1000 + SOON, "it was killed at its limit")


def slurms_warning_stops_the_trainer_at_once():
    with Batch() as batch:
        task = batch.start()
        folder = batch.give(1, python(SAVES))
        wait_file(folder, "up")
        task.send_signal(signal.SIGUSR1)
        expect_lost(folder, BEFORE_LIMIT)
        tap.equal(read(folder, "terms"), "15\n")
        code, said = wait_end(task)
        tap.equal(code, 0)
        tap.contains("ends with the job", said)


def a_warning_shortly_before_the_limit_changes_nothing():
    """Slurm gives it up to a minute too early, and srun to the trainer, too."""
    with Batch() as batch:
        task = batch.start()
        limit = now_ms() + 15000
        folder = batch.give(1, python(SAVES), limit_ms=limit, grace_ms=8000)
        wait_file(folder, "up")
        for pid in reversed(family(task.pid)):
            os.kill(pid, signal.SIGUSR1)
        expect_lost(folder, BEFORE_LIMIT)
        tap.true(now_ms() > limit - 8500, "its time was used")
        tap.equal(read(folder, "terms"), "15\n")
        tap.equal(wait_end(task)[0], 0)


def a_warning_far_from_the_limit_tells_of_a_wrong_clock():
    with Batch() as batch:
        task = batch.start()
        folder = batch.give(1, python(SAVES), limit_ms=now_ms() + 600000)
        wait_file(folder, "up")
        task.send_signal(signal.SIGUSR1)
        expect_lost(folder, BEFORE_LIMIT)
        tap.equal(read(folder, "terms"), "15\n")


def an_order_to_end_is_passed_on():
    with Batch() as batch:
        task = batch.start()
        folder = batch.give(1, python(SAVES))
        wait_file(folder, "up")
        task.send_signal(signal.SIGTERM)
        expect_lost(folder, WITH_JOB)
        tap.equal(read(folder, "terms"), "15\n")
        tap.equal(wait_end(task)[0], 0)
        tap.true(not os.path.exists(batch.element + "/ask.2"))


def a_trainer_that_slurm_has_told_is_not_told_twice():
    """And its good end is no result."""
    with Batch(killWaitMs=60000) as batch:
        task = batch.start()
        folder = batch.give(1, python(SAVES_SLOWLY), term_ms=60000)
        wait_file(folder, "up")
        element, shim, trainer = family(task.pid)
        os.kill(trainer, signal.SIGTERM)
        wait_file(folder, "terms")
        os.kill(shim, signal.SIGTERM)
        os.kill(element, signal.SIGTERM)
        expect_lost(folder, WITH_JOB)
        tap.equal(read(folder, "terms"), "15\n")
        tap.equal(wait_end(task)[0], 0)


def a_deaf_trainer_is_killed_before_slurm_kills():
    with Batch() as batch:
        task = batch.start()
        folder = batch.give(1, shell(DEAF), term_ms=60000)
        wait_file(folder, "up")
        begun = now_ms()
        task.send_signal(signal.SIGTERM)
        expect_lost(folder, WITH_JOB)
        tap.true(now_ms() < begun + 5000 + SOON, "KillWait")


def a_longer_patience_of_slurm_is_the_trainers():
    with Batch(killWaitMs=60000) as batch:
        task = batch.start()
        folder = batch.give(1, python(SAVES_SLOWLY), term_ms=60000)
        wait_file(folder, "up")
        task.send_signal(signal.SIGTERM)
        expect_lost(folder, WITH_JOB)
        tap.equal(wait_exit(folder)["exit"], 0)


def a_signal_ends_an_element_that_waits():
    with Batch() as batch:
        task = batch.start()
        batch.wait_ask(1)
        task.send_signal(signal.SIGTERM)
        code, said = wait_end(task)
        tap.equal(code, 0)
        tap.contains("Slurm ends the job", said)


def an_order_of_the_runner_stops_the_trainer():
    with Batch() as batch:
        task = batch.start()
        folder = batch.give(1, python(SAVES))
        wait_file(folder, "up")
        write(folder, "stop", "stop by user\n")
        ending = wait_exit(folder)
        tap.equal((ending["outcome"], ending["reason"]),
                  ("stopped", "stopped: by user"))
        batch.refuse(2)
        tap.equal(wait_end(task)[0], 0)


# --- when something is missing ---

def an_element_ends_when_its_batch_vanishes():
    with Batch() as batch:
        task = batch.start()
        batch.wait_ask(1)
        shutil.rmtree(batch.folder)
        code, said = wait_end(task)
        tap.equal(code, 1)
        tap.contains("is gone", said)
        tap.true(not os.path.exists(batch.folder))


def an_element_ends_without_an_answer():
    with Batch(answerMs=1000) as batch:
        code, said = wait_end(batch.start())
        tap.equal(code, 1)
        tap.contains("no answer within 1s", said)


def a_damaged_answer_ends_the_element():
    with Batch() as batch:
        task = batch.start()
        batch.wait_ask(1)
        write(batch.element, "answer.1", {"folder": "relative"})
        code, said = wait_end(task)
        tap.equal(code, 1)
        tap.contains("answer.1 names no folder", said)


def an_attempt_that_is_gone_is_left_out():
    with Batch() as batch:
        task = batch.start()
        batch.wait_ask(1)
        write(batch.element, "answer.1", {"folder": batch.root + "/none"})
        batch.refuse(2)
        code, said = wait_end(task)
        tap.equal(code, 0)
        tap.contains("/none does not exist", said)


def outside_slurm_there_is_no_element():
    with Batch() as batch:
        code, said = wait_end(batch.start(SLURM_ARRAY_JOB_ID=""))
        tap.equal(code, 1)
        tap.contains("no element of an array job of Slurm", said)
        tap.equal(os.listdir(batch.folder), [])


if __name__ == "__main__":
    tap.run([an_element_runs_trials_until_there_is_none,
             an_element_says_who_it_is,
             the_trainer_has_slurms_variables_over_those_of_the_runner,
             the_trainer_has_what_modules_have_set,
             a_restarted_element_continues_after_the_last_answer,
             an_element_that_was_started_again_after_its_end_ends,
             an_element_that_was_started_again_takes_no_further_trial,
             a_folder_that_a_shim_had_is_not_run_again,
             a_killed_shim_ends_its_trial_only,
             a_trainer_is_stopped_before_the_limit,
             a_batch_says_the_limit_where_slurm_does_not,
             a_deaf_trainer_is_killed_at_the_limit,
             slurms_warning_stops_the_trainer_at_once,
             a_warning_shortly_before_the_limit_changes_nothing,
             a_warning_far_from_the_limit_tells_of_a_wrong_clock,
             an_order_to_end_is_passed_on,
             a_trainer_that_slurm_has_told_is_not_told_twice,
             a_deaf_trainer_is_killed_before_slurm_kills,
             a_longer_patience_of_slurm_is_the_trainers,
             a_signal_ends_an_element_that_waits,
             an_order_of_the_runner_stops_the_trainer,
             an_element_ends_when_its_batch_vanishes,
             an_element_ends_without_an_answer,
             a_damaged_answer_ends_the_element,
             an_attempt_that_is_gone_is_left_out,
             outside_slurm_there_is_no_element])
