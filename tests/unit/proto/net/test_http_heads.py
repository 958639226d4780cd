#!/usr/bin/env python3
"""proto/net/http_head.c and two strict parsers of HTTP find the same requests:
whatever the check passes on, h11 (python3-h11) and http-parser
(libhttp-parser2.9) cut at the same bytes; and what both of them refuse, the
check does not pass on. Inputs are requests of every shape, then broken at
random with a fixed seed."""

import ctypes
import importlib.util
import os
import random
import struct
import subprocess
import sys

import tap

INPUTS = 4000
TOOL = os.path.join(os.path.dirname(sys.argv[1]), "tests/tools/http_heads")

METHODS = [b"GET", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"HEAD"]
FIELDS = [b"Host: a", b"host:a", b"Host: b", b"Content-Length: 5",
          b"Content-Length: 0", b"content-length:5", b"Content-Length: +5",
          b"Content-Length: 5, 5", b"Content-Length:", b"Content-Length : 5",
          b"Content-Length: 5 ", b"Content-Length: 0x5", b"Content-Length: -1",
          b"Content-Length: 99999999999999999999",
          b"Transfer-Encoding: chunked", b"transfer-encoding: Chunked",
          b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity",
          b"Transfer-Encoding: xchunked", b"Transfer-Encoding:\tchunked ",
          b"Transfer-Encoding : chunked", b"Transfer_Encoding: chunked",
          b"Connection: close", b"Connection: keep-alive", b"X: y", b"X:",
          b"X: a\tb", b"X: \x80\xff", b"X: a\x00b", b"X: a\x0bb", b"X: a\rb",
          b" folded", b"\tfolded", b"X Y: z", b": empty", b"no colon",
          b"X\x00: y", b"(x): y", b"Expect: 100-continue"]
BODIES = [b"", b"hello", b"hell", b"hello there", b"0\r\n\r\n",
          b"5\r\nhello\r\n0\r\n\r\n", b"5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
          b"5\nhello\r\n0\r\n\r\n", b"5 \r\nhello\r\n0\r\n\r\n",
          b"05\r\nhello\r\n00\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n",
          b"5\r\nhelloXX0\r\n\r\n", b"A\r\nhellohello\r\n0\r\n\r\n",
          b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n", b"-5\r\nhello\r\n0\r\n\r\n",
          b"5\r\nhello\r\n0\r\nContent-Length: 3\r\n\r\n"]
LINES = [b" HTTP/1.1", b" HTTP/1.1", b" HTTP/1.1", b" HTTP/1.0", b" HTTP/1.2",
         b" HTTP/2.0", b" http/1.1", b"  HTTP/1.1", b" HTTP/1.1 ", b"",
         b" HTTP/01.1", b" HTTP/1.10"]
TARGETS = [b"/", b"/v1/a?b=c%20d", b"*", b"/a b", b"/\x80", b"http://a/", b"",
           b"/\x7f", b"/\t"]


def a_request(draw):
    """Mostly right, so that what follows it is looked at, too."""
    right = draw.random() < 0.75
    target = b"/" if right else draw.choice(TARGETS)
    version = b" HTTP/1.1" if right else draw.choice(LINES)
    fields = [] if draw.random() < 0.1 else [b"Host: a"]
    body = b""
    shape = draw.random()
    if shape < 0.3:
        fields.append(b"Content-Length: 5")
        body = b"hello"
    elif shape < 0.6:
        fields.append(b"Transfer-Encoding: chunked")
        body = draw.choice(BODIES[5:7] if right else BODIES)
    if not right:
        fields += draw.sample(FIELDS, draw.randrange(3))
        draw.shuffle(fields)
        body = draw.choice([body, draw.choice(BODIES)])
    line = draw.choice(METHODS) + b" " + target + version
    end = b"\r\n" if draw.random() < 0.95 else b"\n"
    return end.join([line] + fields) + end + b"\r\n" + body


def an_input(draw):
    data = bytearray(b"".join(a_request(draw)
                              for _ in range(draw.randrange(1, 4))))
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        at = draw.randrange(len(data) + 1)
        data[at:at + draw.randrange(2)] = draw.choice(
            [b"\r", b"\n", b"\0", b" ", b"\t", b":", b"\x0b", b"0", b"\xff",
             b"", b"\r\n"])
    return bytes(data)


