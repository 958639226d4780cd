"""What GET /metrics takes from the hot paths: one key=value a line.

What one scrape a second takes is far below what other work on a machine does to
any figure. So rounds with RATE scrapes a second and rounds without one alternate
in the same run, the same work in each; of the ratios of neighbours, which had the
same machine, the median counts, and what it is above 1 is shared by the scrapes.
The scraper's own work is in it, too. Beside it is the processor time of one
scrape with as many series as there can be of studies."""

import os
import statistics
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402

ROUNDS = 8  # of each kind
RATE = 50  # scrapes a second
REPORTS = 40000  # of a round
SUGGESTIONS = 300  # of a round, one after the other
STUDIES, SCRAPES = 200, 200
VIZIER = harness.STUDIES[:-1]


class Scraper:
    """Asks for /metrics at that rate while it is on."""

    def __init__(self, server):
        with open(server.token_file, encoding="ascii") as file:
            token = file.read().strip()
        self.request = urllib.request.Request(
            server.http + "/metrics", headers={"Authorization":
                                               "Bearer " + token})
        self.on = threading.Event()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def once(self):
        with urllib.request.urlopen(self.request, timeout=60) as answer:
            return len(answer.read())

    def run(self):
        while not self.over.wait(1 / RATE):
            if self.on.is_set():
                self.once()

    def close(self):
        self.over.set()
        self.thread.join()


def cpu_s(server):
    """Processor time of the server's threads."""
    words = harness.read_proc(server.process.pid, "stat").decode()
    words = words.rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def show(key, value, digits):
    print("%s=%.*f" % (key, digits, value), flush=True)


def make_studies(server):
    """Open ones, each with its own series."""
    for i in range(STUDIES):
        made = server.call("POST", VIZIER, {
            "displayName": "many-%d" % i,
            "studySpec": {"algorithm": "RANDOM_SEARCH",
                          "metrics": [{"metricId": "loss",
                                       "goal": "MINIMIZE"}],
                          "parameters": [{"parameterId": "x",
                                          "doubleValueSpec": {
                                              "minValue": 0,
                                              "maxValue": 1}}]}})
        trial = server.call("POST", "/v1/" + made[1]["name"] + "/trials", {
            "parameters": [{"parameterId": "x", "value": 0.5}],
            "finalMeasurement": {"metrics": [{"metricId": "loss",
                                              "value": 1}]}})
        if made[0] != 200 or trial[0] != 200:
            sys.exit("bench: %s %s" % (made, trial))
    return made[1]["name"]


def suggest(server, study):
    """Seconds that the suggestions and their results took."""
    path = "/v1/" + study + "/trials"
    begun = time.monotonic()
    for _ in range(SUGGESTIONS):
        status, asked = server.call("POST", path + ":suggest", {
            "suggestionCount": 1, "clientId": "bench"})
        while status == 200 and not asked.get("done"):
            asked = server.get("/v1/" + asked["name"])
        trial = asked["response"]["trials"][0]["name"]
        server.call("POST", "/v1/" + trial + ":complete", {
            "finalMeasurement": {"metrics": [{"metricId": "loss",
                                              "value": 1}]}})
    return time.monotonic() - begun


def report(server, name):
    """Seconds until all reports of a trial were confirmed."""
    trainer = os.path.join(harness.bin_dir(), "..", "bench", "bench_trial")
    server.submit({
        "spec": 1, "name": name, "goal": "maximize accuracy",
        "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
        "algorithm": "random", "trials": 1, "parallel": 1, "args": "none",
        "command": [os.path.realpath(trainer), str(REPORTS),
                    os.path.join(server.folder, "result")]},
        env=dict(os.environ, PATH=harness.bin_dir() + os.pathsep +
                 os.environ["PATH"]))
    if server.wait_study(name)["state"] != "SUCCEEDED":
        sys.exit("bench: %s failed" % name)
    with open(os.path.join(server.folder, "result"), encoding="ascii") as file:
        return float(file.read().split()[1])


def take_round(scraper, scraped, work):
    """Seconds of the work."""
    if scraped:
        scraper.on.set()
    took = work()
    scraper.on.clear()
    return took


def compare(scraper, key, n, work):
    """`work`, n things a round, in rounds of both kinds."""
    plain, ratios = [], []
    for i in range(ROUNDS):
        first = i % 2 == 0  # neither kind is always the first
        pair = {kind: take_round(scraper, kind,
                                 lambda: work("%d-%d" % (i, kind)))
                for kind in (first, not first)}
        plain.append(pair[False])
        ratios.append(pair[True] / pair[False])
    ratio = statistics.median(ratios)
    show(key + "_per_s", n / statistics.median(plain), 0)
    show(key + "_time_ratio_at_%d_scrapes_per_s" % RATE, ratio, 3)
    show(key + "_time_ratio_at_1_scrape_per_s", 1 + (ratio - 1) / RATE, 4)


def measure(server, scraper):
    study = make_studies(server)
    size = scraper.once()
    before = cpu_s(server)
    for _ in range(SCRAPES):
        scraper.once()
    each_s = (cpu_s(server) - before) / SCRAPES
    show("metrics_kb", size / 1024, 1)
    show("metrics_cpu_ms", 1000 * each_s, 2)
    show("metrics_each_second_share_of_a_core", each_s, 4)
    compare(scraper, "suggestions", SUGGESTIONS,
            lambda name: suggest(server, study))
    compare(scraper, "reports", REPORTS,
            lambda name: report(server, "reports-" + name))


def main():
    with harness.Server(slots=2) as server:
        scraper = Scraper(server)
        try:
            measure(server, scraper)
        finally:
            scraper.close()


main()
