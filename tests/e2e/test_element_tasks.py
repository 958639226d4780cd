"""hypertune-shim --slurm: an element of several tasks runs the replicas of a
trial, one in each."""

import json
import os

import tap
from elements import (Batch, SAVES, expect_lost, now_ms, python, read, shell,
                      wait_end, wait_exit, wait_file, write)


SPEAKS = """
import json, os
names = ["MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "SPEC"]
print(json.dumps({name: os.environ.get(name) for name in names}))
"""
NAMES = ["master-0", "worker-0", "worker-1"]
SPEC = json.dumps([name + ".slurm.invalid:1" for name in NAMES])


def tasks(batch, **variables):
    return [batch.start(SLURM_PROCID=str(i), SLURM_NTASKS="3", **variables)
            for i in range(3)]


def replicas_find_each_other():
    with Batch() as batch:
        started = tasks(batch)
        for turn in 1, 2:
            folder = batch.answer(turn, {name: python(SPEAKS)
                                         for name in NAMES},
                                  env=[("SPEC", SPEC), ("RANK", "own")])
            said = []
            for name in NAMES:
                tap.equal(wait_exit(folder + "/" + name)["outcome"],
                          "succeeded")
                said.append(json.loads(read(folder, name,
                                            "stdout.000000000000.log")))
            spec = json.loads(said[0]["SPEC"])
            tap.equal(len(set(spec)), 3, "addresses")
            host, port = spec[0].split(":")
            tap.equal(host, os.uname().nodename)
            for one in said:
                tap.equal(one, {"MASTER_ADDR": host, "MASTER_PORT": port,
                                "RANK": "own", "WORLD_SIZE": "3",
                                "SPEC": said[0]["SPEC"]})
        batch.refuse(3)
        for task in started:
            tap.equal(wait_end(task)[0], 0)


def each_replica_has_its_rank():
    with Batch() as batch:
        tasks(batch)
        folder = batch.answer(1, {name: python(SPEAKS) for name in NAMES})
        for i, name in enumerate(NAMES):
            wait_exit(folder + "/" + name)
            tap.equal(json.loads(read(
                folder, name, "stdout.000000000000.log"))["RANK"], str(i))


def the_next_trial_waits_for_all_replicas():
    with Batch() as batch:
        tasks(batch)
        commands = {name: shell("true") for name in NAMES}
        commands["worker-1"] = python(SAVES)
        folder = batch.answer(1, commands)
        wait_file(folder, "worker-1", "up")
        wait_exit(folder + "/master-0")
        tap.true(not os.path.exists(batch.element + "/ask.2"))
        write(folder + "/worker-1", "stop", "stop the master has ended\n")
        batch.wait_ask(2)
        wait_exit(folder + "/worker-1")


def a_replica_that_does_not_come_ends_the_others():
    with Batch(answerMs=6000) as batch:
        started = [batch.start(SLURM_PROCID=str(i)) for i in range(2)]
        folder = batch.answer(1, {name: shell("true") for name in NAMES})
        for name in NAMES[:2]:
            expect_lost(folder + "/" + name, "no address of worker-1")
        for task in started:
            wait_end(task)
        tap.true(not os.path.exists(batch.element + "/ask.2"))


def tasks_end_when_the_first_one_has_no_time():
    with Batch() as batch:
        started = tasks(batch)
        folder = batch.answer(1, {name: shell("true") for name in NAMES},
                              limit_ms=now_ms() + 50000)
        for task in started:
            tap.equal(wait_end(task)[0], 0)
        tap.true(os.path.exists(batch.element + "/ended.first"))
        tap.equal(wait_exit(folder + "/worker-1")["outcome"], "succeeded")


def tasks_of_a_restarted_job_do_not_take_old_answers():
    with Batch() as batch:
        os.mkdir(batch.element)
        folder = batch.attempt({name: shell("true") for name in NAMES})
        for name in "ask.1", "ended.first":
            write(batch.element, name, "")
        write(batch.element, "answer.1", {"folder": folder})
        write(batch.element, "element.json", {"job": 7, "index": 4, "turn": 1,
                                              "launch": "first"})
        worker = batch.start(SLURM_PROCID="1", HYPERTUNE_LAUNCH="second")
        master = batch.start(HYPERTUNE_LAUNCH="second")
        batch.refuse(2)
        for task in master, worker:
            tap.equal(wait_end(task)[0], 0)
        tap.equal(os.listdir(folder + "/worker-0"), ["launch.json"])


if __name__ == "__main__":
    tap.run([replicas_find_each_other,
             each_replica_has_its_rank,
             the_next_trial_waits_for_all_replicas,
             a_replica_that_does_not_come_ends_the_others,
             tasks_end_when_the_first_one_has_no_time,
             tasks_of_a_restarted_job_do_not_take_old_answers])
