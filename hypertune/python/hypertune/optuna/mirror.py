"""Trials of an Optuna study as the server's other users see them.

The dashboard, the command line, the search and early stopping look at the
trial itself: it gets each parameter, report and end right behind Optuna's own
record of it, and values from the search.
"""
from typing import Any, Dict, List, Mapping, Optional, Sequence

from optuna.distributions import BaseDistribution
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from hypertune import errors
from hypertune.optuna.line import Line
from hypertune.optuna.record import Record
from hypertune.optuna.spaces import Space
from hypertune.trial import measurement

CONSTRAINTS = "constraints"  # where Optuna's own samplers keep them


def metric_names(directions: Sequence[StudyDirection]) -> List[str]:
    """What the server calls the objective values."""
    if len(directions) == 1:
        return ["value"]
    return ["value_%d" % i for i in range(len(directions))]


def metric_specs(directions: Sequence[StudyDirection]
                 ) -> List[Dict[str, Any]]:
    """MetricSpecs of the values."""
    return [{"metricId": name,
             "goal": "MAXIMIZE" if direction == StudyDirection.MAXIMIZE
             else "MINIMIZE"}
            for name, direction in zip(metric_names(directions), directions)]


def _constraint_specs(count: int) -> List[Dict[str, Any]]:
    """MetricSpecs of values that hold up to 0."""
    return [{"metricId": "constraint_%d" % i, "goal": "MINIMIZE",
             "safetyConfig": {"safetyThreshold": 0.0}} for i in range(count)]


def _named(values: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """TrialParameters of the server's names and values."""
    return [{"parameterId": name, "value": value}
            for name, value in values.items()]


class Mirror:
    """Sends to the server's trials what Optuna has of them. Trials are
    numbered as Optuna does, from 0."""

    def __init__(self, line: Line):
        self._line = line

    def _tell(self, record: Record, number: int, verb: str,
              body: Mapping[str, Any]) -> bool:
        """Tells the trial itself. What our API has no words for, such as a
        report of an earlier step, is known to Optuna alone; then false."""
        try:
            self._line.call("POST", "%s/%d:%s" % (
                record.remote._ours("/trials") if verb == "define"
                else record.remote._trials_path(), number + 1, verb), body)
        except (errors.InvalidArgument, errors.ResourceExhausted):
            return False
        except (errors.FailedPrecondition, errors.NotFound):
            pass  # it has ended
        return True

    def suggest(self, record: Record, number: int, space: Space,
                search: Mapping[str, Any], given: Mapping[str, Any]
                ) -> Dict[str, Any]:
        """Values of the space from the server's search, with those that are
        given; {} when no untried point is left.

        `search` is Space.search(). A value that is given outside of its range
        is of no use to the search, and is left out.
        """
        path = "%s/%d:suggest" % (record.remote._ours("/trials"), number + 1)
        body = {"search": search,
                "parameters": _named(space.wire_values(given))}
        trial = self._line.patiently(
            lambda: record.remote._transport.call("POST", path, body,
                                                  repeatable=True))
        params: Dict[str, Any] = trial["hypertune"]["params"]
        record.given[number] = params
        record.sent |= space.ranges()
        return space.asked(params)

    def whole(self, record: Record, number: int, trial: FrozenTrial) -> None:
        """A trial that was added as it is."""
        self.params(record, number, trial.distributions, trial.params)
        for step, value in sorted(trial.intermediate_values.items()):
            self.report(record, number, step, value)
        if trial.state.is_finished():
            self.end(record, number, trial, trial.state, trial.values)

    def params(self, record: Record, number: int,
               distributions: Mapping[str, BaseDistribution],
               values: Mapping[str, Any]) -> None:
        """Its parameters' values, and the ranges they are from."""
        space = record.space(distributions)
        given = record.given.setdefault(number, {})
        new = {name: value
               for name, value in space.wire_values(values).items()
               if name not in given or given[name] != value}
        body: Dict[str, Any] = {"parameters": _named(new)}
        if space.ranges() - record.sent:
            body["parameterSpecs"] = space.to_vertex()
        if new and self._tell(record, number, "define", body):
            record.sent |= space.ranges()
            given.update(new)

    def _settle(self, record: Record, number: int,
                trial: FrozenTrial) -> None:
        """Its values are the trial's: an objective may not have asked for all
        that were suggested, and an enqueued trial, or the retry of one, has
        values of its own. One outside of its range and of those that were
        asked for has no place on the server."""
        space = record.space(trial.distributions)
        given = record.given.pop(number, {})
        values = {
            **{one.name: given[one.name]
               for name, one in space.parameters.items()
               if given.get(one.name) == trial.params[name]},
            **space.wire_values(trial.params)}
        if given == values:
            return
        body: Dict[str, Any] = {"whole": True, "parameters": _named(values)}
        if space.ranges() - record.sent:
            body["parameterSpecs"] = space.to_vertex()
        if self._tell(record, number, "define", body):
            record.sent |= space.ranges()

    def moved(self, record: Record, trial: FrozenTrial, state: TrialState,
              values: Optional[Sequence[float]]) -> None:
        """Its new state, with its values if there are any."""
        if state == TrialState.RUNNING:
            self._tell(record, trial.number, "define", {})
        elif state.is_finished():
            self.end(record, trial.number, trial, state,
                     trial.values if values is None else values)

    def end(self, record: Record, number: int, trial: FrozenTrial,
            state: TrialState, values: Optional[Sequence[float]]) -> None:
        """Its end, with its values, unless it failed, and constraints."""
        self._settle(record, number, trial)
        if state == TrialState.FAIL or values is None:
            self._fail(record, number, "%s in Optuna" % state.name)
            return
        constraints = trial.system_attrs.get(CONSTRAINTS) or ()
        specs = _constraint_specs(len(constraints))
        if len(specs) > record.constraints:
            self._tell(record, number, "define", {"metricSpecs": specs})
            record.constraints = len(specs)
        if state == TrialState.PRUNED:
            self._tell(record, number, "stop", {})
        names = metric_names(record.directions()) + [
            spec["metricId"] for spec in specs]
        steps = trial.intermediate_values
        final = measurement(dict(zip(names, list(values) + list(constraints))),
                            max(steps) if steps else None)
        if not self._tell(record, number, "complete",
                          {"finalMeasurement": final}):
            # As without the constraints that other trials of the study have.
            self._tell(record, number, "addTrialMeasurement",
                       {"measurement": final})
            self._fail(record, number, "%s in Optuna, but not all of the "
                       "study's metrics are known" % state.name)

    def _fail(self, record: Record, number: int, reason: str) -> None:
        self._tell(record, number, "complete", {
            "trialInfeasible": True, "infeasibleReason": reason})

    def report(self, record: Record, number: int, step: int,
               value: float) -> None:
        name = metric_names(record.directions())[0]
        self._tell(record, number, "addTrialMeasurement", {
            "measurement": measurement({name: value}, step)})

    def repair(self, record: Record, counts: Mapping[str, int]) -> None:
        """Ends trials whose process wrote that they had ended, and died
        before it could send them."""
        ended = [trial for trial in record.trials if trial.state.is_finished()]
        closed = sum(counts[state] for state in (
            "succeeded", "stopped", "failed", "cancelled"))
        if closed >= len(ended):
            return
        still_open = {trial.id for trial in record.remote.trials(
            state=("REQUESTED", "ACTIVE", "STOPPING"))}
        for trial in ended:
            if trial.number + 1 in still_open:
                self.end(record, trial.number, trial, trial.state,
                         trial.values)
