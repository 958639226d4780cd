"""Searches the best arguments of a Python function, which processes of this
computer evaluate."""
import ctypes
import hashlib
import inspect
import itertools
import json
import multiprocessing
import os
import re
import signal
import socket
import sys
import time
import traceback
from contextlib import contextmanager
from multiprocessing import connection
from typing import (Any, Callable, Dict, Iterator, List, Mapping, Optional,
                    Sequence, Set, Tuple, TypeVar, Union)

from hypertune import reporter, space
from hypertune.client import Client
from hypertune.errors import (Conflict, FailedPrecondition, InvalidArgument,
                              NotFound, TrialsFailed, Unavailable)
from hypertune.study import Study
from hypertune.trial import Trial

Function = Callable[..., Any]
Answer = TypeVar("Answer")

FAILURES_MOST = 3  # alike, before any result: then it is the function's fault
PATIENCE_SECONDS = 60.0  # with a server that is away
GRACE_SECONDS = 2.0  # from SIGTERM to SIGKILL
MOST_TRACEBACK = 20000  # bytes; a pipe takes 64 KiB without a reader
_PDEATHSIG = 1  # PR_SET_PDEATHSIG of prctl(2)


def minimize(f: Function, params: space.Params, trials: int = 20,
             parallel: int = 1, name: Optional[str] = None,
             metric: Union[str, Sequence[str]] = "value", *,
             client: Optional[Client] = None, **spec: Any) -> Study:
    """Searches the parameters with which f's result is least.

        def f(lr, layers, trial):
            for epoch in range(20):
                loss = train(lr, layers)
                trial.report(loss, step=epoch)
                if trial.should_stop():
                    break
            return loss

        study = hypertune.minimize(
            f, {"lr": "log:1e-5..0.1", "layers": "1..8"}, trials=60,
            parallel=4, name="digits", early_stopping="median")
        study.best_trial.params

    f         is called with the parameters that it names, by name (**params
              takes all); an argument `trial` gets the Trial. One that exists
              under a condition needs a default there. It returns the result,
              or metrics by name, or None when it has reported them
    params    the space, as in Client.create_study()
    trials    how many in all, those of earlier calls with this name included
    parallel  how many processes; each trial has its own, forked from this one
    name      of the study. With one, a study of this name and spec is
              continued: its results count, what was open when its process
              ended is evaluated again, and `trials` may have changed. Without
              one it is a new study, named after f and the time
    metric    the objective's name, or several, all to be minimized
    client    the server; Client() unless given
    spec      further arguments of Client.create_study()

    Returns the study, at its end. A trial whose function raises an exception,
    or whose process dies, is INFEASIBLE, and the others continue. What f
    prints comes out here, each line with its trial.

    TypeError when f does not take the parameters; Conflict when the study
    differs; TrialsFailed when the first three trials raise the same: these
    stay open, to be evaluated again with a repaired f. An interrupt ends the
    processes and leaves their trials open.
    """
    return _search(f, params, "minimize", name, metric, client, spec, trials,
                   parallel)


def maximize(f: Function, params: space.Params, trials: int = 20,
             parallel: int = 1, name: Optional[str] = None,
             metric: Union[str, Sequence[str]] = "value", *,
             client: Optional[Client] = None, **spec: Any) -> Study:
    """As minimize(), for the greatest result."""
    return _search(f, params, "maximize", name, metric, client, spec, trials,
                   parallel)


def _search(f: Function, params: space.Params, goal: str, name: Optional[str],
            metric: Union[str, Sequence[str]], client: Optional[Client],
            spec: Dict[str, Any], trials: int, parallel: int) -> Study:
    described = space.to_spec(params)
    _Arguments(f, list(described), {
        one for one, value in described.items()
        if isinstance(value, Mapping) and value.get("when")})
    _check_parallel(parallel)
    goals = goal if isinstance(metric, str) else [goal] * len(metric)
    spec["until"] = {**(spec.get("until") or {}), "trials": int(trials)}
    there = client or Client()

    def create(called: str, load: bool) -> Study:
        return there.create_study(called, metric, goals, params,
                                   load_if_exists=load, **spec)
    study = _new(f, create) if name is None else _continued(
        there, name, int(trials), create)
    return evaluate(study, f, parallel)


