"""Data-parallel training: every replica computes gradients on its share of
each batch and all of them take the same step.

CLUSTER_SPEC tells who is there; rendezvous() makes of it what
torch.distributed reads from the environment (MASTER_ADDR, MASTER_PORT, RANK,
WORLD_SIZE). Where PyTorch is installed it averages the gradients; else sockets
do, so that the example runs everywhere.

The master is rank 0: it reports the accuracy, and keeps checkpoints so that a
trial that starts again continues where it was.
"""
import argparse
import json
import math
import os
import random
import socket
import time

import hypertune

try:
    import torch
    import torch.distributed
except ImportError:
    torch = None

INPUTS = 12
SAMPLES = 1200
HELD_BACK = 300  # of the samples, to measure the accuracy
PATIENCE = 60  # seconds until every replica has to be up
# Who trains, in the order of their ranks: the first two are the names of a spec
# and of an AI Platform job, the others those of a Vertex job.
RANKED = ("master", "worker", "workerpool0", "workerpool1")


# ---- who am I ----

def rendezvous(spec):
    """The variables of torch.distributed for one replica of CLUSTER_SPEC."""
    cluster, task = spec["cluster"], spec["task"]
    everybody = [(kind, index) for kind in RANKED
                 for index in range(len(cluster.get(kind, [])))]
    host, port = cluster[everybody[0][0]][0].rsplit(":", 1)
    return {"MASTER_ADDR": host, "MASTER_PORT": port,
            "RANK": str(everybody.index((task["type"], task["index"]))),
            "WORLD_SIZE": str(len(everybody))}


# ---- averages over all replicas ----

class TorchGroup:
    def __init__(self):
        torch.distributed.init_process_group("gloo")
        self.rank = torch.distributed.get_rank()
        self.size = torch.distributed.get_world_size()

    def mean(self, numbers):
        tensor = torch.tensor(numbers, dtype=torch.float64)
        torch.distributed.all_reduce(tensor)
        return (tensor / self.size).tolist()

    def share(self, numbers):
        tensor = torch.tensor(numbers, dtype=torch.float64)
        torch.distributed.broadcast(tensor, 0)
        return tensor.tolist()

    def close(self):
        # Its threads end here: at the end of the process they abort it when
        # another replica ends at the same time.
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


class SocketGroup:
    """The same by a connection of every other replica to rank 0; numbers
    travel as a line of JSON."""

    def __init__(self):
        self.rank = int(os.environ["RANK"])
        self.size = int(os.environ["WORLD_SIZE"])
        address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        if self.rank == 0:
            with socket.create_server(address, backlog=self.size) as server:
                self.peers = [server.accept()[0].makefile("rw")
                              for _ in range(1, self.size)]
        else:
            self.peers = [connect(address).makefile("rw")]

    def mean(self, numbers):
        if self.rank > 0:
            send(self.peers[0], numbers)
            return receive(self.peers[0])
        columns = zip(numbers, *map(receive, self.peers))
        return self.share([sum(column) / self.size for column in columns])

    def share(self, numbers):
        if self.rank > 0:
            return receive(self.peers[0])
        for peer in self.peers:
            send(peer, numbers)
        return numbers

    def close(self):
        for peer in self.peers:
            peer.close()


def send(peer, numbers):
    peer.write(json.dumps(numbers) + "\n")
    peer.flush()


def receive(peer):
    line = peer.readline()
    if not line:
        raise SystemExit("another replica has gone")
    return json.loads(line)


def connect(address):
    """The replicas start in no order, so each tries again."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(address)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


# ---- the model: logistic regression ----

def make_samples():
    """The same for every replica: inputs, and a class 0 or 1."""
    source = random.Random(0)
    truth = [source.gauss(0, 2) for _ in range(INPUTS)]
    samples = []
    for _ in range(SAMPLES):
        inputs = [source.gauss(0, 1) for _ in range(INPUTS)]
        samples.append((inputs, source.random() < predict(truth, inputs)))
    return samples


def predict(weights, inputs):
    score = sum(map(float.__mul__, weights, inputs))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def gradient_of(weights, batch):
    slopes = [0.0] * INPUTS
    for inputs, label in batch:
        error = predict(weights, inputs) - label
        for i, value in enumerate(inputs):
            slopes[i] += error * value / len(batch)
    return slopes


def accuracy_of(weights, samples):
    right = sum((predict(weights, inputs) > 0.5) == label
                for inputs, label in samples)
    return right / len(samples)


# ---- checkpoints ----

class Checkpoint:
    """Weights, speed and number of the last epoch, of rank 0."""

    def __init__(self):
        self.path = os.path.join(os.environ["AIP_CHECKPOINT_DIR"],
                                 "model.json")

    def load(self):
        """One list; zeros at the first start of a trial."""
        if os.environ.get("HYPERTUNE_RESUME") == "1" and \
                os.path.exists(self.path):
            with open(self.path, encoding="ascii") as file:
                return json.load(file)
        return [0.0] * (2 * INPUTS + 1)

    def save(self, state):
        with open(self.path + ".new", "w", encoding="ascii") as file:
            json.dump(state, file)
        os.replace(self.path + ".new", self.path)


# ---- training ----

def train(group, options):
    samples = make_samples()
    held_back, mine = samples[:HELD_BACK], samples[HELD_BACK + group.rank::
                                                   group.size]
    checkpoint = Checkpoint()
    state = group.share(checkpoint.load())
    weights, speed = state[:INPUTS], state[INPUTS:2 * INPUTS]
    done = int(state[-1])
    if group.rank == 0 and done == options.epochs:
        # The attempt before has trained it all, and failed after that: the
        # result of a trial is what its newest attempt reports.
        report(weights, held_back, done, checkpoint.path)
    for epoch in range(done + 1, options.epochs + 1):
        source = random.Random(epoch * group.size + group.rank)
        for _ in range(20):
            batch = source.sample(mine, options.batch)
            slopes = group.mean(gradient_of(weights, batch))
            speed = [options.momentum * old - options.lr * slope
                     for old, slope in zip(speed, slopes)]
            weights = list(map(float.__add__, weights, speed))
        if group.rank == 0:
            # First: the answer to a report may be that the trial pauses.
            checkpoint.save(weights + speed + [epoch])
            report(weights, held_back, epoch, checkpoint.path)


def report(weights, held_back, epoch, path):
    """With the checkpoint, from which the trial may continue anywhere."""
    accuracy = accuracy_of(weights, held_back)
    print("epoch %d: accuracy %.4f" % (epoch, accuracy))
    hypertune.HyperTune().report_hyperparameter_tuning_metric(
        hyperparameter_metric_tag="accuracy", metric_value=accuracy,
        global_step=epoch, checkpoint_path=path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    os.environ.update(rendezvous(json.loads(os.environ["CLUSTER_SPEC"])))
    group = TorchGroup() if torch else SocketGroup()
    train(group, options)
    group.close()


if __name__ == "__main__":
    main()
