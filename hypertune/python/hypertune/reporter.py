"""Records of this process: appended to the report file, then sent.

Nothing here fails, blocks or ends the training because a disk or a server
misbehaves; only wrong arguments raise.
"""
import atexit
import binascii
import errno
import fcntl
import json
import math
import os
import re
import resource
import stat
import threading
import time

from hypertune import metric_file
from hypertune.sender import Sender

MAX_LINE = 8192
MAX_NAME = 127
MAX_CHECKPOINT = 4095
MAX_METRICS = 16
LOCK_SECONDS = 0.1
EXIT_SECONDS = 0.2

TRIAL_VARIABLES = ("HYPERTUNE_REPORT_FILE", "HYPERTUNE_REPORT_URL",
                   "HYPERTUNE_TRIAL_TOKEN_FILE", "HYPERTUNE_TRIAL_DIR",
                   "HYPERTUNE_REPLICA")

try:
    text_types = (basestring,)  # Python 2
except NameError:
    text_types = (str,)


class ReportFile(object):
    """reports.jsonl: whole lines, each by one write under a lock."""

    def __init__(self, path):
        self._path = path
        self._fd = -1
        self._identity = None
        self._end = 0  # of our newest line; there no one else has written

    def close(self):
        fd, self._fd = self._fd, -1
        if fd >= 0 and self._is_ours(fd):
            os.close(fd)

    def append(self, line):
        """False when the line could not be written; no part of it stays."""
        try:
            if self._fd < 0 or not self._is_ours(self._fd):
                self._open()
            locked = self._lock()
            try:
                return self._write(line, locked)
            finally:
                if locked:
                    fcntl.flock(self._fd, fcntl.LOCK_UN)
        except EnvironmentError:
            return False

    def _is_ours(self, fd):
        # A trainer that daemonises closes files that it did not open; the
        # number may be another file's by now.
        try:
            now = os.fstat(fd)
        except OSError:
            return False
        return (now.st_dev, now.st_ino) == self._identity

    def _open(self):
        flags = (os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW |
                 os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0o2000000))
        fd = os.open(self._path, flags, 0o600)
        now = os.fstat(fd)
        if not stat.S_ISREG(now.st_mode):
            os.close(fd)
            raise OSError(errno.EINVAL, "not a regular file", self._path)
        self._identity = (now.st_dev, now.st_ino)
        self._end = 0
        self._fd = fd

    def _lock(self):
        """False when someone holds the lock too long: training continues."""
        deadline = time.time() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except EnvironmentError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                    return False
            if time.time() >= deadline:
                return False
            time.sleep(0.002)

    def _is_torn(self, size):
        """Has a writer been killed that had written half a line, which ours
        must not be joined to?"""
        if size == 0:
            return False
        os.lseek(self._fd, size - 1, os.SEEK_SET)
        return os.read(self._fd, 1) != b"\n"

    def _write(self, line, locked):
        size = os.fstat(self._fd).st_size
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if limit != resource.RLIM_INFINITY and size >= limit:
            return False  # writing there may end the process by SIGXFSZ
        if size != self._end and self._is_torn(size):
            size += os.write(self._fd, b"\n")
        wrote = os.write(self._fd, line)
        if wrote == len(line):
            self._end = size + wrote
            return True
        if locked:
            os.ftruncate(self._fd, size)
        return False


def number_text(value):
    """JSON of a float; the words of the record format when not finite."""
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return repr(value)


def check_name(name):
    if not isinstance(name, text_types) or not name:
        raise ValueError("a metric's name must be a text: %r" % (name,))
    encoded = name if isinstance(name, bytes) else name.encode("utf-8")
    if len(encoded) > MAX_NAME:
        raise ValueError("a metric's name has more than %d bytes" % MAX_NAME)
    if any(ord(c) < 32 or 127 <= ord(c) < 160 for c in encoded.decode("utf-8")):
        raise ValueError("a metric's name has control characters: %r" % name)


def path_text(path):
    """The path as text that JSON can carry; bytes beyond UTF-8 are U+FFFD."""
    if not isinstance(path, (bytes,) + text_types):
        path = str(path)
    if not isinstance(path, bytes):
        try:
            path = path.encode("utf-8", "surrogateescape")
        except LookupError:  # Python 2 has no such error handler
            path = path.encode("utf-8")
    return path.decode("utf-8", "replace")