def _new(f: Function, create: Callable[[str, bool], Study]) -> Study:
    base = re.sub(r"[^A-Za-z0-9_]", "", getattr(f, "__name__", "minimize"))
    called = time.strftime((base or "minimize")[:80] + "-%Y%m%d-%H%M%S")
    for number in itertools.count(2):
        try:
            return create(called if number == 2 else
                          "%s-%d" % (called, number - 1), False)
        except Conflict:
            continue
    raise AssertionError("there is always another number")


def _continued(client: Client, name: str, trials: int,
               create: Callable[[str, bool], Study]) -> Study:
    """The study of that name, made or found; its budget may be another."""
    try:
        return create(name, True)
    except Conflict as error:
        if set(error.violations) != {"trials"}:
            raise
    study = client.study(name)
    study._transport.call("PATCH", study._ours(""), {"maxTrialCount": trials},
                          repeatable=True)
    return study


def evaluate(study: Study, f: Function, parallel: int = 1) -> Study:
    """Evaluates the trials of a study of clients with f, in `parallel`
    processes, until it has no more; returns it. See minimize()."""
    _check_parallel(parallel)
    _Processes(study, f, parallel).run()
    return study


def _check_parallel(parallel: int) -> None:
    if not sys.platform.startswith("linux"):
        raise OSError("functions are evaluated in processes of Linux; "
                      "elsewhere ask() the study for its trials")
    if int(parallel) != parallel or not 1 <= parallel <= 500:
        raise ValueError("parallel is a whole number from 1 to 500: %r" %
                         (parallel,))


class _Arguments:
    """What f is called with. TypeError when it does not fit."""

    def __init__(self, f: Function, names: List[str], conditional: Set[str]):
        self._names, self._all, self._trial = set(names), False, False
        if "trial" in names:
            raise TypeError("a parameter is called trial, as the argument "
                            "that gets the Trial")
        try:
            wanted = list(inspect.signature(f).parameters.values())
        except ValueError:  # some functions of C have none
            self._all = True
            return
        taken = {one.name for one in wanted
                 if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
        self._all = any(one.kind == one.VAR_KEYWORD for one in wanted)
        self._trial = "trial" in taken
        for one in wanted:
            self._check(one, conditional)
        missing = [name for name in names if name not in taken]
        if missing and not self._all and not self._trial:
            raise TypeError("the function does not take the parameter %s; "
                            "add it, **params or trial" % missing[0])
        if not self._all:
            self._names &= taken

    def _check(self, one: inspect.Parameter, conditional: Set[str]) -> None:
        if (one.default is not one.empty or one.name == "trial" or
                one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL)):
            return
        if one.kind == one.POSITIONAL_ONLY or one.name not in self._names:
            raise TypeError(
                "the function needs %s, which is no parameter of the study; "
                "there are %s and trial" % (one.name,
                                            ", ".join(sorted(self._names))))
        if one.name in conditional:
            raise TypeError("%s exists under a condition: give it a default "
                            "in the function" % one.name)

    def of(self, trial: Trial) -> Dict[str, Any]:
        given = {name: value for name, value in trial.params.items()
                 if name in self._names}
        return {**given, "trial": trial} if self._trial else given


# --- in the process of a trial ---

def _result(returned: Any) -> Optional[Dict[str, Optional[float]]]:
    """{metric: value}, with the key "" for the objective; None as it is."""
    if returned is None:
        return None
    try:
        if isinstance(returned, Mapping):
            return {str(name): float(value)
                    for name, value in returned.items()}
        return {"": float(returned)}
    except (TypeError, ValueError):
        raise TypeError("the function returned %.100r, not a number, metrics "
                        "by name or None" % (returned,)) from None


def _last_line(error: BaseException) -> str:
    lines = traceback.format_exception_only(type(error), error)
    return lines[-1].strip()


def _become_child(parent: int, output: int) -> None:
    """A process that ends with its parent, prints to `output`, and is alone
    in its group, so that what it starts can be ended with it."""
    ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout = open(1, "w", 1, closefd=False, errors="backslashreplace")
    sys.stderr = open(2, "w", 1, closefd=False, errors="backslashreplace")


def _evaluate_one(f: Function, arguments: _Arguments, trial: Trial,
                  answer: "connection.Connection", seat: socket.socket,
                  parent: int, output: int) -> None:
    """Sends what became of the trial, as JSON."""
    seat.close()
    _become_child(parent, output)
    said: Dict[str, Any] = {}
    # What callbacks without a trial report to; that half has no types.
    reporter.evaluated = trial  # type: ignore[assignment]
    try:
        said["metrics"] = _result(f(**arguments.of(trial)))
    except Unavailable:
        traceback.print_exc()
        said["lost"] = True
    except BaseException as error:
        traceback.print_exc()
        said["error"] = _last_line(error)
        said["traceback"] = traceback.format_exc()[-MOST_TRACEBACK:]
    said["step"] = trial._step
    answer.send_bytes(json.dumps(said).encode())