def ours(inputs, most=0):
    """For each input the ends of its requests, and the outcome."""
    framed = b"".join(struct.pack("=I", len(data)) + data for data in inputs)
    done = subprocess.run([TOOL, str(most)], input=framed, check=True,
                          stdout=subprocess.PIPE)
    found = []
    for line in done.stdout.decode().splitlines():
        words = line.split()
        ends = [int(word) for word in words if word.isdigit()]
        if "refused" in words:
            ends = ends[:-1]
            found.append((ends, " ".join(words[-2:])))
        else:
            found.append((ends, words[-1]))
    return found


def of_h11(data):
    """The ends of the requests that h11 finds, and whether it refused."""
    import h11
    server = h11.Connection(h11.SERVER)
    ends = []
    try:
        for at in range(len(data)):
            server.receive_data(data[at:at + 1])
            while True:
                event = server.next_event()
                if event is h11.NEED_DATA:
                    break
                if event is h11.PAUSED:
                    return ends, "closed"
                if isinstance(event, h11.EndOfMessage):
                    ends.append(at + 1)
                    server.send(h11.Response(status_code=204, headers=[]))
                    server.send(h11.EndOfMessage())
                    if server.our_state is not h11.DONE:
                        return ends, "closed"
                    server.start_next_cycle()
    except h11.RemoteProtocolError:
        return ends, "refused"
    except h11.LocalProtocolError:  # it would become a tunnel now
        return ends, "closed"
    return ends, "open"


class HttpParser:
    """libhttp_parser by its C interface (http_parser.h, 2.9)."""

    CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    DATA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
                            ctypes.c_size_t)

    def __init__(self):
        self.library = ctypes.CDLL("libhttp_parser.so.2.9")
        self.library.http_parser_execute.restype = ctypes.c_size_t
        self.ended = self.CALL(self.on_end)
        nothing, no_data = self.CALL(0), self.DATA(0)
        kinds = [nothing, no_data, no_data, no_data, no_data, nothing, no_data,
                 self.ended, nothing, nothing]
        self.settings = (ctypes.c_void_p * len(kinds))(
            *[ctypes.cast(kind, ctypes.c_void_p) for kind in kinds])
        self.ends = []
        self.at = 0

    def on_end(self, _parser):
        self.ends.append(self.at)
        return 0

    def read(self, data):
        parser = ctypes.create_string_buffer(64)
        self.library.http_parser_init(parser, 0)
        self.ends = []
        for at in range(len(data)):
            self.at = at + 1
            taken = self.library.http_parser_execute(
                parser, ctypes.byref(self.settings), data[at:at + 1],
                ctypes.c_size_t(1))
            if taken != 1:
                return self.ends, "refused"
        return self.ends, "open"


def check(data, found, other, name):
    """What the check passed on has the same bounds at the other parser."""
    ends, outcome = found
    theirs, end = other
    # Another may read on behind a request that ends the connection, end it
    # where HTTP/1.0 asked to keep it, or refuse what we pass on (methods that
    # http-parser has no name for, an empty line before the request): none of
    # these moves a bound.
    n = min(len(ends), len(theirs))
    tap.equal(theirs[:n], ends[:n], "%s of %r" % (name, data))
    if len(theirs) < len(ends):
        tap.equal(end != "open", True,
                  "%s of %r, ours %r, theirs %r" % (name, data, found, other))
    if outcome in ("between", "open"):
        tap.equal(len(theirs) <= len(ends), True,
                  "%s of %r, ours %r, theirs %r" % (name, data, ends, theirs))


def inputs_of(seed):
    draw = random.Random(seed)
    return [an_input(draw) for _ in range(INPUTS)]


def h11_cuts_what_passes_at_the_same_bytes():
    if importlib.util.find_spec("h11") is None:
        raise tap.Skip("python3-h11 is not installed")
    inputs = inputs_of(1)
    found = ours(inputs)
    tap.true(sum(len(ends) for ends, _ in found) > INPUTS / 2, "requests")
    for data, one in zip(inputs, found):
        check(data, one, of_h11(data), "h11")


def http_parser_cuts_what_passes_at_the_same_bytes():
    try:
        parser = HttpParser()
    except OSError:
        raise tap.Skip("libhttp-parser2.9 is not installed")
    inputs = inputs_of(2)
    for data, one in zip(inputs, ours(inputs)):
        check(data, one, parser.read(data), "http-parser")


def pieces_change_nothing():
    inputs = inputs_of(3)[:1000]
    whole = ours(inputs)
    for most in (1, 2, 7):
        tap.equal(ours(inputs, most), whole, "in pieces of %d" % most)


if __name__ == "__main__":
    tap.run([h11_cuts_what_passes_at_the_same_bytes,
             http_parser_cuts_what_passes_at_the_same_bytes,
             pieces_change_nothing])
