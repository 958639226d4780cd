"""The daemon thread that carries records to the server.

A bounded queue in front of one connection. What falls out of it, or is not
confirmed when the process ends, is in the report file and is delivered from
there.
"""
import collections
import contextlib
import json
import signal
import threading

from hypertune.spreq import Spreq, monotonic

QUEUE_RECORDS = 20000
BATCH_BYTES = 256 * 1024
START_BYTES = 16 * 1024  # of a message before anything was measured
STEP_BYTES = 1024  # by which a message grows near the size that failed
LONG_SECONDS = 1.0  # longer delays what is behind: grows in steps
SHRINK_SECONDS = 4.0  # the next message has half
SILENT_SECONDS = 4.0  # without a byte, beside what the last answer took
SILENT_STEP = 0.5  # more after each failure
SILENT_MAX = 30.0
ASK_AGAIN_SECONDS = 0.25
LONG_BYTES = 1024  # of a record that some link may never pass
MOST_CUTS = 4  # of such a one, then it is left to the file
DECIDED = ("ok", "gone", "denied", "invalid")  # all else: ask again


def read_token(path):
    try:
        with open(path, "rb") as token_file:
            return token_file.readline().strip().decode("ascii")
    except (EnvironmentError, ValueError):
        return ""


def is_long(batch):
    return len(batch) == 1 and len(batch[0][1]) > LONG_BYTES


