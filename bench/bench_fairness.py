"""A modest client beside ten greedy ones, one key=value a line.

    bench_fairness.py BIN-DIR [SECONDS]

The modest one asks for its study, for a suggestion, and reports a result, each
every 100 ms. It does so on a quiet server; on a server without other clients
beside as many busy threads as were found running with the greedy ones; and
beside the greedy ones: ten principals, each with requests of all expensive kinds
at once, each asked again when it was answered.

WHAT_quiet_ms, _busy_ms, _loud_ms   medians of get, suggest and report
WHAT_quiet_p99_ms, ...              of 100 the slowest but one
WHAT_loud_to_busy                   the last median by the one before
WHAT_loud_to_busy_p99               the same of the slowest but one
greedy_answers_per_s                that the greedy ones got, refusals too
greedy_refused_share                of them 429
refused_without_retry_after         of those; 0 is right
threads_running                     of server and greedy clients, a mean
"""

import http.client
import json
import multiprocessing
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "api"))
import api  # noqa: E402
import harness  # noqa: E402
import long_log  # noqa: E402
import vizier  # noqa: E402

GREEDY, TRIALS, CURVE, LINES = 10, 150, 1000, 100000
# Together more than the budget `questions`.
MODELS, AT_ONCE = ("preview?count=100", "replay", "importances"), 24
EVERY_S = 0.1
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 15


class Link:
    """One connection of a principal; it is made anew when it was ended."""

    def __init__(self, address, secret):
        self.headers = {"Authorization": "Bearer " + secret,
                        "Content-Type": "application/json"}
        self.link = http.client.HTTPConnection(*address, timeout=120)

    def ask(self, method, path, body=None):
        """The answer's status, its Retry-After, and its text."""
        data = None if body is None else json.dumps(body)
        self.link.request(method, path, data, self.headers)
        answer = self.link.getresponse()
        return answer.status, answer.getheader("Retry-After"), answer.read()


# --- the greedy ones ---

def kinds(study, large):
    """Requests of all expensive kinds."""
    ours = api.OURS + "/studies/%s/" % study
    return [
        ("POST", vizier.STUDIES + "/%s/trials:suggest" % study,
         {"suggestionCount": 1000, "clientId": "greedy"}),
        *[("GET", ours + what, None) for what in MODELS] * AT_ONCE,
        ("POST", "/v2/entries:list", {
            "resourceNames": ["projects/local"], "pageSize": 1000,
            "filter": 'textPayload:"no such text"'}),
        ("GET", api.OURS + "/studies/%s/measurements?trial=1" % large, None),
        ("GET", vizier.STUDIES + "/%s/trials?pageSize=1000" % study, None),
        ("GET", api.OURS + "/studies?pageSize=1000", None)]


def ask_again(address, secret, request, until, found):
    link = Link(address, secret)
    while time.monotonic() < until.value:
        try:
            status, wait, _ = link.ask(*request)
        except (OSError, http.client.HTTPException):
            link = Link(address, secret)
            continue
        found.append((status, wait))
        if status == 429:
            time.sleep(float(wait or 1))


