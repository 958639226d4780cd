"""A support vector machine that tells tumours apart, by cross-validation.

The data is scikit-learn's own breast cancer set: 569 tumours, 30 figures each.
"""
import argparse

import hypertune
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.03)
    parser.add_argument("--kernel", choices=["rbf", "sigmoid"], default="rbf")
    flags = parser.parse_args()

    figures, kinds = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(
        C=flags.C, gamma=flags.gamma, kernel=flags.kernel))
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    scores = cross_val_score(model, figures, kinds, cv=folds)
    hypertune.report(accuracy=scores.mean(), worst_fold=scores.min())
    print("accuracy %.4f, worst fold %.4f" % (scores.mean(), scores.min()))


if __name__ == "__main__":
    main()
