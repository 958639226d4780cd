"""How fast the command and the runner move a folder by TLS: one key=value a
line.

    bench_tree.py BIN-DIR         GIBIBYTES=N: how much (1)

walk_mib_s   read and hashed, from the page cache
send_mib_s   what the server did not have
again_ms     what it has already: nothing is sent
fetch_mib_s  back into a new folder, synced
write_mib_s  the same bytes written to such a folder and synced, nothing else
memory_mib   most of the sending program

It needs `make test-programs`, whose tests/tools/move_tree it runs.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402
from tls_server import TlsServer  # noqa: E402

MIB = 1024 * 1024
MIBIBYTES = int(float(os.environ.get("GIBIBYTES", "1")) * 1024)
TOOL = os.path.join(os.path.dirname(harness.bin_dir()),
                    "tests/tools/move_tree")


def move(server, *words):
    with open(server.token_file, encoding="ascii") as token:
        done = subprocess.run(
            [TOOL, words[0], server.https, token.read().strip(), server.ca,
             *words[1:]], stdout=subprocess.PIPE, check=True,
            encoding="ascii")
    return dict(word.split("=") for word in done.stdout.split())


def speed(ms):
    return "%.0f" % (MIBIBYTES * 1000 / max(float(ms), 1))


def main():
    with TlsServer("--runner", "none") as server, \
            tempfile.TemporaryDirectory() as base:
        folder = os.path.join(base, "from")
        os.mkdir(folder)
        for number in range(4):
            with open(os.path.join(folder, "part-%d" % number), "wb") as out:
                for _ in range(MIBIBYTES // 4):
                    out.write(os.urandom(MIB))
        os.sync()
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
        subprocess.run(["diff", "-r", folder, os.path.join(base, "into")],
                       check=True)


if __name__ == "__main__":
    main()
