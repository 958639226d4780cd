"""Linear regression with parameter servers, on any number of replicas.

Every replica runs this file and learns from CLUSTER_SPEC what it is:

  ps      holds every n-th weight and serves "pull" and "push" over TCP until
          it is stopped
  worker  computes gradients on its own share of the samples, pushes them, and
          ends after its steps
  master  follows the progress, prints the error on samples that no worker has
          seen, and ends when all steps are done; the trial ends with it

A request is one line of JSON on a connection, its answer another one.
"""
import argparse
import json
import os
import random
import socket
import socketserver
import threading
import time

WEIGHTS = 16
SAMPLES = 2000
HELD_BACK = 400  # of the samples, for the master
NOISE = 0.05
PATIENCE = 60  # seconds until everybody has to be up


# ---- who am I ----

class Replica:
    """CLUSTER_SPEC, read."""

    def __init__(self, text):
        spec = json.loads(text)
        self.cluster = spec["cluster"]
        self.type = spec["task"]["type"]
        self.index = spec["task"]["index"]

    def addresses(self, kind):
        return [(host, int(port)) for host, port in
                (text.rsplit(":", 1) for text in self.cluster.get(kind, []))]

    def address(self):
        return self.addresses(self.type)[self.index]


def connect(address):
    """The replicas start in no order, so each tries again."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(address)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


# ---- parameter server ----

class Shard:
    """Weights of one server, and how many gradients have changed them."""

    def __init__(self, n, rate):
        self.lock = threading.Lock()
        self.weights = [0.0] * n
        self.rate = rate
        self.pushes = 0

    def answer(self, request):
        with self.lock:
            if "push" in request:
                self.pushes += 1
                self.weights = [weight - self.rate * slope for weight, slope in
                                zip(self.weights, request["push"])]
            return {"weights": self.weights, "pushes": self.pushes}


class ShardHandler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            answer = self.server.shard.answer(json.loads(line))
            self.wfile.write(json.dumps(answer).encode() + b"\n")


class ShardServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def serve(replica, options):
    servers = len(replica.addresses("ps"))
    with ShardServer(replica.address(), ShardHandler) as server:
        server.shard = Shard(len(range(replica.index, WEIGHTS, servers)),
                             options.learning_rate)
        server.serve_forever()


class Weights:
    """All weights, wherever they are: number i is on server i % n."""

    def __init__(self, addresses):
        self.files = [connect(address).makefile("rw") for address in addresses]

    def ask(self, requests):
        for file, request in zip(self.files, requests):
            file.write(json.dumps(request) + "\n")
            file.flush()
        answers = [json.loads(file.readline()) for file in self.files]
        weights = [0.0] * WEIGHTS
        for start, answer in enumerate(answers):
            weights[start::len(answers)] = answer["weights"]
        return weights, min(answer["pushes"] for answer in answers)

    def pull(self):
        return self.ask([{}] * len(self.files))

    def push(self, gradient):
        n = len(self.files)
        return self.ask([{"push": gradient[i::n]} for i in range(n)])


# ---- the problem ----

def make_samples():
    """The same for every replica: inputs of length about 1, noisy outputs."""
    source = random.Random(0)
    truth = [source.gauss(0, 1) for _ in range(WEIGHTS)]
    samples = []
    for _ in range(SAMPLES):
        inputs = [source.gauss(0, 1 / WEIGHTS ** 0.5) for _ in range(WEIGHTS)]
        samples.append((inputs, predict(truth, inputs) +
                        source.gauss(0, NOISE)))
    return samples


def predict(weights, inputs):
    return sum(map(float.__mul__, weights, inputs))


def gradient_of(weights, batch):
    slopes = [0.0] * WEIGHTS
    for inputs, output in batch:
        error = predict(weights, inputs) - output
        for i, value in enumerate(inputs):
            slopes[i] += error * value * WEIGHTS / len(batch)
    return slopes


def mean_error(weights, samples):
    return (sum((predict(weights, inputs) - output) ** 2
                for inputs, output in samples) / len(samples)) ** 0.5


def work(replica, options):
    workers = len(replica.addresses("worker"))
    share = make_samples()[HELD_BACK + replica.index::workers]
    source = random.Random(replica.index)
    remote = Weights(replica.addresses("ps"))
    weights, _ = remote.pull()
    for _ in range(options.steps):
        batch = source.sample(share, options.batch)
        weights, _ = remote.push(gradient_of(weights, batch))


def watch(replica, options):
    samples = make_samples()[:HELD_BACK]
    remote = Weights(replica.addresses("ps"))
    total = options.steps * len(replica.addresses("worker"))
    shown, pushes = 0, 0
    while pushes < total:
        weights, pushes = remote.pull()
        if pushes >= shown + total // 10 or pushes == total:
            print("step=%d error=%.6f" % (pushes, mean_error(weights, samples)))
            shown = pushes
        time.sleep(0.005)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learning_rate", type=float, default=0.05)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    replica = Replica(os.environ["CLUSTER_SPEC"])
    roles = {"ps": serve, "worker": work, "master": watch}
    roles[replica.type](replica, options)


if __name__ == "__main__":
    main()
