"""A good client beside 10,000 silent and 1,000 slow connections, one key=value
a line.

    bench_connections.py BIN-DIR

quiet_p99_ms, loud_p99_ms    of GET /healthz, each on a connection of its own
loud_ratio                   the second by the first
quiet_cpu_share, loud_...    of the server, of one CPU, with its requests
rss_mb                       of the server, behind that
failed                       requests of the good client without a 200
"""

import os
import resource
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import api  # noqa: E402
import harness  # noqa: E402

SILENT, SLOW, ASKED = 10000, 1000, 1000


def open_one(server, i):
    sock = socket.socket()
    sock.bind(("127.0.0.%d" % (2 + i % 200), 0))
    sock.connect(api.address(server))
    return sock


def ask_all(server, n):
    """Sorted milliseconds of each, and how many failed."""
    head = api.head(server, "GET", "/healthz", "Connection: close",
                    auth=False)
    took, failed = [], 0
    for _ in range(n):
        begin = time.monotonic()
        try:
            answer = api.exchange(server, head)
        except OSError:
            answer = None
        took.append(1e3 * (time.monotonic() - begin))
        failed += answer is None or answer.status != 200
        time.sleep(0.002)
    return sorted(took), failed


def drip(socks, stop):
    while not stop.wait(1):
        for sock in socks:
            try:
                sock.send(b"a")
            except OSError:
                pass  # the server has ended it


def p99(took):
    return took[len(took) * 99 // 100]


def main():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with harness.Server("--runner", "none") as server:
        begin, computed = time.monotonic(), server.computed()
        quiet, failed = ask_all(server, ASKED)
        alone = (server.computed() - computed) / (time.monotonic() - begin)
        socks = [open_one(server, i) for i in range(SILENT + SLOW)]
        slow = socks[SILENT:]
        for sock in slow:
            try:
                sock.send(b"GET / HTTP/1.1\r\nX-Slow: ")
            except OSError:
                pass
        stop = threading.Event()
        thread = threading.Thread(target=drip, args=(slow, stop))
        thread.start()
        begin, computed = time.monotonic(), server.computed()
        loud, failed_loud = ask_all(server, ASKED)
        share = (server.computed() - computed) / (time.monotonic() - begin)
        status = harness.read_proc(server.process.pid, "status").decode()
        stop.set()
        thread.join()
        rss = int(status.split("VmRSS:")[1].split()[0]) / 1024
        print("quiet_p99_ms=%.2f" % p99(quiet))
        print("loud_p99_ms=%.2f" % p99(loud))
        print("loud_ratio=%.2f" % (p99(loud) / p99(quiet)))
        print("quiet_cpu_share=%.3f" % alone)
        print("loud_cpu_share=%.3f" % share)
        print("rss_mb=%.1f" % rss)
        print("failed=%d" % (failed + failed_loud))
        for sock in socks:
            sock.close()


main()