class Reporter(object):
    """This process's writer, sequence, file and sender."""

    def __init__(self, environment, inherited=None):
        self._inherited = inherited  # kept: its threads' objects stay as is
        self.environment = environment
        self._lock = threading.Lock()
        self._writer = self._new_writer()
        self._seq = 0
        self._calls = 0
        self._waited_for = 0
        self._held = None
        path = environment.get("HYPERTUNE_REPORT_FILE")
        self._file = ReportFile(path) if path else None
        self._sender = None
        self.window = metric_file.new_window()
        if inherited is not None:
            inherited.let_go()
            self.window = inherited.window

    @staticmethod
    def _new_writer():
        while True:
            writer = binascii.hexlify(os.urandom(8)).decode("ascii")
            if writer != "0" * 16:
                return writer

    def let_go(self):
        """In a forked child: closes what was copied, touches no lock."""
        if self._file is not None:
            self._file.close()
        if self._sender is not None:
            self._sender.disinherit()

    @property
    def in_trial(self):
        return any(self.environment.get(name) for name in TRIAL_VARIABLES)

    @property
    def default_tag(self):
        return (self.environment.get("CLOUD_ML_HP_METRIC_TAG") or
                metric_file.DEFAULT_TAG)

    def folder(self):
        return self.environment.get("HYPERTUNE_TRIAL_DIR")

    def variable(self, name):
        return self.environment.get(name)

    def record(self, metrics, step, checkpoint):
        """Writes and queues one record; ValueError when it has no form."""
        if not 1 <= len(metrics) <= MAX_METRICS:
            raise ValueError("1 to %d metrics fit in one report" % MAX_METRICS)
        for name in metrics:
            check_name(name)
        checkpoint = path_text(checkpoint) if checkpoint else ""
        if len(checkpoint.encode("utf-8")) > MAX_CHECKPOINT:
            raise ValueError("the checkpoint path has more than %d bytes" %
                             MAX_CHECKPOINT)
        with self._lock:
            line = self._format(metrics, step, checkpoint)
            if len(line) > MAX_LINE:
                raise ValueError("the report has more than %d bytes" % MAX_LINE)
            thin = self._sender.thin if self._sender is not None else 1
            self._calls += 1
            if thin > 1 and (self._calls - 1) % thin:
                self._held = line
                return
            self._held = None
            self._commit(line)

    def _format(self, metrics, step, checkpoint):
        parts = ['{"w":"%s","n":%d,"t":%d' %
                 (self._writer, self._seq + 1, int(time.time() * 1000))]
        if step is not None and step >= 0:
            parts.append('"s":%d' % step)
        parts.append('"m":{%s}' % ",".join(
            "%s:%s" % (json.dumps(name), number_text(value))
            for name, value in sorted(metrics.items())))
        if checkpoint:
            parts.append('"c":%s' % json.dumps(checkpoint))
        return ",".join(parts) + "}\n"

    def _commit(self, line):
        written = (self._file is not None and
                   self._file.append(line.encode("ascii")))
        url = self.environment.get("HYPERTUNE_REPORT_URL")
        if url and self._sender is None:
            self._start_sender(url)
        queued = (self._sender is not None and
                  self._sender.push(self._seq + 1, line[:-1]))
        if written or queued:
            self._seq += 1

    def _start_sender(self, url):
        try:
            self._sender = Sender(
                url, self.environment.get("HYPERTUNE_TRIAL_TOKEN_FILE"),
                self.environment.get("HYPERTUNE_REPLICA") or "master-0",
                self._writer, self._file is not None)
        except ValueError:
            self.environment["HYPERTUNE_REPORT_URL"] = ""  # no address

    def flush(self, seconds):
        """True when the server has confirmed every report so far."""
        with self._lock:
            if self._held is not None:
                line, self._held = self._held, None
                self._commit(line)
            seq, sender = self._seq, self._sender
        if seq == 0:
            return True
        if sender is None:
            return not self.in_trial
        if sender.wait(seq, seconds):
            return True
        self._waited_for = max(self._waited_for, seq)
        return False

    def end(self):
        """What the process still does then is reported by the file alone."""
        if self._sender is None:
            return
        if self._held is not None or self._seq > self._waited_for:
            self.flush(EXIT_SECONDS)
        self._sender.end(EXIT_SECONDS)


_reporters = {}  # by pid; the one entry is this process's or its parent's


def _read_environment():
    names = TRIAL_VARIABLES + ("CLOUD_ML_HP_METRIC_TAG",
                               "CLOUD_ML_HP_METRIC_FILE", "CLOUD_ML_TRIAL_ID")
    return dict((name, os.environ.get(name)) for name in names)


def _reporter():
    """This process's reporter, made anew in the child of a fork.

    The child takes none of the parent's locks: their owners may be threads
    that do not exist here. Several first callers may race; setdefault is
    atomic, so that all of them use the same writer.
    """
    pid = os.getpid()
    reporter = _reporters.get(pid)
    if reporter is not None:
        return reporter
    parents = list(_reporters.items())
    inherited = parents[0][1] if parents else None
    environment = inherited.environment if inherited else _read_environment()
    reporter = _reporters.setdefault(pid, Reporter(environment, inherited))
    for parent, _ in parents:
        _reporters.pop(parent, None)
    return reporter


def _at_exit():
    reporter = _reporters.get(os.getpid())
    if reporter is not None:
        reporter.end()


atexit.register(_at_exit)


evaluated = None  # the Trial of minimize() that this process evaluates


