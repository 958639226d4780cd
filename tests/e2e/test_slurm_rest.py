"""The way of slurmrestd against a real Slurm: a unix socket, and a token."""

import os
import subprocess

import harness
import slurm
import tap

TOOL = os.path.join(harness.bin_dir(), "../tests/tools/slurm_way")
SCRIPT = "#!/bin/sh\n[ $SLURM_ARRAY_TASK_ID = 0 ] && exit 3\nsleep 600\n"


class Way:
    def __init__(self, cluster, *settings):
        self.cluster, self.settings = cluster, settings

    def ask(self, *words):
        ended = subprocess.run((TOOL,) + self.settings + words,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, check=False, timeout=100)
        return (ended.stdout + ended.stderr).strip()

    def submit(self, name, *options, elements=6):
        return self.ask("submit", name, self.cluster.folder, str(elements),
                        SCRIPT, "nodes=1", "ntasks=1", "cpus-per-task=2",
                        "signal=B:USR1@30", "no-requeue", *options)

    def states(self, name):
        """{(first, last): "FAILED 3 -1"}"""
        rows = [line.split("|") for line in
                self.ask("list", name).splitlines()]
        return {(int(row[1]), int(row[2])): " ".join((row[3], row[7], row[8]))
                for row in rows}


def lives(way, name):
    job = way.submit(name, "time=10", "mem=100M", "exclusive")
    begun = {(0, 0): "FAILED 3 -1", (1, 1): "RUNNING -1 -1",
             (2, 2): "RUNNING -1 -1", (3, 5): "PENDING -1 -1"}
    harness.wait_until(lambda: way.states(name) == begun, "three elements")
    tap.equal("", way.ask("cancel", job, "2", "4", "waiting"))
    tap.equal({**{key: begun[key] for key in begun if key != (3, 5)},
               (5, 5): "PENDING -1 -1"}, way.states(name))
    tap.equal("", way.ask("cancel", job, "0", "5"))
    harness.wait_until(
        lambda: all(state.startswith(("FAILED", "CANCELLED"))
                    for state in way.states(name).values()), "the end")
    tap.equal("", way.ask("cancel", job, "0", "5"))
    tap.equal("", way.ask("cancel", "99999", "0", "5", "waiting"))


def refuses(way):
    words = way.submit("ht-no", "partition=nix")
    tap.contains("FAILED_PRECONDITION ", words)
    tap.contains("Invalid partition name specified", words)
    tap.contains("has no field for --export", way.submit("ht-no",
                                                         "export=NONE"))
    tap.equal("", way.ask("list", "ht-no"))


def a_job_lives_by_a_socket_and_by_a_token():
    slurm.require()
    with slurm.Cluster(nodes=2, jwt=True,
                       partitions={"main": "60", "long": "INFINITE"}) as own:
        token = os.path.join(own.folder, "token")
        with open(token, "w", encoding="ascii") as file:
            file.write(own.token() + "\n")
        for name, way in (
                ("ht-socket", Way(own, "rest=" + own.rest)),
                ("ht-token", Way(own, "rest=" + own.rest_jwt,
                                 "token=" + token))):
            harness.wait_until(lambda way=way: way.ask("way") ==
                               "slurmrestd, " + own.api, "slurmrestd")
            lives(way, name)
            refuses(way)
            # 24.11 does not say which partition is the default.
            tap.contains("partition main %d 1 0 3600000\n"
                         "partition long 0 1 0 0" % (own.version < "24"),
                         way.ask("limits"))
        tap.contains("wants a token",
                     Way(own, "rest=" + own.rest_jwt).ask("way"))


def a_slurmrestd_that_is_down_is_said():
    port = harness.Port()
    url = "http://" + port.address
    tap.contains("UNAVAILABLE slurmrestd at %s cannot be reached" % url,
                 Way(None, "rest=" + url).ask("way"))
    tap.contains("INVALID_ARGUMENT localhost is no address of slurmrestd",
                 Way(None, "rest=localhost").ask("way"))
    port.close()


tap.run([a_job_lives_by_a_socket_and_by_a_token,
         a_slurmrestd_that_is_down_is_said])
