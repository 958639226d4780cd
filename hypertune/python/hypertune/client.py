"""The door to a server: its studies, and making new ones."""
import json
import os
from typing import (Any, Dict, Iterator, List, Mapping, Optional, Sequence,
                    Union)

from hypertune import errors, locate, program, space
from hypertune.study import JOBS, PAGE, STUDIES, Study
from hypertune.transport import Transport, segment

ALGORITHMS = {"grid": "GRID_SEARCH", "random": "RANDOM_SEARCH",
               "bayesian": None, None: None}  # Google's default has no name
_GOALS = ("maximize", "minimize")


class Client:
    """The studies of one project and location on one server.

    Without arguments it is the server of the command line: HYPERTUNE_SERVER
    with HYPERTUNE_TOKEN_FILE, else this user's own one, which is started when
    it does not run. `timeout` is how many seconds any one call may take.
    """

    def __init__(self, server: Optional[str] = None,
                 token_file: Union[None, str, "os.PathLike[str]"] = None,
                 project: str = "local", location: str = "local",
                 timeout: float = 30.0):
        token = None if token_file is None else os.fspath(token_file)
        self._transport = Transport(
            locate.locate(server, token, os.environ, timeout), timeout)
        self._project = project
        self._location = location
        self._home = "/v1/projects/%s/locations/%s" % (segment(project),
                                                       segment(location))

    @property
    def server(self) -> str:
        """The URL of the server."""
        return self._transport.address.url

    def __repr__(self) -> str:
        return "Client(%r, project=%r, location=%r)" % (
            self.server, self._project, self._location)

    def _list(self, kind: str) -> Iterator[Study]:
        query: Dict[str, Any] = {"pageSize": PAGE}
        while True:
            page = self._transport.call("GET", "%s/%s" % (self._home, kind),
                                        query=query)
            for resource in page.get(kind, ()):
                yield self._study(resource)
            if not page.get("nextPageToken"):
                return
            query["pageToken"] = page["nextPageToken"]

    def _study(self, resource: Mapping[str, Any]) -> Study:
        return Study(self._transport, self._home, resource)

    def _create(self, kind: str, body: Mapping[str, Any]) -> Study:
        return self._study(self._transport.call(
            "POST", "%s/%s" % (self._home, kind), body))

    def studies(self) -> List[Study]:
        """All studies, newest first."""
        # A tuning job is a study too and is in both lists.
        found = {study.id: study for study in self._list(STUDIES)}
        found.update((study.id, study) for study in self._list(JOBS))
        return [found[number] for number in sorted(found, reverse=True)]

    def study(self, name: Union[str, int]) -> Study:
        """The study with that name or number. NotFound."""
        def read(kind: str, **query: str) -> Study:
            path = "%s/%s/%s" % (self._home, kind, segment(name))
            return self._study(self._transport.call("GET", path,
                                                    query=query))
        try:
            return read(JOBS, view="BASIC")
        except errors.NotFound:
            return read(STUDIES)

    def create_study(self, name: str, metric: Union[str, Sequence[str]],
                     goal: Union[str, Sequence[str]], params: space.Params,
                     algorithm: Optional[str] = None,
                     seed: Optional[int] = None,
                     until: Optional[Mapping[str, Any]] = None, *,
                     constraints: Sequence[str] = (),
                     safety: Union[str, Sequence[str]] = (),
                     early_stopping: Union[None, str,
                                           Mapping[str, Any]] = None,
                     noise: Optional[str] = None,
                     selection: Optional[str] = None,
                     warm_start: Union[str, Sequence[str]] = (),
                     parallel: Optional[int] = None,
                     labels: Optional[Mapping[str, Any]] = None,
                     load_if_exists: bool = False) -> Study:
        """A study whose trials you evaluate: ask() it for them.

        metric      the objective's name, or several objectives'
        goal        "MAXIMIZE" or "MINIMIZE" the metric, or one for each
        params      Double, Integer, Discrete and Categorical parameters; or a
                    mapping as in a spec file: {"lr": "log:1e-5..0.1",
                    "layers": "1..8", "batch": [32, 64], "opt": ["adam",
                    "sgd"], "rate": {"type": "double", "min": 0, "max": 0.9,
                    "when": {"opt": "sgd"}}}
        algorithm   "bayesian" (default), "random" or "grid"
        seed        the same seed and results give the same suggestions
        until       when it ends by itself: {"trials": 60, "time": "2h",
                    "noProgress": 20, "noProgressTime": "30m", "target": 0.99,
                    ...}; a number for a time is seconds
        constraints relations of parameters that all trials satisfy:
                    ["layers * 16 <= batch * 4"]
        safety      bounds of metrics that are no goals: "memory <= 4",
                    "recall >= 0.8 for 90% of trials", or a list of them
        early_stopping  what makes should_stop() true: "median", "decay",
                    "convex", "asha", or {"rule": "asha", "minSteps": 3, ...}
        noise       "low": no point is tried twice; "high": good ones may be
        selection   a trial's result is its "last" measurement or its "best"
        warm_start  names of earlier studies to begin with
        parallel    at most so many trials are open at once; suggest() then
                    gives fewer. Default: no limit
        labels      texts by name, kept with the study
        load_if_exists  a study of this name with the same spec is returned

        These are the words of spec files (`hypertune help spec`), and what is
        wrong is named with the place there. Conflict when the name is taken,
        with the differences as `violations` when load_if_exists is set;
        InvalidArgument (which is a ValueError) for what the server does not
        accept; TypeError and ValueError for what cannot be sent.
        """
        until = dict(until or {})
        spec: Dict[str, Any] = {
            "name": name, "goal": _goals(metric, goal),
            "parameters": space.to_spec(params), "algorithm": algorithm,
            "seed": None if seed is None else int(seed),
            "trials": until.pop("trials", None), "until": until,
            "constraints": _texts("constraints", constraints),
            "safety": _texts("safety", safety), "noise": noise,
            "earlyStopping": early_stopping, "selection": selection,
            "warmStart": _texts("warm_start", warm_start),
            "parallel": parallel, "labels": labels}
        return self._study(self._transport.call(
            "POST", "%s/%s:fromSpec" % (self._home, STUDIES), {
                "spec": {member: value for member, value in spec.items()
                         if value is not None and value != {} and value != []},
                "loadIfExists": load_if_exists}))

    def submit(self, spec: Union[str, "os.PathLike[str]", Mapping[str, Any]]
               ) -> Study:
        """Starts a study that runs its trials, from a spec.

        `spec` is the path of a spec file of any form, the same as a mapping,
        or a HyperparameterTuningJob of Vertex AI. The last goes straight to
        the server; Conflict when its name is taken. The others are read by
        the program `hypertune`, which must be in PATH: as with `hypertune
        submit`, a study that exists with the same spec is returned, trials
        start in the folder of the file (of a mapping: in the current one) and
        get the PATH and virtual environment of this process.
        """
        if not isinstance(spec, Mapping):
            return self._submit_program([os.fspath(spec)], None)
        if "studySpec" in spec:
            return self._create(JOBS, spec)
        return self._submit_program(["-"], json.dumps(spec))

    def _submit_program(self, words: List[str],
                        text: Optional[str]) -> Study:
        if (self._project, self._location) != ("local", "local"):
            raise ValueError(
                "the program hypertune submits to project local, location "
                "local; give a HyperparameterTuningJob for another place")
        address = self._transport.address
        places = {"HYPERTUNE_TOKEN_FILE": address.token_file or ""}
        if address.folder is not None:
            places["HYPERTUNE_STATE"] = address.folder
        else:
            places["HYPERTUNE_SERVER"] = address.url
        name = program.run(["submit", "--quiet"] + words, places,
                           self._transport.timeout, text)
        return self.study(name.strip())


def _goals(metric: Union[str, Sequence[str]],
           goal: Union[str, Sequence[str]]) -> List[str]:
    """["minimize loss", ...]"""
    names = [metric] if isinstance(metric, str) else list(metric)
    goals = [goal] if isinstance(goal, str) else list(goal)
    if len(names) != len(goals):
        raise ValueError("%d metrics and %d goals" % (len(names), len(goals)))
    for word in goals:
        if word.lower() not in _GOALS:
            raise ValueError("the goal is MAXIMIZE or MINIMIZE: %r" % word)
    return ["%s %s" % (word.lower(), name)
            for name, word in zip(names, goals)]


def _texts(argument: str, value: Union[str, Sequence[str]]) -> List[str]:
    texts = [value] if isinstance(value, str) else list(value)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError("%s: %r is no text" % (argument, text))
    return texts
