"""How fast the command and the runner move a folder by TLS: one key=value a
line.

    bench_tree.py BIN-DIR         GIBIBYTES=N: how much (1)

walk_mib_s   read and hashed, from the page cache
send_mib_s   what the server did not have
again_ms     what it has already: nothing is sent
fetch_mib_s  back into a new folder, synced
write_mib_s  the same bytes written to such a folder and synced, nothing else
memory_mib   most of the sending program
cuts         of a line that is cut every 5 s while another folder is sent
resent       by how much more than the folder goes over that line, in percent

It needs `make test-programs`, whose tests/tools/move_tree it runs.
"""

import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402
from tls_server import TlsServer  # noqa: E402

MIB = 1024 * 1024
MIBIBYTES = int(float(os.environ.get("GIBIBYTES", "1")) * 1024)
TOOL = os.path.join(os.path.dirname(harness.bin_dir()),
                    "tests/tools/move_tree")


class CutLine:
    """TCP to a server, whose `port` is set later; all its connections end
    every `every` seconds."""

    def __init__(self, every):
        self.port, self.every = None, every
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "https://localhost:%d" % self.listener.getsockname()[1]
        self.bytes = self.cuts = 0
        self.ends = []
        self.over = threading.Event()

    def __enter__(self):
        for work in self.accept, self.cut:
            threading.Thread(target=work, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.listener.close()

    def accept(self):
        while not self.over.is_set():
            try:
                here = self.listener.accept()[0]
            except OSError:
                return
            there = socket.create_connection(("127.0.0.1", self.port))
            self.ends += [here, there]
            for source, target in ((here, there), (there, here)):
                threading.Thread(target=self.carry, daemon=True,
                                 args=(source, target, source is here)).start()

    def carry(self, source, target, counted):
        try:
            while data := source.recv(1 << 18):
                target.sendall(data)
                self.bytes += counted * len(data)
        except OSError:
            pass
        self.end([source, target])

    def cut(self):
        while not self.over.wait(self.every):
            ends, self.ends = self.ends, []
            self.cuts += len(ends) > 0
            self.end(ends)

    @staticmethod
    def end(ends):
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def move(server, *words, url=None):
    with open(server.token_file, encoding="ascii") as token:
        done = subprocess.run(
            [TOOL, words[0], url or server.https, token.read().strip(),
             server.ca, *words[1:]], stdout=subprocess.PIPE, check=True,
            encoding="ascii")
    return dict(word.split("=") for word in done.stdout.split())


def fill(base, name):
    folder = os.path.join(base, name)
    os.mkdir(folder)
    for number in range(4):
        with open(os.path.join(folder, "part-%d" % number), "wb") as out:
            for _ in range(MIBIBYTES // 4):
                out.write(os.urandom(MIB))
    os.sync()
    return folder


def speed(ms):
    return "%.0f" % (MIBIBYTES * 1000 / max(float(ms), 1))


def main():
    line = CutLine(5)
    with TlsServer("--runner", "none", "--public-name", line.url) as server, \
            tempfile.TemporaryDirectory() as base:
        folder = fill(base, "from")
        first = move(server, "send", folder)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        again = move(server, "send", folder)
        assert again["bytes"] == "0", again
        back = move(server, "fetch", os.path.join(base, "into"),
                    first["tree"])
        begun = time.monotonic()
        with open(os.path.join(base, "written"), "wb", buffering=0) as out:
            for number in range(MIBIBYTES):
                out.write(os.urandom(16) * (MIB // 16))
            os.fsync(out.fileno())
        written = (time.monotonic() - begun) * 1000
        print("walk_mib_s=%s" % speed(again["walk_ms"]))
        print("send_mib_s=%s" % speed(first["ms"]))
        print("again_ms=%s" % again["ms"])
        print("fetch_mib_s=%s" % speed(back["ms"]))
        print("write_mib_s=%s" % speed(written))
        print("memory_mib=%d" % memory)
        other = fill(base, "other")
        line.port = server.ports[0].number
        with line:
            move(server, "send", other, url=line.url)
        print("cuts=%d" % line.cuts)
        print("resent=%.1f" % (100 * line.bytes / MIB / MIBIBYTES - 100))
        subprocess.run(["diff", "-r", folder, os.path.join(base, "into")],
                       check=True)


if __name__ == "__main__":
    main()