@contextlib.contextmanager
def signals_blocked():
    """What starts a thread in here gives it no signals.

    One that our thread took would not interrupt the trainer's main thread,
    which alone runs Python's handlers. Python 2 cannot say so.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    every = set(range(1, signal.NSIG)) - set([32, 33])  # those two are libc's
    before = signal.pthread_sigmask(signal.SIG_BLOCK, every)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Pace(object):
    """How much one message has, and how long its answer is waited for.

    After silence or a cut one record goes alone, the oldest: the answer to it
    also says whether the message before was stored, whose answer was lost
    then. Messages grow again, in steps near the size that failed.
    """

    def __init__(self):
        self.batch = START_BYTES  # most bytes of records; 0: one record
        self.silent = SILENT_SECONDS
        self._threshold = BATCH_BYTES
        self._failed = None  # bytes and newest seq of what got no answer

    def failed(self, size, newest):
        self._failed = self._failed or (size, newest)
        self.batch = 0
        self.silent = min(self.silent + SILENT_STEP, SILENT_MAX)

    def answered(self, size, have, seconds):
        self.silent = min(SILENT_SECONDS + 4 * seconds, SILENT_MAX)
        if self._failed:
            before, newest = self._failed
            stored = have >= newest
            self.batch = before if stored else 0
            self._threshold = (BATCH_BYTES if stored
                               else max(before // 2, STEP_BYTES))
            self._failed = None
        elif 2 * size < self.batch:
            return  # its size was not tried
        if seconds > SHRINK_SECONDS:
            self.batch = size // 2
        elif seconds > LONG_SECONDS or self.batch >= self._threshold:
            self.batch += STEP_BYTES
        else:
            self.batch = 2 * max(size, self.batch)
        self.batch = min(self.batch, BATCH_BYTES)


class Sender(object):
    def __init__(self, url, token_path, replica, writer, in_file):
        self._spreq = Spreq(url)
        self._in_file = in_file  # a runner gets each record from a file, too
        self._cuts = 0  # of messages with one long record, in a row
        self._token_path = token_path
        self._replica = replica
        self._writer = writer
        self._changed = threading.Condition()
        self._queue = collections.deque(maxlen=QUEUE_RECORDS)
        self._pace = Pace()
        self._confirmed = 0
        self._waiters = 0
        self._ended = False
        self._thread = None
        self.thin = 1

    def disinherit(self):
        """In a forked child: lets go of the parent's socket."""
        self._spreq.close()

    def end(self, seconds):
        """Lets the thread end, and waits a moment for it.

        One that came back from the network while the interpreter is going down
        would end the process with an abort where libgcc_s is missing, which
        glibc needs to end a thread: images without it exist.
        """
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            thread = self._thread
        self._spreq.cut()
        if thread is not None:
            thread.join(seconds)

    def push(self, seq, record):
        """Queues the record's JSON text; False when it will never be sent."""
        with self._changed:
            if self._ended:
                return False
            if self._thread is None and not self._start():
                return False
            self._queue.append((seq, record))
            self._changed.notify_all()
        return True

    def _start(self):
        thread = threading.Thread(target=self._run, name="hypertune")
        thread.daemon = True
        try:
            with signals_blocked():
                thread.start()
        except RuntimeError:  # no thread to be had, or the interpreter ends
            return False
        self._thread = thread
        return True

    def wait(self, seq, seconds):
        """True when the server has confirmed seq and all before it."""
        deadline = monotonic() + seconds
        with self._changed:
            self._waiters += 1
            self._changed.notify_all()
            while self._confirmed < seq and not self._ended:
                left = deadline - monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            self._waiters -= 1
            return self._confirmed >= seq

    def _await_work(self):
        """Blocks until there is something to send, or to ask for."""
        with self._changed:
            while not self._queue and not self._ended:
                if not self._waiters:
                    self._changed.wait()
                    continue
                self._changed.wait(ASK_AGAIN_SECONDS)
                if self._waiters:
                    break

    def _next_batch(self, last):
        """The oldest records, which stay in the queue until the server has
        decided; without any the last one again: the answer to it contains what
        the server has by now."""
        batch, size = [], 0
        with self._changed:
            for entry in self._queue:
                size += len(entry[1]) + 1
                if batch and size > self._pace.batch:
                    break
                batch.append(entry)
        return batch or last[-1:]

    def _drop_through(self, seq):
        while self._queue and self._queue[0][0] <= seq:
            self._queue.popleft()

    def _run(self):
        # Python 2 ends its modules under a running daemon thread, and prints
        # whatever that raises. Nothing is lost: the file has every record.
        try:
            self._send_all()
        except:  # noqa: E722 - even the names of exceptions may be gone
            self._ended = True

    def _send_all(self):
        token = read_token(self._token_path) if self._token_path else ""
        batch, number = [], 0
        while not self._ended:
            self._await_work()
            batch = self._next_batch(batch)
            if self._ended or not batch:
                continue
            number += 1
            head = json.dumps({"v": 1, "type": "report", "token": token,
                               "id": number, "replica": self._replica})
            message = (head[:-1] + ', "records": [' +
                       ",".join(record for _, record in batch) +
                       "]}").encode("ascii")
            if not self._try(message, batch[-1][0]) and \
                    self._is_left_to_file(batch):
                with self._changed:
                    self._drop_through(batch[-1][0])
                batch = []  # nor is it asked about
            elif is_long(batch) and not self._spreq.broke:
                self._cuts = 0
        self._spreq.close()

    def _is_left_to_file(self, batch):
        """Whether it is too long for a link that cuts connections."""
        if not self._in_file or not self._spreq.broke or not is_long(batch):
            return False
        self._cuts = min(self._cuts + 1, MOST_CUTS)
        return self._cuts == MOST_CUTS

    def _try(self, message, newest):
        """Sends one message; its records stay queued without a decision. False
        when it got no answer."""
        start = monotonic()
        raw = self._spreq.request(message, self._pace.silent)
        if raw is None:
            self._pace.failed(len(message), newest)
            return False
        try:
            answer = json.loads(raw.decode("utf-8"))
            status = answer.get("status")
        except (ValueError, AttributeError):
            answer, status = {}, None
        have = -1
        if status == "ok":
            have = answer.get("have", {}).get(self._writer, newest)
        self._pace.answered(len(message), have, monotonic() - start)
        if status not in DECIDED:
            asked = answer.get("retryMs", 2000) / 1000.0
            self._spreq.pause(min(max(asked, 0.1), 30.0))
            return True
        with self._changed:
            if status == "ok":
                self._confirmed = max(self._confirmed, have)
                self.thin = max(1, answer.get("thin", 1))
            elif status in ("gone", "denied"):
                self._ended = True
                self._queue.clear()
            self._drop_through(max(newest, have))
            self._changed.notify_all()
        return True
