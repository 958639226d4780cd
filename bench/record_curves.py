#!/usr/bin/env python3
"""Records the learning curves that bench_stop replays.

    record_curves.py DIGITS OUTPUT [TRIALS]

Trains the digits network (examples/digits) with random hyperparameters from
the space of its spec and writes one CSV line for each: the hyperparameters,
the processor seconds it took, and the validation accuracy after each epoch.
A training that diverged has as many epochs as it got. Everything but the
seconds comes out the same each time.
"""

import csv
import math
import os
import random
import re
import resource
import subprocess
import sys

EPOCHS = 81
DATA = os.path.join(os.path.dirname(__file__), "..", "examples", "digits",
                    "digits.csv.gz")
EPOCH = re.compile(r"^epoch (\d+): .* accuracy ([0-9.]+)$", re.MULTILINE)


def log_uniform(draw, low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def draw_point(draw):
    return {
        "learning_rate": f"{log_uniform(draw, 1e-4, 1):.6g}",
        "hidden_units": str(round(log_uniform(draw, 16, 256))),
        "momentum": f"{draw.uniform(0, 0.99):.4f}",
        "weight_decay": f"{log_uniform(draw, 1e-7, 1e-2):.6g}",
        "batch_size": str(draw.choice([8, 16, 32, 64, 128])),
        "activation": draw.choice(["relu", "tanh", "sigmoid"]),
    }


def train(digits, point):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    flags = [f"--{name}={value}" for name, value in point.items()]
    run = subprocess.run(
        [digits, f"--data={DATA}", f"--epochs={EPOCHS}", "--seed=1", *flags],
        check=True, capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return seconds, [found[1] for found in EPOCH.findall(run.stdout)]


def main():
    digits, output = sys.argv[1:3]
    trials = int(sys.argv[3]) if len(sys.argv) > 3 else 240
    draw = random.Random(1)
    with open(output, "w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for i in range(trials):
            point = draw_point(draw)
            seconds, accuracy = train(digits, point)
            if i == 0:
                names = [f"epoch_{n}" for n in range(1, EPOCHS + 1)]
                writer.writerow([*point, "seconds", *names])
            writer.writerow([*point.values(), f"{seconds:.2f}", *accuracy])


if __name__ == "__main__":
    main()
