"""The door to a server: its studies, and making new ones."""
import json
import os
from typing import (Any, Callable, Dict, Iterator, List, Mapping, Optional,
                    Sequence, Tuple, Union)

from hypertune import errors, locate, program, show, space
from hypertune.study import JOBS, PAGE, STUDIES, Study
from hypertune.transport import Transport, segment

Duration = Union[str, float]

ALGORITHMS = {"grid": "GRID_SEARCH", "random": "RANDOM_SEARCH",
               "bayesian": None, None: None}  # Google's default has no name
_GOALS = {"maximize": "MAXIMIZE", "minimize": "MINIMIZE"}


def _duration(value: Duration) -> str:
    return "%.3fs" % show.seconds(value)


# Members of `until`, as in a spec file: the place of each in Vertex's
# studyStoppingConfig, and how it is written there.
_UNTIL: Dict[str, Tuple[str, Callable[[Any], Any]]] = {
    "trials": ("maxNumTrials", int),
    "noProgress": ("maxNumTrialsNoProgress", int),
    "noProgressTime": ("maxDurationNoProgress", _duration),
    "time": ("maximumRuntimeConstraint",
             lambda value: {"maxDuration": _duration(value)}),
}


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
                     goal: Union[str, Sequence[str]],
                     params: Sequence[space.Parameter],
                     algorithm: Optional[str] = None,
                     seed: Optional[int] = None,
                     until: Optional[Mapping[str, Any]] = None) -> Study:
        """A study whose trials you evaluate: ask() it for them.

        metric     the objective's name, or several objectives'
        goal       "MAXIMIZE" or "MINIMIZE" the metric, or one for each
        params     Double, Integer, Discrete and Categorical parameters
        algorithm  "bayesian" (default), "random" or "grid"
        seed       the same seed and results give the same suggestions
        until      when it ends by itself: {"trials": 60, "time": "2h",
                   "noProgress": 20, "noProgressTime": "30m", "target": 0.99}

        Conflict when the name is taken, InvalidArgument for what the server
        does not accept, ValueError for what cannot be sent.
        """
        if algorithm not in ALGORITHMS:
            raise ValueError("the algorithm is bayesian, random or grid: %r" %
                             algorithm)
        spec: Dict[str, Any] = {
            "metrics": _metrics(metric, goal),
            "parameters": space.to_vertex(params)}
        if ALGORITHMS[algorithm]:
            spec["algorithm"] = ALGORITHMS[algorithm]
        own: Dict[str, Any] = {"name": name}
        if seed is not None:
            own["seed"] = str(int(seed))
        _add_until(dict(until or {}), spec, own)
        return self._create(STUDIES, {"displayName": name, "studySpec": spec,
                                      "hypertune": own})

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


def _metrics(metric: Union[str, Sequence[str]],
             goal: Union[str, Sequence[str]]) -> List[Dict[str, str]]:
    names = [metric] if isinstance(metric, str) else list(metric)
    goals = [goal] if isinstance(goal, str) else list(goal)
    if len(names) != len(goals):
        raise ValueError("%d metrics and %d goals" % (len(names), len(goals)))
    for word in goals:
        if word.lower() not in _GOALS:
            raise ValueError("the goal is MAXIMIZE or MINIMIZE: %r" % word)
    return [{"metricId": name, "goal": _GOALS[word.lower()]}
            for name, word in zip(names, goals)]


def _add_until(until: Dict[str, Any], spec: Dict[str, Any],
               own: Dict[str, Any]) -> None:
    if "target" in until:
        own["target"] = float(until.pop("target"))
    config: Dict[str, Any] = {}
    for name, value in until.items():
        if name not in _UNTIL:
            raise ValueError("until has no %r; it has target, %s" %
                             (name, ", ".join(_UNTIL)))
        member, convert = _UNTIL[name]
        config[member] = convert(value)
    if config:
        spec["studyStoppingConfig"] = config
