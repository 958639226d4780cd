"""Tells handwritten threes from eights by logistic regression.

An ordinary program: the call of hypertune.report() is its only part in tuning,
and outside a trial that call does nothing.
"""
import argparse
import csv
import gzip
import math
import random

import hypertune

DATA = "../digits/digits.csv.gz"


def read_images(path, digits):
    """Pixels from 0 to 1 with a constant 1, and whether it is the second."""
    with gzip.open(path, "rt") as lines:
        rows = [[int(float(cell)) for cell in row] for row in csv.reader(lines)]
    return [([1.0] + [pixel / 16 for pixel in row[:-1]], row[-1] == digits[1])
            for row in rows if row[-1] in digits]


def score(weights, pixels):
    return sum(map(float.__mul__, weights, pixels))


def train_epoch(weights, images, rate, decay):
    for pixels, is_second in images:
        odds = max(-30.0, min(30.0, score(weights, pixels)))
        miss = float(is_second) - 1 / (1 + math.exp(-odds))
        for i, pixel in enumerate(pixels):
            weights[i] += rate * (miss * pixel - decay * weights[i])


def accuracy(weights, images):
    right = sum((score(weights, pixels) > 0) == is_second
                for pixels, is_second in images)
    return right / len(images)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learning_rate", type=float, default=0.01)
    parser.add_argument("--weight_decay", type=float, default=1e-4)
    parser.add_argument("--order", choices=["shuffled", "fixed"],
                        default="shuffled")
    parser.add_argument("--epochs", type=int, default=8)
    flags = parser.parse_args()

    chance = random.Random(1)
    images = read_images(DATA, (3, 8))
    chance.shuffle(images)
    held_out, images = images[:120], images[120:]
    weights = [0.0] * len(images[0][0])
    for epoch in range(1, flags.epochs + 1):
        if flags.order == "shuffled":
            chance.shuffle(images)
        train_epoch(weights, images, flags.learning_rate, flags.weight_decay)
        reached = accuracy(weights, held_out)
        print("epoch %d: accuracy %.4f" % (epoch, reached))
        hypertune.report(step=epoch, accuracy=reached)
        if hypertune.should_stop():
            break


if __name__ == "__main__":
    main()
