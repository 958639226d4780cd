"""What a backup takes from reports beside it, and how long the write-ahead log
becomes: one key=value a line. MEBIBYTES=N: length of the database (500)."""

import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import api  # noqa: E402
import backups  # noqa: E402
import fake_runner  # noqa: E402
import harness  # noqa: E402

MEBIBYTES = int(os.environ.get("MEBIBYTES", "500"))
SECONDS = 10  # of reports alone


class Reports:
    """One after the other; how long each took, and the longest log."""

    def __init__(self, server):
        self.server, self.took, self.wal, self.over = server, [], 0, False
        self.runner = fake_runner.Runner(server)
        self.attempt = self.runner.one().started()

    def run(self):
        wal = os.path.join(self.server.data, "hypertune.db-wal")
        while not self.over:
            begun = time.monotonic()
            self.attempt.report(0.5, step=len(self.took) + 1)
            self.took.append(1000 * (time.monotonic() - begun))
            if len(self.took) % 20 == 0:
                self.wal = max(self.wal, os.path.getsize(wal))

    def during(self, work):
        self.took, self.wal, self.over = [], 0, False
        thread = threading.Thread(target=self.run)
        thread.start()
        begun = time.monotonic()
        work()
        seconds = time.monotonic() - begun
        self.over = True
        thread.join()
        took = sorted(self.took)
        return (seconds, len(took) / seconds, took[len(took) // 2],
                took[int(0.99 * len(took))], took[-1], self.wal / 2**20)


def show(name, figures):
    for what, value in zip(("seconds", "reports_per_s", "p50_ms", "p99_ms",
                            "max_ms", "wal_mib"), figures):
        print("%s_%s=%.2f" % (name, what, value), flush=True)


def main():
    with harness.Server("--runner", "none") as server:
        server.call("POST", api.JOBS, api.job("s", maxTrialCount=1))
        server.stop()
        path = os.path.join(server.data, "hypertune.db")
        backups.fill(path, MEBIBYTES)
        print("database_mib=%d" % (os.path.getsize(path) >> 20))
        server.start()
        reports = Reports(server)
        show("alone", reports.during(lambda: time.sleep(SECONDS)))
        show("backup", reports.during(lambda: server.cli("backup")))


if __name__ == "__main__":
    main()
