"""Trials of an Optuna study as the server's other users see them.

The dashboard, the command line and early stopping look at the trial itself: it
gets each parameter, report and end right behind Optuna's own record of it.
"""
from typing import Any, Dict, Mapping, Optional, Sequence

from optuna.distributions import BaseDistribution, distribution_to_json
from optuna.trial import FrozenTrial, TrialState

from hypertune import errors
from hypertune.optuna.line import Line
from hypertune.optuna.record import Record
from hypertune.optuna.sampler import metric_names
from hypertune.optuna.spaces import Parameter, safe_name
from hypertune.trial import measurement


class Mirror:
    """Sends to the server's trials what Optuna has of them."""

    def __init__(self, line: Line):
        self._line = line

    def _tell(self, record: Record, number: int, verb: str,
              body: Mapping[str, Any]) -> None:
        """Tells the trial itself. What our API has no words for, such as a
        report of an earlier step, is known to Optuna alone."""
        try:
            self._line.call("POST", "%s/%d:%s" % (
                record.remote._ours("/trials") if verb == "define"
                else record.remote._trials_path(), number + 1, verb), body)
        except (errors.InvalidArgument, errors.FailedPrecondition,
                errors.NotFound, errors.ResourceExhausted):
            pass

    def whole(self, record: Record, number: int, trial: FrozenTrial) -> None:
        """A trial that was added as it is."""
        for name, distribution in trial.distributions.items():
            self.param(record, number, name, distribution,
                       trial.params[name])
        for step, value in sorted(trial.intermediate_values.items()):
            self.report(record, number, step, value)
        if trial.state.is_finished():
            self.end(record, number, trial.state, trial.values)

    def param(self, record: Record, number: int, name: str,
              distribution: BaseDistribution, value: Any) -> None:
        """A parameter's value, and the range it is from."""
        with record.lock:
            if name not in record.names:
                record.names[name] = safe_name(
                    name, set(record.names.values()))
            known = (name, distribution_to_json(distribution))
            is_new = known not in record.sent
            record.sent.add(known)
        parameter = Parameter(record.names[name], distribution)
        body: Dict[str, Any] = {"parameters": [{
            "parameterId": parameter.name,
            "value": parameter.wire_value(value)}]}
        if is_new:
            body["parameterSpecs"] = [parameter.to_vertex()]
        self._tell(record, number, "define", body)

    def moved(self, record: Record, trial: FrozenTrial, state: TrialState,
              values: Optional[Sequence[float]]) -> None:
        """Its new state, with its values if there are any."""
        if state == TrialState.RUNNING:
            self._tell(record, trial.number, "define", {})
        elif state.is_finished():
            self.end(record, trial.number, state,
                     trial.values if values is None else values)

    def end(self, record: Record, number: int, state: TrialState,
            values: Optional[Sequence[float]]) -> None:
        names = metric_names(record.directions())
        if state == TrialState.FAIL or values is None:
            self._tell(record, number, "complete", {
                "trialInfeasible": True,
                "infeasibleReason": "%s in Optuna" % state.name})
            return
        if state == TrialState.PRUNED:
            self._tell(record, number, "stop", {})
        steps = record.trials[number].intermediate_values if number < len(
            record.trials) else {}
        self._tell(record, number, "complete", {
            "finalMeasurement": measurement(dict(zip(names, values)),
                                            max(steps) if steps else None)})

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
                self.end(record, trial.number, trial.state, trial.values)
