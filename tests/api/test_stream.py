"""Server-sent events: every study at connect, then each change."""

import json
import socket
import time

import api
import harness
import tap

server = None
PATH = api.OURS + "/events"


class Stream:
    """Events of one connection, chunked coding undone."""

    def __init__(self, receive_buffer=None, auth=True):
        self.sock = socket.socket()
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                 receive_buffer)
        self.sock.settimeout(harness.PATIENCE)
        self.sock.connect(api.address(server))
        self.sock.sendall(api.head(server, "GET", PATH,
                                   "Accept: text/event-stream", auth=auth))
        self.file = self.sock.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        for line in iter(self.file.readline, b"\r\n"):
            name, value = line.decode().split(":", 1)
            self.headers[name.lower()] = value.strip()
        self.text = b""

    def block(self):
        """The next event or comment; None at the end of the stream."""
        while b"\n\n" not in self.text:
            line = self.file.readline()
            size = int(line or b"0", 16)
            if size == 0:
                return None
            self.text += self.file.read(size)
            self.file.readline()
        text, self.text = self.text.split(b"\n\n", 1)
        return text.decode()

    def event(self):
        """What the next event says, comments left out; None at the end."""
        text = self.block()
        while text is not None and text.startswith(":"):
            text = self.block()
        if text is None:
            return None
        event, data = text.split("\n")
        tap.equal(event, "event: revision")
        return json.loads(data[len("data: "):])

    def revision(self):
        """The next (study, revision); of one that is deleted 0."""
        found = self.event()
        return found and (found["study"], found.get("revision", 0))

    def wait_for(self, study, revision):
        while True:
            found = self.revision()
            if found is None:
                raise AssertionError("the stream ended")
            if found[0] == study and found[1] >= revision:
                return found

    def close(self):
        self.file.close()
        self.sock.close()


def create(name, jobs=api.JOBS):
    status, answer = server.call("POST", jobs, api.job(name))
    tap.equal(status, 200, answer)
    return int(answer["name"].rsplit("/", 1)[1])


def revision_of(name):
    return server.study(name)["revision"]


def a_stream_begins_with_every_study():
    numbers = [create("s%d" % i) for i in range(3)]
    # What an earlier server left is in the database alone.
    server.stop()
    server.start()
    stream = Stream()
    tap.equal((stream.status, stream.headers["content-type"]),
              (200, "text/event-stream"))
    found = dict(stream.revision() for _ in numbers)
    tap.equal(sorted(found), numbers)
    for i, number in enumerate(numbers):
        tap.true(found[number] <= revision_of("s%d" % i))
    stream.close()


def a_change_arrives_at_every_stream():
    streams = [Stream() for _ in range(5)]
    number = create("news")
    for stream in streams:
        stream.wait_for(number, 1)
    server.call("POST", api.OURS + "/studies/news:pause")
    revision = revision_of("news")
    for stream in streams:
        stream.wait_for(number, revision)
        stream.close()


def a_deletion_reaches_every_stream_and_is_then_forgotten():
    number = create("doomed")
    streams = [Stream() for _ in range(2)]
    for stream in streams:
        stream.wait_for(number, 1)
    server.call("POST", api.JOBS + "/doomed:cancel")
    harness.wait_until(
        lambda: server.study("doomed")["state"] == "CANCELLED", "its end")
    tap.equal(server.call("DELETE", api.JOBS + "/doomed")[0], 200)
    for stream in streams:
        event = stream.event()
        while "revision" in event:
            event = stream.event()
        tap.equal(event, {"study": number, "deleted": True})

    after = create("after")

    def listed_at_first():
        late = Stream()
        studies = []
        while after not in studies:
            studies.append(late.event()["study"])
        late.close()
        return studies
    harness.wait_until(lambda: number not in listed_at_first(),
                       "a stream that begins without it")
    for stream in streams:
        stream.close()


