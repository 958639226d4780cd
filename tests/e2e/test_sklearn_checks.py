"""HypertuneSearchCV under scikit-learn's own checks of estimators, as
scikit-learn runs them for RandomizedSearchCV."""

import unittest

import harness
import library_there
import tap


def named(check):
    """A case that runs one check on an estimator of its own."""
    def case():
        try:
            check()
        except unittest.SkipTest as reason:
            raise tap.Skip(str(reason))
    return case


def main():
    from sklearn.linear_model import LogisticRegression
    from sklearn.utils.estimator_checks import check_estimator

    from hypertune.sklearn import HypertuneSearchCV

    with harness.Server() as server:
        cases = []
        for estimator, check in check_estimator(HypertuneSearchCV(
                LogisticRegression(), {"C": [0.1, 1.0]}, n_trials=2, cv=2,
                random_state=0, server=server.http,
                token_file=server.token_file), generate_only=True):
            case = named(lambda made=estimator, check=check: check(made))
            case.__name__ = check.func.__name__
            cases.append(case)
        tap.true(len(cases) > 30, len(cases))
        tap.run(cases)


if __name__ == "__main__":
    library_there.run(main, "python3-sklearn")
