"""How fast a tree comes by TLS, beside a copy through such a socket that only
writes and syncs: one key=value a line.

    bench_store.py BIN-DIR        GIBIBYTES=N: how much (2), LINKS=N: how many
                                  connections (8), ROUNDS=N: how often (3)

copy_s      sent through as many TLS sockets as LINKS, which bench_relay ends
            as the server does, written, synced
store_s     sent as chunks, acknowledged as a tree
ratio       the first by the second; the best of each counts
memory_mib  by which the server grew meanwhile
heard_ms    GET /healthz beside it, the longest
"""

import http.client
import multiprocessing
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import api  # noqa: E402
import harness  # noqa: E402
import stored  # noqa: E402
from tls_server import NAME, TlsServer  # noqa: E402

CHUNKS = int(float(os.environ.get("GIBIBYTES", "2")) * 1024)
LINKS = int(os.environ.get("LINKS", "8"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
REST = os.urandom(stored.CHUNK - 16)


def chunk(number, turn):
    return b"%08d%08d" % (turn, number) + REST


def in_threads(work):
    threads = [threading.Thread(target=work, args=(link,))
               for link in range(LINKS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def take_copy(listener, folder, done):
    """The other end of a copy, a process of its own."""
    def take(link):
        sock, _ = listener.accept()
        piece = memoryview(bytearray(stored.CHUNK))
        with sock, open(os.path.join(folder, "copy-%d" % link), "wb",
                     buffering=0) as file:
            while True:
                n = sock.recv_into(piece)
                if n == 0:
                    break
                file.write(piece[:n])
            os.fsync(file.fileno())
            done.put(link)
    in_threads(take)


def copy(server, folder, turn):
    listener = socket.create_server(("127.0.0.1", 0))
    done = multiprocessing.Queue()
    process = multiprocessing.Process(target=take_copy,
                                      args=(listener, folder, done))
    process.start()
    relay = subprocess.Popen(
        [os.path.join(harness.bin_dir(), "..", "bench", "bench_relay"),
         os.path.join(server.tls, "cert.pem"),
         os.path.join(server.tls, "key.pem"), str(listener.getsockname()[1])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    port = int(relay.stdout.readline())
    trust = ssl.create_default_context(cafile=server.ca)

    def send(link):
        with trust.wrap_socket(
                socket.create_connection(("127.0.0.1", port)),
                server_hostname=NAME) as sock:
            for number in range(link, CHUNKS, LINKS):
                sock.sendall(chunk(number, turn))
    begun = time.monotonic()
    in_threads(send)
    for _ in range(LINKS):
        done.get()
    took = time.monotonic() - begun
    process.join()
    relay.communicate()
    listener.close()
    return took


def names_of(turn):
    return [stored.sha(chunk(number, turn)) for number in range(CHUNKS)]


def keep(server, turn, names):
    trust = ssl.create_default_context(cafile=server.ca)
    token = {"Authorization": "Bearer " + api.token(server)}

    def connect():
        return http.client.HTTPSConnection(NAME, server.ports[0].number,
                                           context=trust)

    def ask(link, method, path, body, kind):
        link.request(method, path, body, {**token, "Content-Type": kind})
        answer = link.getresponse()
        text = answer.read()
        assert answer.status == 200, text

    def send(part):
        link = connect()
        for number in range(part, CHUNKS, LINKS):
            ask(link, "PUT", stored.path("chunks/" + names[number]),
                chunk(number, turn), "application/octet-stream")
        link.close()
    text = stored.manifest({"path": "model.bin", "mode": 0o644,
                            "bytes": CHUNKS * stored.CHUNK, "chunks": names})
    begun = time.monotonic()
    in_threads(send)
    link = connect()
    ask(link, "POST", stored.path("trees"), text, "application/json")
    took = time.monotonic() - begun
    link.close()
    return took


def memory_mib(server, what):
    for line in harness.read_proc(server.process.pid, "status").splitlines():
        if line.startswith(what + b":"):
            return int(line.split()[1]) / 1024
    return None


class Listening:
    """GET /healthz again and again: the longest answer, and the most memory."""

    def __init__(self, server):
        self.server, self.over, self.longest_ms = server, False, 0

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        link = http.client.HTTPConnection(self.server.http.split("//")[1])
        while not self.over:
            begun = time.monotonic()
            link.request("GET", "/healthz")
            link.getresponse().read()
            self.longest_ms = max(self.longest_ms,
                                  1000 * (time.monotonic() - begun))
            time.sleep(0.05)
        link.close()

    def __exit__(self, *unused):
        self.over = True
        self.thread.join()


def main():
    copies, kept, heard = [], [], 0
    with TlsServer("--runner", "none") as server:
        before = memory_mib(server, b"VmRSS")
        for turn in range(ROUNDS):
            os.sync()  # what others wrote is not this one's to wait for
            folder = tempfile.mkdtemp(dir=server.folder)
            copies.append(copy(server, folder, turn))
            shutil.rmtree(folder)
            names = names_of(turn)
            os.sync()
            with Listening(server) as listening:
                kept.append(keep(server, turn, names))
            heard = max(heard, listening.longest_ms)
            print("copy_%d_s=%.2f\nstore_%d_s=%.2f" % (
                turn, copies[-1], turn, kept[-1]), flush=True)
        grown = memory_mib(server, b"VmHWM") - before
    print("mib=%d\ncopy_s=%.2f\nstore_s=%.2f\nratio=%.2f\nmemory_mib=%.1f\n"
          "heard_ms=%.1f" % (CHUNKS, min(copies), min(kept),
                             min(copies) / min(kept), grown, heard))


if __name__ == "__main__":
    main()