def a_stream_of_a_project_shows_no_other():
    project = api.JOBS.split("/")[3]
    others = api.JOBS.replace("/projects/", "/projects/other-")
    secret = api.send(server, "POST", api.OURS + "/tokens", {
        "name": "scoped", "role": "read", "project": project}).json()["secret"]
    mine, theirs = create("mine"), create("theirs", others)
    stream = Stream(auth=secret)
    first = stream.wait_for(mine, 1)
    server.call("POST", api.OURS + "/studies/mine:pause")
    tap.true(stream.wait_for(mine, first[1] + 1))
    later = [create("later-theirs", others), create("later-mine")]
    seen = []
    while not set(later) & set(seen):
        found = stream.revision()
        if found is None:  # a study whose project it does not know yet
            stream.close()
            stream = Stream(auth=secret)
        else:
            seen.append(found[0])
    tap.true(later[1] in seen and theirs not in seen, seen)
    server.call("POST", api.OURS + "/studies/mine:cancel")
    harness.wait_until(
        lambda: server.study("mine")["state"] == "CANCELLED", "its end")
    tap.equal(server.call("DELETE", api.OURS + "/studies/mine")[0], 200)
    event = stream.event()
    while "revision" in event:
        event = stream.event()
    tap.equal(event, {"study": mine, "deleted": True})
    stream.close()


def a_slow_client_delays_no_other_and_gets_the_newest():
    slow = Stream(receive_buffer=1024)
    number = create("busy")
    path = api.OURS + "/studies/busy"
    for _ in range(30):
        server.call("POST", path + ":pause")
        server.call("POST", path + ":resume")
    slow.wait_for(number, revision_of("busy"))
    slow.close()


def without_the_right_accept_it_is_no_stream():
    answer = api.ask(server, "GET", PATH)
    tap.equal((answer.status, answer.error()["message"]),
              (400, "this is a stream: ask with Accept: text/event-stream"))
    tap.equal(api.ask(server, "GET", PATH, "Accept: text/event-stream",
                      auth=None).status, 401)


open_ones = []


def there_are_at_most_256_streams():
    def is_full():
        stream = Stream()
        if stream.status == 200:
            open_ones.append(stream)
        else:
            tap.equal(stream.status, 429)
            stream.close()
        return len(open_ones) >= 256
    try:
        # Closed earlier ones may still be counted until their next comment.
        harness.wait_until(is_full, "256 streams")
        one_more = Stream()
        one_more.close()
        tap.equal(one_more.status, 429)
        tap.equal(api.ask(server, "GET", "/healthz").status, 200)
    finally:
        for stream in open_ones[1:]:
            stream.close()


def silence_is_broken_by_a_comment():
    stream = open_ones[0]
    begin = time.monotonic()
    while not stream.block().startswith(":"):
        pass
    tap.true(time.monotonic() - begin < 30)  # proxies wait for as long
    stream.close()


def closed_streams_make_room():
    """The server may count them until their next comment."""
    def room():
        stream = Stream()
        stream.close()
        return stream.status == 200
    harness.wait_until(room, "room for a stream")


def a_stop_ends_the_streams():
    stream = Stream()
    stream.wait_for(create("last"), 1)
    begin = time.monotonic()
    tap.equal(server.stop(), 0)
    tap.true(time.monotonic() - begin < 30)  # a call may take 60
    while stream.revision() is not None:
        pass
    stream.close()


with harness.Server("--runner", "none") as server:
    tap.run([
        a_stream_begins_with_every_study,
        a_change_arrives_at_every_stream,
        a_deletion_reaches_every_stream_and_is_then_forgotten,
        a_stream_of_a_project_shows_no_other,
        a_slow_client_delays_no_other_and_gets_the_newest,
        without_the_right_accept_it_is_no_stream,
        there_are_at_most_256_streams,
        silence_is_broken_by_a_comment,
        closed_streams_make_room,
        a_stop_ends_the_streams,
    ])