# --- in this process ---

@contextmanager
def _uninterrupted() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_openmp_threads() -> None:
    """GNU OpenMP, which XGBoost and scikit-learn use, waits in a forked child
    for threads that only this process has; it makes new ones when they are
    needed (omp_pause_resource_all of OpenMP 5.0, omp_pause_hard)."""
    with open("/proc/self/maps", encoding="utf-8",
              errors="surrogateescape") as file:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in file
                 if "/libgomp" in line}
    for path in sorted(paths):
        try:
            ctypes.CDLL(path).omp_pause_resource_all(2)
        except (OSError, AttributeError):
            pass  # removed while it is used, or older than OpenMP 5.0


class _Job:
    """The process of one trial."""

    def __init__(self, trial: Trial, target: Callable[..., None],
                 first: Tuple[Any, ...], seat: socket.socket):
        self.trial = trial
        self._tail = b""
        self._answer, answer = multiprocessing.Pipe(duplex=False)
        self.output, output = os.pipe()
        os.set_blocking(self.output, False)
        _end_openmp_threads()
        context = multiprocessing.get_context("fork")
        self.process = context.Process(target=target, args=first + (
            trial, answer, seat, os.getpid(), output))
        self.process.start()
        answer.close()
        os.close(output)

    def show(self, at_end: bool = False) -> None:
        """Prints the whole lines that have come, at the end all."""
        while True:
            try:
                got = os.read(self.output, 65536)
            except BlockingIOError:
                got = b""
            self._tail += got
            if not got:
                break
        lines = self._tail.split(b"\n")
        self._tail = b"" if at_end else lines.pop()
        for line in lines:
            if line or not at_end:
                print("[trial %d] %s" % (self.trial.id,
                                         line.decode(errors="replace")))

    def close(self) -> Dict[str, Any]:
        """What the process, which has ended, said of its trial."""
        self.process.join()
        self.show(at_end=True)
        os.close(self.output)
        try:
            said: Dict[str, Any] = json.loads(self._answer.recv_bytes())
        except EOFError:
            said = {"error": self._death()}
        self._answer.close()
        return said

    def _death(self) -> str:
        code = self.process.exitcode or 0
        if code >= 0:
            return "the function ended its process with exit status %d" % code
        name = signal.Signals(-code).name
        return "the process was killed by %s%s" % (
            name, ", perhaps for want of memory" if name == "SIGKILL" else "")

    def end(self, number: int) -> None:
        """Sends a signal to all that the trial has started."""
        pid = self.process.pid
        assert pid is not None
        try:
            os.killpg(pid, number)
        except ProcessLookupError:  # it has no group of its own yet, or ended
            if self.process.is_alive():
                os.kill(pid, number)


