"""Naive Bayes on handwritten digits, as trainers for AI Platform were written.

Nothing here depends on this service: cloudml-hypertune's class, --job-dir and a
package that is started by `python -m trainer.task`.
"""
import argparse
import csv
import gzip
import json
import math
import os

import hypertune


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--job-dir', required=True,
                        help='where checkpoints and the model are written')
    parser.add_argument('--train-file', default='../digits/digits.csv.gz')
    parser.add_argument('--smoothing', type=float, default=1.0)
    parser.add_argument('--levels', type=int, default=4,
                        help='grey levels that pixels are reduced to')
    args, _ = parser.parse_known_args()
    return args


def load(path, levels):
    with gzip.open(path, 'rt') as lines:
        rows = [[int(float(c)) for c in row] for row in csv.reader(lines)]
    examples = [([p * levels // 17 for p in row[:-1]], row[-1])
                for row in rows]
    return examples[300:], examples[:300]


def count(model, examples):
    for pixels, digit in examples:
        model['digits'][digit] += 1
        for place, level in enumerate(pixels):
            model['pixels'][digit][place][level] += 1


def evaluate(model, examples, args):
    tables = []
    for digit in range(10):
        total = model['digits'][digit] + args.smoothing * args.levels
        tables.append([[math.log((n + args.smoothing) / total)
                        for n in counts]
                       for counts in model['pixels'][digit]])
    hits = 0
    for pixels, label in examples:
        scores = [sum(table[place][level]
                      for place, level in enumerate(pixels))
                  for table in tables]
        hits += scores.index(max(scores)) == label
    return hits / float(len(examples))


def train_and_evaluate(args):
    train, validation = load(args.train_file, args.levels)
    model = {'digits': [0] * 10,
             'pixels': [[[0] * args.levels for _ in range(64)]
                        for _ in range(10)]}
    if not os.path.isdir(args.job_dir):
        os.makedirs(args.job_dir)
    hpt = hypertune.HyperTune()
    for step in range(3):
        count(model, train[step::3])
        accuracy = evaluate(model, validation, args)
        checkpoint = os.path.join(args.job_dir, 'model-%d.json' % step)
        with open(checkpoint, 'w') as f:
            json.dump(model, f)
        hpt.report_hyperparameter_tuning_metric(
            hyperparameter_metric_tag='accuracy',
            metric_value=accuracy,
            global_step=step,
            checkpoint_path=checkpoint)


if __name__ == '__main__':
    train_and_evaluate(get_args())
