"""Suggestions through REST from a real server, whose studies have so many
results: one key=value a line, milliseconds.

  ask_at_once   asked right after a result: nothing was computed before
  ask_prepared  asked a while after it
  server        of ask_at_once, by the server's own clock
  commit        a result being stored, for comparison: no search in it
  restarted     the first one of a server that has just started
  memory        what the process grew by in all, KiB
"""

import datetime
import http.client
import json
import os
import random
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402

STUDIES = "/v1/projects/lab/locations/here/studies"
SIZES = {6: (10, 30, 100, 300, 1000, 10000), 20: (10, 30, 100, 300, 1000)}
ROUNDS, CLIENTS, QUIET_S = 8, 4, 1.0


def show(key, value):
    print("%s=%.1f" % (key, value), flush=True)


def peak_kb(server):
    for line in harness.read_proc(server.process.pid,
                                  "status").decode().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


class Client:
    """One kept connection: what a request costs without setting it up."""

    def __init__(self, server):
        with open(server.token_file, encoding="ascii") as file:
            self.headers = {"Authorization": "Bearer " + file.read().strip(),
                            "Content-Type": "application/json"}
        self.http = http.client.HTTPConnection(server.http.split("//")[1])

    def post(self, path, body):
        self.http.request("POST", path, json.dumps(body), self.headers)
        answer = self.http.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit("bench: %s: %s" % (path, text.decode()))
        return json.loads(text)


def measured(point):
    """The bowl of bench_search."""
    loss = sum((u - 0.3) ** 2 * (i + 1) for i, u in enumerate(point))
    return {"metrics": [{"metricId": "loss", "value": loss}]}


def point_of(trial):
    return [item["value"] for item in trial["parameters"]]


class Study:
    def __init__(self, client, dim):
        self.names = ["x%d" % i for i in range(dim)]
        made = client.post(STUDIES, {
            "displayName": "bench %d %g" % (dim, time.monotonic()),
            "studySpec": {
                "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
                "parameters": [
                    {"parameterId": name,
                     "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
                    for name in self.names]}})
        self.path = "/v1/" + made["name"]
        self.n = 0

    def add(self, client, point):
        client.post(self.path + "/trials",
                    {"parameters": [{"parameterId": name, "value": u}
                                    for name, u in zip(self.names, point)],
                     "state": "SUCCEEDED",
                     "finalMeasurement": measured(point)})

    def fill(self, server, n):
        """Some clients at a time, so that commits are shared."""
        dim, first, self.n = len(self.names), self.n, n

        def work(begin):
            client = Client(server)
            for i in range(begin, n, CLIENTS):
                draw = random.Random(i)
                self.add(client, [draw.random() for _ in range(dim)])
        threads = [threading.Thread(target=work, args=(first + k,))
                   for k in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def ask(self, client):
        """(trial, ms, ms by the server)"""
        start = time.perf_counter()
        answer = client.post(self.path + "/trials:suggest",
                             {"suggestionCount": 1, "clientId": "bench"})
        ms = 1e3 * (time.perf_counter() - start)
        answer = answer["response"]
        took = stamp(answer["endTime"]) - stamp(answer["startTime"])
        return answer["trials"][0], ms, 1e3 * took.total_seconds()

    def complete(self, client, trial):
        """ms"""
        start = time.perf_counter()
        client.post("/v1/" + trial["name"] + ":complete",
                    {"finalMeasurement": measured(point_of(trial))})
        return 1e3 * (time.perf_counter() - start)


def stamp(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def measure(server, dim, study, n):
    key = "d%d_n%d_" % (dim, n)
    study.fill(server, n)
    client = Client(server)
    at_once, own, prepared, commit = [], [], [], []
    trial, _, _ = study.ask(client)
    for _ in range(ROUNDS):
        commit.append(study.complete(client, trial))
        trial, ms, server_ms = study.ask(client)
        at_once.append(ms)
        own.append(server_ms)
    for _ in range(ROUNDS // 2):
        study.complete(client, trial)
        time.sleep(QUIET_S)
        trial, ms, _ = study.ask(client)
        prepared.append(ms)
    study.complete(client, trial)
    show(key + "ask_at_once_ms", statistics.median(at_once))
    show(key + "ask_at_once_most_ms", max(at_once))
    show(key + "server_ms", statistics.median(own))
    show(key + "commit_ms", statistics.median(commit))
    show(key + "ask_prepared_ms", statistics.median(prepared))


def measure_restart(server, dim, study, n):
    server.stop()
    server.start()
    trial, ms, _ = study.ask(Client(server))
    study.complete(Client(server), trial)
    show("d%d_n%d_restarted_ms" % (dim, n), ms)


def main():
    server = harness.Server(slots=0)
    server.start()
    try:
        for dim, sizes in SIZES.items():
            study = Study(Client(server), dim)
            study.ask(Client(server))
            before = peak_kb(server)
            for n in sizes:
                measure(server, dim, study, n)
                show("d%d_n%d_memory_kb" % (dim, n), peak_kb(server) - before)
            measure_restart(server, dim, study, sizes[-1])
    finally:
        server.close()


main()
