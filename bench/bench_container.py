"""bench_container - what the service adds to the start of a container: the time
from an attempt's lease to the first instruction of its trainer, against the
time from /containers/create to the first instruction of a bare container of the
same image, one after the other, in turns.

    HT_DOCKER_HOSTS="unix:///run/docker.sock" python3 bench/bench_container.py \
        BIN-DIR

One line for each engine and kind of network; times are medians in ms. With a
private network the bare container has one made for it, too. ROUNDS (default 15)
is the number of pairs."""

import contextlib
import os
import re
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import engines  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "15"))
IMAGE = engines.PYTHON
# The clock that has fractions of a second in every image.
SAY_WHEN = ["python3", "-S", "-c", "import time; print('score=%.6f' % "
                                   "time.time())"]


def bare(engine, network):
    """Seconds from the first call to the first instruction."""
    name = "bench-%d" % os.getpid()
    begin = time.time()
    if network != "none":
        engine.call("POST", "/networks/create", {"Name": name,
                                                 "Driver": "bridge"})
    engine.call("POST", "/containers/create?name=" + name, {
        "Image": IMAGE, "Cmd": SAY_WHEN, "Tty": True,
        "HostConfig": {"NetworkMode": "none" if network == "none" else name}})
    engine.call("POST", "/containers/%s/start" % name)
    engine.call("POST", "/containers/%s/wait" % name)
    _, said = engine.send("GET", "/containers/%s/logs?stdout=1" % name)
    engine.remove(name)
    if network != "none":
        engine.send("DELETE", "/networks/" + name)
    return float(re.search(rb"score=([0-9.]+)", said).group(1)) - begin


def trial(server, name, network):
    given = engines.spec(name, SAY_WHEN, IMAGE)
    if network == "none":
        given["container"] = {"network": "none"}
    found = server.run(given)
    server.expect_nothing_left()
    return found["objective"] - found["attempts"][0]["createTimeMs"] / 1000


def measure(server, network):
    pairs = []
    for number in range(ROUNDS):
        pairs.append((bare(server.engine, network),
                      trial(server, "%s-%d" % (network, number), network)))
    alone, ours = (statistics.median(times) * 1000 for times in zip(*pairs))
    print("engine=%s network=%s bare_ms=%.0f trial_ms=%.0f ratio=%.3f" % (
        server.engine.name, network, alone, ours, ours / alone))


def main():
    for engine in engines.here():
        with contextlib.closing(engines.Server(engine, slots=1)) as server:
            server.start()
            for network in ("none", "private"):
                measure(server, network)


main()
