"""Nearest neighbours among handwritten digits; one process for each fold.

Every worker reports for itself: after a fork hypertune gives the child its
own writer, so that no report is lost or taken for another's.
"""
import argparse
import csv
import gzip
import multiprocessing

import hypertune

DATA = "../digits/digits.csv.gz"
IMAGES, FOLDS = 320, 4


def read_images(path):
    with gzip.open(path, "rt") as lines:
        rows = [[float(cell) for cell in row] for row in csv.reader(lines)]
    return [(row[:-1], int(row[-1])) for row in rows[:IMAGES]]


def distance(power, a, b):
    return sum(abs(x - y) ** power for x, y in zip(a, b))


def guess(flags, known, pixels):
    near = sorted((distance(flags.power, pixels, other), digit)
                  for other, digit in known)[:flags.neighbours]
    votes = {}
    for far, digit in near:
        weight = 1 / (1 + far) if flags.weights == "distance" else 1
        votes[digit] = votes.get(digit, 0) + weight
    return max(votes, key=votes.get)


def run_fold(flags, fold):
    """In a forked worker: reports its own accuracy and returns it."""
    images = read_images(DATA)
    asked = images[fold::FOLDS]
    known = [image for i, image in enumerate(images) if i % FOLDS != fold]
    right = sum(guess(flags, known, pixels) == digit
                for pixels, digit in asked)
    accuracy = right / len(asked)
    hypertune.report(step=fold + 1, fold_accuracy=accuracy)
    hypertune.flush()  # a worker of a pool ends without its exit handlers
    return accuracy


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neighbours", type=int, default=3)
    parser.add_argument("--power", type=float, default=2.0)
    parser.add_argument("--weights", choices=["equal", "distance"],
                        default="equal")
    flags = parser.parse_args()

    with multiprocessing.get_context("fork").Pool(FOLDS) as pool:
        scores = pool.starmap(run_fold, [(flags, f) for f in range(FOLDS)])
    mean = sum(scores) / FOLDS
    hypertune.report(step=FOLDS + 1, accuracy=mean)
    print("accuracy %.4f from %s" % (mean, scores))


if __name__ == "__main__":
    main()