class _Processes:
    """The trials that are evaluated now."""

    def __init__(self, study: Study, f: Function, parallel: int):
        self._study, self._f, self._parallel = study, f, parallel
        self._arguments = _Arguments(f, study.parameters(),
                                     study._conditional())
        self._client_id = "minimize-%d-%s" % (os.getuid(),
                                              socket.gethostname()[:64])
        self._jobs: Dict[int, _Job] = {}
        # Failed alike before there was any result; whose fault it is, is open.
        self._failed: List[Tuple[Trial, str]] = []
        counts = study.counts
        self._proven = counts["succeeded"] + counts["stopped"] > 0

    def run(self) -> None:
        with self._alone() as seat:
            try:
                while self._fill(seat):
                    self._await_one()
            finally:
                self._end_all()

    @contextmanager
    def _alone(self) -> Iterator[socket.socket]:
        """Two processes with one client id would be given the same trials. A
        name that the kernel frees when its holder dies keeps them apart."""
        address = self._study._transport.address
        key = "%s %s" % (address.folder or address.url, self._study._path())
        seat = socket.socket(socket.AF_UNIX)
        try:
            seat.bind("\0hypertune-%s-%s" % (
                self._client_id, hashlib.sha256(key.encode()).hexdigest()))
        except OSError:
            seat.close()
            raise FailedPrecondition(
                "another process of this computer evaluates study %s" %
                self._study.name) from None
        with seat:
            yield seat

    def _fill(self, seat: socket.socket) -> bool:
        """Starts trials while there is room; False when all have ended."""
        while True:
            full = self._ask(seat)
            if self._jobs:
                return True
            if self._failed:
                self._blame_parameters()
            elif full:
                time.sleep(1)
            else:
                return False

    def _ask(self, seat: socket.socket) -> bool:
        """Whether there may be more trials later."""
        held = set(self._jobs).union(trial.id for trial, _ in self._failed)
        wanted = self._parallel - len(self._jobs)
        if wanted <= 0:
            return False
        try:
            trials, full = _patiently(lambda: self._study._suggest(
                len(held) + wanted, self._client_id))
        except FailedPrecondition:
            if self._study.state != "PAUSED":
                raise
            return True
        for trial in trials:
            if trial.id in held or len(self._jobs) >= self._parallel:
                continue
            if trial.state == "STOPPING":  # it was asked to end long ago
                self._conclude(trial, {"metrics": None, "step": 0})
                full = True
            else:
                with _uninterrupted():  # until the job can be ended
                    self._jobs[trial.id] = _Job(
                        trial, _evaluate_one, (self._f, self._arguments),
                        seat)
        return full

    def _await_one(self) -> None:
        while True:
            connection.wait([job.process.sentinel
                             for job in self._jobs.values()] +
                            [job.output for job in self._jobs.values()], 1)
            for job in self._jobs.values():
                job.show()
            ended = [job for job in self._jobs.values()
                     if job.process.exitcode is not None]
            for job in ended:
                del self._jobs[job.trial.id]
                self._conclude(job.trial, job.close())
            if ended:
                return

    def _conclude(self, trial: Trial, said: Dict[str, Any]) -> None:
        if said.get("lost"):
            return  # it is open, so it will be given again
        error = said.get("error")
        if error is None:
            error = self._complete(trial, said)
        if error is None:
            return
        if (self._proven or "traceback" not in said or
                "memory" in error.lower()):
            self._end_infeasible(trial, error)
            return
        if self._failed and _alike(self._failed[-1][1]) != _alike(error):
            self._blame_parameters()
        self._failed.append((trial, error))
        if len(self._failed) >= FAILURES_MOST:
            raise TrialsFailed(
                "the first %d trials of %s failed alike: %s\n\n%s" % (
                    FAILURES_MOST, self._study.name, error,
                    said["traceback"]))

    def _complete(self, trial: Trial, said: Dict[str, Any]) -> Optional[str]:
        """Why it has no result; None when it has ended."""
        trial._step = said["step"]
        metrics = said["metrics"]
        if metrics is not None:
            metrics = {name or self._study.metric: value
                       for name, value in metrics.items()}
        try:
            _patiently(lambda: trial.complete(metrics))
        except NotFound:
            return None
        except (FailedPrecondition, InvalidArgument) as error:
            if not _patiently(trial.refresh).is_open:
                return None
            if metrics is not None:
                said["traceback"] = str(error)
                return "its result was refused: %s" % error
            said["traceback"] = (
                "the function returned None, and has reported no result")
            return str(said["traceback"])
        if trial.state != "INFEASIBLE":
            self._proven = True
            self._blame_parameters()
        return None

    def _blame_parameters(self) -> None:
        """Not all trials fail so: it is these that did."""
        for trial, error in self._failed:
            self._end_infeasible(trial, error)
        self._failed = []

    @staticmethod
    def _end_infeasible(trial: Trial, reason: str) -> None:
        try:
            _patiently(lambda: trial.infeasible(reason))
        except (FailedPrecondition, NotFound):
            pass  # it has ended, or is gone

    def _end_all(self) -> None:
        """The processes; their trials stay open."""
        try:
            for job in self._jobs.values():
                job.end(signal.SIGTERM)
            deadline = time.monotonic() + GRACE_SECONDS
            for job in self._jobs.values():
                job.process.join(max(0.0, deadline - time.monotonic()))
        finally:
            for job in self._jobs.values():
                job.end(signal.SIGKILL)
                job.close()


def _alike(error: str) -> str:
    """Without words with digits, which may be addresses or parameters."""
    return re.sub(r"\w*\d\w*", "#", error)


def _patiently(call: Callable[[], Answer]) -> Answer:
    """Waits for a server that is away for a while."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return call()
        except Unavailable:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.5)
