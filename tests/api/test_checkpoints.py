"""Checkpoints over the wire: a runner sends one and says so, another one gets
it with the lease and fetches it; both are played here."""

import contextlib
import json
import sqlite3

import harness
import stored
import tap
from fake_runner import Runner

SPEC = {"spec": 1, "name": "s", "goal": "maximize accuracy", "trials": 1,
        "parameters": {"x": [1]}, "algorithm": "grid", "retries": 0,
        "args": "none", "command": ["true"], "metricDoctor": "warn"}


def refusal(attempt, **members):
    """What the server answers to a checkpoint that it does not take."""
    try:
        attempt.runner.tell("checkpoint", **attempt.name, **members)
    except AssertionError as error:
        return str(error)
    raise AssertionError("it was taken: %s" % members)


def send(server, token, files):
    """A tree, sent with a runner's token; returns its name."""
    for data in files.values():
        for chunk in stored.chunks_of(data):
            tap.equal(stored.put_chunk(server, chunk, auth=token).status, 200)
    text = stored.manifest(*(stored.entry(name, files[name])
                             for name in sorted(files)))
    answer = stored.post_tree(server, text, auth=token)
    tap.equal(answer.status, 200, answer.body)
    return answer.json()["tree"]


def a_trial_moves_to_another_runner():
    with harness.Server("--runner", "none") as server:
        server.submit(dict(SPEC))
        with Runner(server, name="a") as a, Runner(server, name="b") as b:
            first = a.one().started()
            tap.equal("resume" in first.said, False)
            files = {"epoch": b"7", "weights": bytes(range(256)) * 8192}
            tree = send(server, a.token, files)
            tap.contains("has no tree", refusal(first, tree="0" * 64, step=7))
            tap.contains("not the name", refusal(first, tree="../x", step=7))
            a.tell("checkpoint", tree=tree, step=7, **first.name)
            a.tell("checkpoint", tree=tree, step=7, **first.name)
            answer = a.tell("ended", outcome="lost", **first.name)
            tap.equal(answer["checkpoint"], True)
            a.tell("drained", **first.name)
            tap.contains("gone", refusal(first, tree=tree, step=8))
            second = b.one()
            tap.equal(second.said["resume"],
                      {"tree": tree, "attempt": 1, "step": 7})
            text = stored.get(server, "trees/" + tree, auth=b.token).body
            for entry in json.loads(text)["entries"]:
                data = b"".join(
                    stored.get(server, "chunks/" + name, auth=b.token).body
                    for name in entry["chunks"])
                tap.equal(data == files[entry["path"]], True, entry["path"])
            second.succeed(0.5, step=8)
        tap.equal(server.wait_study("s")["state"], "SUCCEEDED")
        tap.equal(server.trial("s", 1)["hypertune"]["objective"], 0.5)


def what_a_study_held_goes_with_it():
    with harness.Server("--runner", "none") as server:
        server.submit(dict(SPEC))
        with Runner(server, name="a") as a:
            attempt = a.one().started()
            tree = send(server, a.token, {"w": b"weights"})
            a.tell("checkpoint", tree=tree, step=1, **attempt.name)
            tap.equal(held(server), [(tree,)])
            attempt.report(0.5).ended("succeeded", exit=0)
        server.wait_study("s")
        tap.equal(held(server), [(tree,)], "the newest of a trial stays")
        status, answer = server.call("DELETE", harness.OURS + "s")
        tap.equal(status, 200, answer)
        harness.wait_until(lambda: held(server) == [], "nothing holds it")


def held(server):
    """What keeps trees in the store."""
    database = sqlite3.connect("file:%s/hypertune.db?mode=ro" % server.data,
                               uri=True)
    with contextlib.closing(database):
        return database.execute("SELECT tree FROM tree_uses WHERE kind=1"
                                ).fetchall()


tap.run([a_trial_moves_to_another_runner, what_a_study_held_goes_with_it])
