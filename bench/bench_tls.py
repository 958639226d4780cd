"""What TLS adds, one key=value a line.

    bench_tls.py BIN-DIR

plain_kept_us, tls_kept_us   GET /healthz on an open connection, the median
plain_new_us, tls_new_us     the same with a connection of its own
kept_ratio, new_ratio        the second by the first
plain_reports_s, tls_...     until all of 20,000 reports of a trial are stored,
                             whose runner reaches the server by that way
reports_ratio                the second by the first

Rounds of both alternate, and the best of each counts.
"""

import http.client
import os
import shutil
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402
from tls_server import NAME, TlsServer  # noqa: E402

ROUNDS, KEPT, NEW, REPORTS = 5, 300, 100, 20000


def links(server):
    """New connections, by plain HTTP and by TLS."""
    trust = ssl.create_default_context(cafile=server.ca)
    plain = server.http.split("//")[1]
    return {"plain": lambda: http.client.HTTPConnection(plain),
            "tls": lambda: http.client.HTTPSConnection(
                NAME, server.ports[0].number, context=trust)}


def ask(link):
    link.request("GET", "/healthz")
    link.getresponse().read()


def median_us(count, step):
    took = []
    for _ in range(count):
        begin = time.monotonic()
        step()
        took.append(1e6 * (time.monotonic() - begin))
    return sorted(took)[count // 2]


def on_a_new_one(connect):
    link = connect()
    ask(link)
    link.close()


def reports_s(server, name, url, *options):
    """Seconds of a trial whose runner asks the server at `url`."""
    folder = os.path.join(server.folder, name)
    os.makedirs(folder)
    token = shutil.copy(os.path.join(server.data, "runner-token"), folder)
    result = os.path.join(folder, "result")
    trainer = os.path.join(harness.bin_dir(), "..", "bench", "bench_trial")
    runner = subprocess.Popen(
        [os.path.join(harness.bin_dir(), "hypertune-runner"), "--server", url,
         "--token-file", token, *options], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=server.log)
    try:
        server.submit({
            "spec": 1, "name": name, "goal": "maximize accuracy", "trials": 1,
            "parameters": {"x": [1]}, "algorithm": "grid", "args": "none",
            "command": [os.path.realpath(trainer), str(REPORTS), result]})
        status = server.wait_study(name)
    finally:
        runner.terminate()
        runner.wait(harness.PATIENCE)
    if status["state"] != "SUCCEEDED":
        sys.exit("bench: %s: %s" % (name, status["reason"]))
    with open(result, encoding="ascii") as file:
        return float(file.read().split()[1])


def show(what, unit, digits, plain, tls):
    print("plain_%s_%s=%.*f" % (what, unit, digits, min(plain)))
    print("tls_%s_%s=%.*f" % (what, unit, digits, min(tls)))
    print("%s_ratio=%.2f" % (what, min(tls) / min(plain)), flush=True)


def main():
    with TlsServer("--runner", "none") as server:
        kept = {"plain": [], "tls": []}
        new = {"plain": [], "tls": []}
        for _ in range(ROUNDS):
            for way, connect in links(server).items():
                link = connect()
                ask(link)
                kept[way].append(median_us(KEPT, lambda: ask(link)))
                link.close()
                new[way].append(median_us(
                    NEW, lambda: on_a_new_one(connect)))
        show("kept", "us", 0, kept["plain"], kept["tls"])
        show("new", "us", 0, new["plain"], new["tls"])
        plain, tls = [], []
        for i in range(3):
            plain.append(reports_s(server, "plain%d" % i, server.http))
            tls.append(reports_s(server, "tls%d" % i, server.https, "--ca",
                                 server.ca))
        show("reports", "s", 2, plain, tls)


main()
