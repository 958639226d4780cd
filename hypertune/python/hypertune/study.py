"""One study: its state, its trials, and asking it for new ones."""
import datetime
import html
import itertools
import json
import math
import os
import socket
import threading
import time
import uuid
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator,
                    List, Mapping, Optional, Sequence, Set, Tuple, Union)

from hypertune import export, frames, show, where as conditions
from hypertune.errors import (FailedPrecondition, NotFound, NoTrialYet,
                              Unavailable, response_of)
from hypertune.notes import Noted
from hypertune.plots import pictures
from hypertune.summary import Summary
from hypertune.transport import Transport
from hypertune.trial import Metrics, Trial, measurement
from hypertune.watch import Watch

if TYPE_CHECKING:
    import pandas

Curve = List[Tuple[int, float, datetime.datetime]]
Duration = Union[None, str, float]

JOBS, STUDIES = "hyperparameterTuningJobs", "studies"  # kinds of resources
PAGE = 500  # trials in one answer
_BEST = 5   # trials of a study's card
_AWAY = 60  # seconds that wait() waits for a server that restarts


def _parameters(params: Mapping[str, Any]) -> List[Dict[str, Any]]:
    return [{"parameterId": name, "value": value}
            for name, value in params.items()]


class Study(Noted):
    """A study on the server. Its properties ask the server each time, so
    `while study.state == "RUNNING"` ends."""

    def __init__(self, transport: Transport, home: str,
                 resource: Mapping[str, Any]):
        """`home` is the path of the study's project and location."""
        self._transport = transport
        self._home = home
        kind, number = str(resource["name"]).rsplit("/", 2)[1:]
        self._kind = kind
        self._id = int(number)
        self._name: str = resource["hypertuneStatus"]["name"]
        self._spec: Mapping[str, Any] = resource["studySpec"]
        self._own: Mapping[str, Any] = resource.get("hypertune", {})
        self._asker = uuid.uuid4().hex[:12]
        # Of several branches that share a name, all must be real.
        self._reals = {spec["parameterId"] for spec in self._specs()} - {
            spec["parameterId"] for spec in self._specs()
            if "categoricalValueSpec" in spec or frames.is_whole(spec)}

    # --- what it is ---

    @property
    def name(self) -> str:
        """Its name, unique in its project and location."""
        return self._name

    @property
    def id(self) -> int:
        """Its number on the server."""
        return self._id

    @property
    def metric(self) -> str:
        """The objective's name."""
        return str(self._spec["metrics"][0]["metricId"])

    def _metrics(self) -> List[str]:
        return [str(metric["metricId"]) for metric in self._spec["metrics"]]

    def goals(self) -> Dict[str, bool]:
        """The metrics to be improved, and whether more is better."""
        return {str(metric["metricId"]): metric["goal"] == "MAXIMIZE"
                for metric in self._spec["metrics"]
                if "safetyConfig" not in metric}

    @property
    def maximize(self) -> bool:
        """Is more better?"""
        return bool(self._spec["metrics"][0]["goal"] == "MAXIMIZE")

    @property
    def runs_trials(self) -> bool:
        """Does the server run the trials itself, or do its clients?"""
        return self._kind == JOBS

    def _path(self) -> str:
        return "%s/%s/%d" % (self._home, self._kind, self._id)

    def _trials_path(self) -> str:
        return "%s/%s/%d/trials" % (self._home, STUDIES, self._id)

    def _ours(self, rest: str) -> str:
        return "/hypertune/v1/studies/%d%s" % (self._id, rest)

    def _notes_of(self) -> Tuple[Transport, str]:
        return self._transport, self._ours("/notes")

    # --- how it is ---

    def summary(self) -> Summary:
        """State, counts and best trial, all of one moment."""
        resource = self._transport.call(
            "GET", self._path(),
            query={"view": "BASIC"} if self.runs_trials else None)
        return Summary(self, resource)

    @property
    def state(self) -> str:
        """RUNNING, PAUSED, STOPPING, CANCELLING, SUCCEEDED, STOPPED, FAILED
        or CANCELLED."""
        return self.summary().state

    @property
    def reason(self) -> str:
        """Why it is in that state, in words."""
        return self.summary().reason

    @property
    def counts(self) -> Dict[str, int]:
        """How many trials are requested, active, succeeded, failed, ...;
        `infeasible` ones are among the failed."""
        return self.summary().counts

    @property
    def best_trial(self) -> Trial:
        """The succeeded trial with the best objective. NoTrialYet before."""
        try:
            return Trial(self, self._transport.call("GET",
                                                    self._ours("/best")))
        except NotFound as error:
            summary = self.summary()  # NotFound when the study is gone
            if summary.best is None:
                raise NoTrialYet(str(error), error.code,
                                 error.status) from None
            return summary.best

    def trial(self, number: int) -> Trial:
        """The trial with that number. NotFound."""
        return Trial(self, self._transport.call(
            "GET", "%s/%d" % (self._trials_path(), int(number))))

    def _pages(self, path: str, key: str,
               query: Dict[str, Any]) -> Iterator[Any]:
        while True:
            page = self._transport.call("GET", path, query=query)
            yield from page.get(key, ())
            if not page.get("nextPageToken"):
                return
            query = {**query, "pageToken": page["nextPageToken"]}

    def _all_trials(self, states: Iterable[str] = ()) -> Iterator[Trial]:
        query: Dict[str, Any] = {"pageSize": PAGE}
        wanted = ["state=%s" % json.dumps(state.upper()) for state in states]
        if wanted:
            query["filter"] = " OR ".join(wanted)
        for resource in self._pages(self._ours("/trials"), "trials", query):
            yield Trial(self, resource)

    def trials(self, state: Union[None, str, Iterable[str]] = None,
               where: Optional[str] = None,
               limit: Optional[int] = None) -> List[Trial]:
        """Trials by number, all or those in a state (or one of several);
        "failed" are all failed ones, "infeasible" those among them that ended
        well but without a result. InvalidArgument when there is no such state.

        `where` holds conditions such as "dropout<0.3 optimizer=adam": NAME,
        one of = != < <= > >=, and a value. A name is a parameter, a metric
        that a trial measured, the objective (also as `value`), `step` or
        `state`. ValueError when a condition has no such form or name.
        """
        states = ([] if state is None else
                  [state] if isinstance(state, str) else list(state))
        wanted = conditions.parse(where or "")
        if any(one.key not in self._keys() for one in wanted):
            conditions.check_keys(wanted, list(dict.fromkeys(
                self._keys() + self._measured(self._all_trials()))))
        found: List[Trial] = []
        if (limit is not None and limit <= 0) or state is not None and \
                not states:
            return found
        for trial in self._all_trials(states):
            if all(self._holds(trial, one) for one in wanted):
                found.append(trial)
                if len(found) == limit:
                    break
        return found

    def parameters(self) -> List[str]:
        """The names of the hyperparameters in declared order."""
        return list(dict.fromkeys(
            list(self._own.get("parameterOrder", ())) +
            [spec["parameterId"] for spec in self._specs()]))

    def _specs(self) -> List[Mapping[str, Any]]:
        found = []
        waiting = list(self._spec["parameters"])
        while waiting:
            spec = waiting.pop(0)
            found.append(spec)
            waiting[:0] = [child["parameterSpec"] for child in
                           spec.get("conditionalParameterSpecs", ())]
        return found

    def _conditional(self) -> Set[str]:
        """Names of the parameters that not every trial has."""
        top = {spec["parameterId"] for spec in self._spec["parameters"]}
        return {spec["parameterId"] for spec in self._specs()
                if spec["parameterId"] not in top or "when" in
                self._own.get("parameters", {}).get(spec["parameterId"], {})}

    def _spec_of(self, parameter: str) -> Mapping[str, Any]:
        for spec in self._specs():
            if spec["parameterId"] == parameter:
                return spec
        raise ValueError("no parameter %r; there are %s" %
                         (parameter, ", ".join(self.parameters())))

    def _keys(self) -> List[str]:
        return self.parameters() + [self.metric, "value", "objective", "step",
                                    "state"]

    def _key(self, trial: Trial, key: str) -> Any:
        params = trial.params
        if key in params:
            return params[key]
        if key in (self.metric, "value", "objective"):
            return trial.value
        own: Dict[str, Any] = {"step": trial.step, "state": trial.state}
        return own[key] if key in own else trial.metrics.get(key)

    def _holds(self, trial: Trial, one: conditions.Condition) -> bool:
        """As the server counts them: what is INFEASIBLE has failed, too."""
        actual = self._key(trial, one.key)
        if one.key == "state" and actual == "INFEASIBLE" and \
                one.value.casefold() == "failed":
            actual = "FAILED"
        return one.holds(actual)

    def best_trials(self) -> List[Trial]:
        """The best trial; of several goals all that no other trial beats."""
        answer = self._transport.call(
            "POST", self._trials_path() + ":listOptimalTrials", {},
            repeatable=True)
        return [Trial(self, resource)
                for resource in answer.get("optimalTrials", ())]

    def importances(self, metric: Optional[str] = None) -> Dict[str, float]:
        """How much each parameter matters, the most important first: the
        share of the variation of the metric that it explains. 0 where that
        may have no effect, so they sum to 1 at most. Empty while
        there are too few results."""
        shares: Dict[str, float] = {}
        for row in self._importances(metric)["importances"]:
            name = row["parameter"]  # of several branches, perhaps
            shares[name] = shares.get(name, 0.0) + float(row["importance"])
        return shares

    def _importances(self, metric: Optional[str]) -> Any:
        return self._transport.call(
            "GET", self._ours("/importances"),
            query={"metric": metric} if metric else None)

    def export(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes all trials to a file, as `hypertune export` does: lines of
        JSON with all measurements when its name ends in .jsonl, else CSV."""
        export.write(os.fspath(path), self.parameters(), self._metrics(),
                     self._all_trials(),
                     self._pages(self._ours("/measurements"), "measurements",
                                 {}))

    def trials_dataframe(self) -> "pandas.DataFrame":
        """All trials as a pandas DataFrame with the columns id, state, value,
        params.NAME..., metrics.NAME... (goals first, then what else was
        measured), start, end (UTC), duration and user_attrs.NAME... as
        Optuna's set_user_attr() stored them. Whole numbers are Int64, labels
        categories. ImportError without pandas."""
        trials = list(self._all_trials())
        specs: Dict[str, List[Mapping[str, Any]]] = {
            name: [] for name in self.parameters()}
        for spec in self._specs():
            specs[spec["parameterId"]].append(spec)
        return frames.of_trials(specs, self._measured(trials), trials,
                                frames.attributes(self._metadata()))

    def measurements_dataframe(self) -> "pandas.DataFrame":
        """All that the trials reported, as a pandas DataFrame with a row for
        each report and the columns trial, attempt, replica, step, time (UTC)
        and metrics.NAME..., NaN where a report lacks the metric. ImportError
        without pandas."""
        rows = list(self._pages(self._ours("/measurements"), "measurements",
                                {}))
        return frames.of_measurements(
            export.columns(self._metrics(), rows), rows)

    def _measured(self, trials: Iterable[Trial]) -> List[str]:
        """The goals, then all other metrics of the trials by name."""
        return export.columns(self._metrics(), [{"metrics": trial.metrics}
                                                for trial in trials])

    def _metadata(self) -> Iterator[Mapping[str, Any]]:
        answer: Mapping[str, Any] = {"version": 0, "more": True}
        while answer["more"]:
            answer = self._transport.call("GET", self._ours("/metadata"),
                                          query={"since": answer["version"]})
            yield from answer["metadata"]

    def curves(self, trial: Union[int, Trial],
               metric: Optional[str] = None) -> Curve:
        """What a trial reported: (step, value, time in UTC), in the order of
        the steps; of the objective, or of another metric."""
        number = trial.id if isinstance(trial, Trial) else int(trial)
        curves = self._all_curves(metric or self.metric, {"trial": number})
        return curves.get(number, [])

    def _all_curves(self, metric: str,
                    query: Dict[str, Any]) -> Dict[int, Curve]:
        curves: Dict[int, Curve] = {}
        for row in self._pages(self._ours("/measurements"), "measurements",
                               query):
            if metric in row["metrics"]:
                curves.setdefault(int(row["trial"]), []).append(
                    (int(row["step"]), float(row["metrics"][metric]),
                     show.moment(row["timeMs"])))
        for curve in curves.values():
            curve.sort(key=lambda point: (point[0], point[2]))
        return curves

    # --- pictures ---

    plot_history = pictures.plot_history
    plot_curves = pictures.plot_curves
    plot_parallel = pictures.plot_parallel
    plot_distribution = pictures.plot_distribution
    plot_timeline = pictures.plot_timeline
    plot_pareto = pictures.plot_pareto
    plot_importances = pictures.plot_importances
    plot_slice = pictures.plot_slice
    plot_contour = pictures.plot_contour

    # --- waiting ---

    def watch(self) -> Watch:
        """Shows the study until its end, in place in a notebook::

            with study.watch() as w:
                w.until_done(timeout="2h")
        """
        return Watch(self)

    def wait(self, timeout: Duration = None,
             changed: Optional[Callable[[Summary], None]] = None) -> str:
        """Waits for the study's end; returns its state.

        `timeout` in seconds or as "1h30m"; TimeoutError after that, the study
        continues. `changed` is called with the newest summary once a second.
        A server that restarts is waited for, for a minute; then Unavailable.
        """
        limit = math.inf if timeout is None else show.seconds(timeout)
        deadline = time.monotonic() + limit
        reached = time.monotonic()  # when the server answered
        while True:
            try:
                summary = self.summary()
            except Unavailable:
                if time.monotonic() > min(deadline, reached + _AWAY):
                    raise
                time.sleep(1.0)
                continue
            reached = time.monotonic()
            if changed is not None:
                changed(summary)
            if not summary.is_open:
                return summary.state
            pause = min(1.0, deadline - time.monotonic())
            if pause <= 0:
                raise TimeoutError("%s is still %s after %g s" %
                                   (self.name, summary.state, limit))
            time.sleep(pause)

    # --- steering ---

    def _control(self, verb: str) -> "Study":
        self._transport.call("POST", self._ours(":" + verb), {})
        return self

    def pause(self) -> "Study":
        """No new trials; running ones continue."""
        return self._control("pause")

    def resume(self) -> "Study":
        """Continues after a pause."""
        return self._control("resume")

    def stop(self) -> "Study":
        """Ends the study and its running trials; their results count."""
        return self._control("stop")

    def cancel(self) -> "Study":
        """Ends the study and its running trials; their results do not count.
        One that has ended stays as it is. FailedPrecondition when its clients
        run the trials: stop() it."""
        if not self.runs_trials:
            raise FailedPrecondition(
                "the trials of %s run at its clients; stop() ends it" %
                self.name)
        self._transport.call("POST", self._path() + ":cancel", {})
        return self

    def delete(self) -> None:
        """Removes the study, its trials and their logs. FailedPrecondition
        while a study that runs its trials has not ended."""
        self._transport.call("DELETE", self._path())

    # --- asking and telling ---

    def _client_id(self) -> str:
        """One asker each for threads and forked children: the server gives an
        asker its unfinished trial again, and two must not share one."""
        return "%s-%d-%d-%s" % (socket.gethostname()[:64], os.getpid(),
                                threading.get_ident(), self._asker)

    def suggest(self, count: Optional[int] = None,
                client_id: Optional[str] = None,
                contexts: Optional[Sequence[Mapping[str, Any]]] = None
                ) -> List[Trial]:
        """`count` trials (1) to evaluate, all at once; fewer when the search
        space or the study is at its end.

        Who asks again with the same `client_id` gets its unfinished trials
        again. Without one, it is made from this process, thread and object.

        `contexts` has parameters that are given, one mapping for each trial;
        the search chooses the others for them::

            fast, exact = study.suggest(contexts=[{"bits": 8}, {"bits": 32}])
        """
        if count is None:
            count = 1 if contexts is None else len(contexts)
        return self._suggest(count, client_id, contexts)[0]

    def _suggest(self, count: int, client_id: Optional[str] = None,
                 contexts: Optional[Sequence[Mapping[str, Any]]] = None
                 ) -> Tuple[List[Trial], bool]:
        """As suggest(), and whether there are fewer because as many as the
        study allows are open."""
        body: Dict[str, Any] = {"suggestionCount": int(count),
                                "clientId": client_id or self._client_id()}
        if contexts is not None:
            body["contexts"] = [{"parameters": _parameters(given)}
                                for given in contexts]
        operation = self._transport.call(
            "POST", self._trials_path() + ":suggest", body, repeatable=True)
        answer = response_of(operation)
        trials = [Trial(self, resource)
                  for resource in answer.get("trials", ())]
        for trial in trials:
            trial._skip_reported()
        return trials, bool(answer.get("hypertune", {}).get("full", False))

    def ask(self, count: int, client_id: Optional[str] = None,
            context: Optional[Mapping[str, Any]] = None) -> Iterator[Trial]:
        """Up to `count` trials, one after the other, each asked for when the
        one before has been completed, so that the search learns from it::

            for trial in study.ask(10):
                trial.complete(f(**trial.params))

        `context` has parameters that are given for all of them. It ends early
        when the study does. To evaluate several at a time use suggest(), or
        one `client_id` for each worker.
        """
        for _ in range(count):
            contexts = None if context is None else [context]
            trials, full = self._suggest(1, client_id, contexts)
            while full and not trials:
                time.sleep(1)
                trials, full = self._suggest(1, client_id, contexts)
            if not trials:
                return
            yield trials[0]
            if trials[0].is_open:
                raise FailedPrecondition(
                    "trial %d was neither completed nor made infeasible; the "
                    "next one would be the same" % trials[0].id)

    def add(self, params: Mapping[str, Any],
            result: Union[None, float, Metrics] = None,
            step: int = 0) -> Trial:
        """A trial with parameters that you choose.

        With a result - the objective, or metrics by name - it is complete and
        the search learns from it; it needs all parameters. Without one it is
        to be evaluated, and the search chooses the parameters that are left
        out. InvalidArgument names the constraint that does not hold.
        """
        body: Dict[str, Any] = {"parameters": _parameters(params)}
        if result is not None:
            metrics = (result if isinstance(result, Mapping)
                       else {self.metric: result})
            body["finalMeasurement"] = measurement(metrics, step)
        return Trial(self, self._transport.call("POST", self._trials_path(),
                                                body))

    # --- showing it ---

    def __repr__(self) -> str:
        return "Study %s" % self.summary()

    def _repr_html_(self) -> str:
        """The summary, the history of the objective and the best trials."""
        summary = self.summary()
        better: Callable[[float, float], float] = (
            max if self.maximize else min)
        table = self._transport.call("GET", self._ours("/table"))
        place = {name: i for i, name in enumerate(table.get("columns", ()))}
        done = [(row[place["id"]], float(row[place["objective"]]),
                 row[place["parameters"]]) for row in table.get("rows", ())
                if row[place["state"]] == "SUCCEEDED" and
                row[place["objective"]] is not None]
        if not done:
            return summary.card()
        so_far: Iterable[float] = itertools.accumulate(
            (value for _, value, _ in done), better)
        best = sorted(done, key=lambda row: row[1],
                      reverse=self.maximize)[:_BEST]
        names = table["parameters"]
        return summary.card([
            ("history", show.spark([row[:2] for row in done], list(
                zip((n for n, _, _ in done), so_far)))),
            ("best trials", "<br>".join("%d: <b>%s</b> <code>%s</code>" % (
                n, html.escape(show.number(value)), html.escape(show.params(
                    {name: one for name, one in zip(names, params)
                     if one is not None})))
                for n, value, params in best))])