def be_greedy(address, all_requests, until, out):
    found = []
    threads = [threading.Thread(target=ask_again, args=(
        address, secret, request, until, found))
        for secret, request in all_requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [wait for status, wait in found if status == 429]
    out.put((len(found), len(refused), refused.count(None)))


# --- the modest one ---

def ask_modestly(link, path):
    """Milliseconds of each kind."""
    took = {"get": [], "suggest": [], "report": []}

    def ask(what, *request):
        begin = time.monotonic()
        status, _, text = link.ask(*request)
        took[what].append(1e3 * (time.monotonic() - begin))
        if status != 200:
            sys.exit("bench: %s: %d %s" % (what, status, text))
        return json.loads(text)

    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        next_s = time.monotonic() + EVERY_S
        ask("get", "GET", path)
        given = ask("suggest", "POST", path + "/trials:suggest",
                    {"suggestionCount": 1, "clientId": "modest"})
        trial, = given["response"]["trials"]
        ask("report", "POST", "/v1/%s:complete" % trial["name"],
            {"finalMeasurement": vizier.measured(0.5)})
        time.sleep(max(0, next_s - time.monotonic()))
    return took


def running(pids):
    """Threads of these processes that run or could."""
    n = 0
    for pid in pids:
        for thread in os.listdir("/proc/%d/task" % pid):
            stat = harness.read_proc(pid, "task/%s/stat" % thread)
            n += stat.rsplit(b")", 1)[-1].split()[:1] == [b"R"]
    return n


def spin():
    while True:
        pass


def beside_busy_threads(count, work):
    burners = [multiprocessing.Process(target=spin) for _ in range(count)]
    for burner in burners:
        burner.start()
    try:
        return work()
    finally:
        for burner in burners:
            burner.kill()
            burner.join()


def beside_greedy(server, requests, work):
    """What work() gives, what the greedy ones got, and the running threads."""
    until = multiprocessing.Value("d", time.monotonic() + 3600)
    out = multiprocessing.Queue()
    greedy = multiprocessing.Process(target=be_greedy, args=(
        api.address(server), requests, until, out))
    greedy.start()
    seen, over = [], threading.Event()

    def look():
        while not over.wait(0.05):
            seen.append(running([server.process.pid, greedy.pid]))
    looking = threading.Thread(target=look)
    looking.start()
    time.sleep(2)
    done = work()
    over.set()
    looking.join()
    until.value = 0
    got = out.get()
    greedy.join()
    return done, got, sum(seen) / len(seen)


# --- the studies ---

def token(server, name):
    status, answer = server.call("POST", api.OURS + "/tokens",
                                 {"name": name, "role": "submit"})
    assert status == 200, answer
    return answer["secret"]


def number(study):
    return study.name.rsplit("/", 1)[1]


def prepare(server):
    """Requests of the greedy ones, each with its secret."""
    large = vizier.Study(server)
    curve = large.one()
    for step in range(CURVE):
        large.good("POST", curve + ":addTrialMeasurement",
                   {"measurement": vizier.measured(1 / (1 + step), step)})
    made = []
    for i in range(GREEDY):
        study = vizier.Study(server, vizier.X, vizier.LAYERS,
                             algorithm="ALGORITHM_UNSPECIFIED")
        for trial in range(TRIALS):
            study.add({"x": trial / TRIALS, "layers": 1 + trial % 4},
                      finalMeasurement=vizier.measured(
                          (trial / TRIALS - 0.3) ** 2))
        secret = token(server, "greedy%d" % i)
        made += [(secret, request)
                 for request in kinds(number(study), number(large))]
    server.stop()
    long_log.write(server, int(number(large)), LINES, 100)
    server.start()
    return made


def middle(took, share):
    return sorted(took)[min(len(took) - 1, int(len(took) * share))]


def main():
    with harness.Server("--runner", "none") as server:
        requests = prepare(server)
        link = Link(api.address(server), token(server, "modest"))
        study = vizier.Study(server)

        def work():
            return ask_modestly(link, study.path)
        quiet = work()
        loud, (answers, refused, silent), threads = beside_greedy(
            server, requests, work)
        busy = beside_busy_threads(max(1, round(threads)), work)
    for what in quiet:
        for name, share in (("", 0.5), ("_p99", 0.99)):
            found = [middle(rounds[what], share)
                     for rounds in (quiet, busy, loud)]
            for how, value in zip(("quiet", "busy", "loud"), found):
                print("%s_%s%s_ms=%.2f" % (what, how, name, value))
            print("%s_loud_to_busy%s=%.2f" % (what, name,
                                              found[2] / found[1]))
    print("greedy_answers_per_s=%.1f" % (answers / (SECONDS + 2)))
    print("greedy_refused_share=%.3f" % (refused / max(1, answers)))
    print("refused_without_retry_after=%d" % silent)
    print("threads_running=%.1f" % threads)


main()
