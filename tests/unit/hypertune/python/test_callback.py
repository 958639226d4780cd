"""What the callbacks of other libraries share: names, trials, stopping."""

import tap

from hypertune import callback


class Told:
    """A trial that keeps what is reported, and ends after two reports."""

    def __init__(self):
        self.reports = []

    def report(self, metrics=None, *, step=None):
        self.reports.append((step, metrics))

    def should_stop(self):
        return len(self.reports) >= 2


def metrics_are_chosen_and_renamed():
    there = {"validation-logloss": 0.5, "train-logloss": "0.25", "step": 3}
    tap.equal(callback.select(there, None), {
        "validation-logloss": 0.5, "train-logloss": 0.25, "step": 3.0})
    tap.equal(callback.select(there, "train-logloss"),
              {"train-logloss": 0.25})
    tap.equal(callback.select(there, ["step"]), {"step": 3.0})
    tap.equal(callback.select(there, {"loss": "validation-logloss"}),
              {"loss": 0.5})
    error = tap.raises(KeyError, callback.select, there, "val-loss")
    tap.contains("'val-loss'; there are: validation-logloss, train-logloss",
                 error.args[0])


def a_given_trial_gets_reports_and_decides():
    trial = Told()
    callback.report(trial, 0, {"loss": 0.5})
    tap.equal(callback.should_stop(trial), False)
    callback.report(trial, 1, {})
    callback.report(trial, 2, {"a-b": 0.25})
    tap.equal(trial.reports, [(0, {"loss": 0.5}), (2, {"a-b": 0.25})])
    tap.equal(callback.should_stop(trial), True)


def outside_of_a_trial_nothing_happens():
    callback.report(None, 1, {"a-b": 1.0})
    tap.equal(callback.should_stop(None), False)


if __name__ == "__main__":
    tap.run([
        metrics_are_chosen_and_renamed,
        a_given_trial_gets_reports_and_decides,
        outside_of_a_trial_nothing_happens,
    ])