def report(step=None, checkpoint=None, **metrics):
    """Records metrics that belong together: report(step=3, accuracy=0.93).

    Without a step the server counts. Outside a trial nothing happens, unless
    CLOUD_ML_HP_METRIC_FILE names a file.
    """
    report_all(metrics, step, checkpoint)


def report_all(metrics, step=None, checkpoint=None):
    """As report(), for metrics of any name."""
    values = dict((name, float(value)) for name, value in metrics.items())
    number = None if step is None else int(step)
    if evaluated is not None:
        evaluated.report(values, step=number)
        return
    reporter = _reporter()
    if reporter.in_trial:
        reporter.record(values, number, checkpoint)
    elif reporter.variable("CLOUD_ML_HP_METRIC_FILE"):
        path = reporter.variable("CLOUD_ML_HP_METRIC_FILE")
        trial = reporter.variable("CLOUD_ML_TRIAL_ID") or 0
        metric_file.make_folder(path)
        for name, value in sorted(values.items()):
            reporter.window.append(metric_file.make_entry(
                name, value, number, checkpoint or "", trial))
        metric_file.write_window(path, reporter.window)


def checkpoint(path=None, step=None):
    """Says that a file or folder below AIP_CHECKPOINT_DIR is whole, without a
    path all of that folder, so that the trial may continue from it anywhere.

    It is sent while the training continues, so replace it by a rename. Outside
    a trial nothing happens. ValueError: it is elsewhere; OSError: it does not
    exist.
    """
    top = os.environ.get("AIP_CHECKPOINT_DIR")
    folder = _reporter().folder()
    if evaluated is not None or not folder or not top or "://" in top:
        return
    path = path_text(path) if path else top
    os.stat(path)
    below = os.path.relpath(os.path.realpath(path), os.path.realpath(top))
    if below.split(os.sep)[0] == os.pardir:
        raise ValueError("%s is not below AIP_CHECKPOINT_DIR (%s)" %
                         (path, top))
    if len(below.encode("utf-8")) > MAX_CHECKPOINT:
        raise ValueError("the checkpoint path has more than %d bytes" %
                         MAX_CHECKPOINT)
    parts = ['"t":%d' % (time.time() * 1000)]
    if step is not None:
        parts.append('"s":%d' % step)
    parts.append('"c":%s' % json.dumps(below))
    line = ("{%s}\n" % ",".join(parts)).encode("utf-8")
    file = ReportFile(os.path.join(folder, "checkpoints.jsonl"))
    file.append(line)
    file.close()


def flush(timeout=10.0):
    """True when the server has confirmed every report of this process."""
    return _reporter().flush(timeout)


def should_stop():
    """True when the trial should end now. A file says it, no network; only
    in minimize() the server is asked."""
    if evaluated is not None:
        return evaluated.should_stop()
    folder = _reporter().folder()
    return bool(folder) and os.path.exists(os.path.join(folder, "stop"))


# JSON's grammar, so that a label such as 007 stays a text.
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)$")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$")


def _value(text):
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _NUMBER.match(text) else text


def params():
    """This trial's hyperparameters by name, numbers as numbers; {} outside."""
    if evaluated is not None:
        return evaluated.params
    folder = _reporter().folder()
    if not folder:
        return {}
    try:
        with open(os.path.join(folder, "params")) as lines:
            pairs = [line.rstrip("\n").partition("=") for line in lines]
    except EnvironmentError:
        return {}
    return dict((name, _value(value)) for name, equals, value in pairs
                if equals)


class HyperTune(object):
    """The class of Google's cloudml-hypertune, with its arguments and errors.

    Inside a hypertune trial its reports go to hypertune; anywhere else it
    writes the metric file, with the same variables and defaults.
    """

    def __init__(self):
        self.metric_path = os.environ.get("CLOUD_ML_HP_METRIC_FILE",
                                          metric_file.DEFAULT_PATH)
        self.trial_id = os.environ.get("CLOUD_ML_TRIAL_ID", 0)
        self.metrics_queue = metric_file.new_window()
        if not _reporter().in_trial:
            metric_file.make_folder(self.metric_path)

    def report_hyperparameter_tuning_metric(self, hyperparameter_metric_tag,
                                            metric_value, global_step=None,
                                            checkpoint_path=""):
        """Records one metric. None or "" as the tag is the objective.

        ValueError or TypeError when the value or the step is no number.
        """
        reporter = _reporter()
        entry = metric_file.make_entry(hyperparameter_metric_tag, metric_value,
                                       global_step, checkpoint_path,
                                       self.trial_id)
        if not reporter.in_trial:
            self.metrics_queue.append(entry)
            metric_file.write_window(self.metric_path, self.metrics_queue)
            return
        tag = hyperparameter_metric_tag or reporter.default_tag
        step = None if global_step is None else int(global_step or 0)
        reporter.record({tag: float(metric_value)}, step, checkpoint_path)
