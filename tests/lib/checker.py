"""checker - does the database agree with the answers that its clients got?

    python3 tests/lib/checker.py DATA-DIR [JOURNAL...]

Clients of a test write a journal, one JSON object a line:

    {"client": "trainer-123", "call": "report", "study": 1, "trial": 3,
     "attempt": 1, "writer": null, "seq": 4, "step": 4, "value": 0.5,
     "start": MS, "end": MS, "answer": 0}

A call is written before it is made, with end and answer null, and once more
when it has returned; so a client that is killed in between leaves the first
line only. "report" with answer 0 was recorded; "flush" with answer 0 says that
the server confirmed every report of that client up to its seq. writer is null
where the client does not have it; then an attempt has one writer.
"""

import collections
import json
import os
import sqlite3
import sys

STUDY_STATES = ["RUNNING", "PAUSED", "STOPPING", "CANCELLING", "SUCCEEDED",
                "STOPPED", "FAILED", "CANCELLED", "DELETING"]
TRIAL_STATES = ["PREPARED", "REQUESTED", "ACTIVE", "STOPPING", "SUCCEEDED",
                "STOPPED", "FAILED", "INFEASIBLE", "CANCELLED", "PAUSED"]
ATTEMPT_STATES = ["STARTING", "RUNNING", "DRAINING", "ENDED"]
OF_CLIENTS = 1  # kind of the studies whose trials have no attempts
STUDY_END = {"SUCCEEDED", "STOPPED", "FAILED", "CANCELLED"}
TRIAL_END = {"SUCCEEDED", "STOPPED", "FAILED", "INFEASIBLE", "CANCELLED"}

# The state machine once more, written from its description and not from its
# code, so that a wrong table there is noticed here. "" is before creation.
ALLOWED = {
    "study": {
        "": {"RUNNING"},
        "RUNNING": {"PAUSED", "STOPPING", "CANCELLING"} | STUDY_END,
        "PAUSED": {"RUNNING", "STOPPING", "CANCELLING"} | STUDY_END,
        # A study ends once its last trial has, as what it was going to be.
        "STOPPING": {"SUCCEEDED", "STOPPED", "FAILED", "CANCELLING"},
        "CANCELLING": {"CANCELLED"},
        # More trials reopen what has ended.
        "SUCCEEDED": {"RUNNING", "DELETING"},
        "STOPPED": {"RUNNING", "DELETING"},
        "FAILED": {"RUNNING", "DELETING"},
        "CANCELLED": {"DELETING"},
    },
    "trial": {
        # A client's is made when it asks.
        "": {"REQUESTED", "ACTIVE"},
        "REQUESTED": {"ACTIVE", "STOPPED", "CANCELLED"},
        "ACTIVE": {"REQUESTED", "STOPPING"} | TRIAL_END,
        "STOPPING": {"SUCCEEDED", "STOPPED", "CANCELLED", "PAUSED"},
        "PAUSED": {"REQUESTED", "STOPPED", "CANCELLED"},
    },
    "attempt": {
        "": {"STARTING"},
        "STARTING": {"RUNNING", "DRAINING", "ENDED"},
        "RUNNING": {"DRAINING", "ENDED"},
        "DRAINING": {"ENDED"},
    },
}

# States that need no words; every other one says why it was entered.
SELF_EVIDENT = {"ACTIVE", "RUNNING", "SUCCEEDED"}

Key = collections.namedtuple("Key", "study trial attempt seq")


def read_journals(paths):
    """All whole lines; a client killed while it wrote leaves a torn one."""
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)


class Journal:
    """What the clients sent, what was recorded, what was acknowledged."""

    def __init__(self, paths):
        self.sent = {}  # Key -> (step, value)
        self.recorded = set()
        self.acked = set()
        self.calls = 0
        self.clients = collections.defaultdict(set)  # of each attempt
        reports = collections.defaultdict(set)
        for entry in read_journals(paths):
            self.calls += entry["end"] is not None
            who = (entry["client"], entry["study"], entry["trial"],
                   entry["attempt"])
            key = Key(*who[1:], entry["seq"])
            self.clients[who[1:]].add(entry["client"])
            if entry["call"] == "report":
                self.sent[key] = (entry["step"], entry["value"])
                reports[who].add(key)
                if entry["answer"] == 0:
                    self.recorded.add(key)
            elif entry["call"] == "flush" and entry["answer"] == 0:
                self.acked |= {k for k in reports[who] if k.seq <= key.seq}


def open_database(data_dir):
    path = os.path.join(data_dir, "hypertune.db")
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    db.row_factory = sqlite3.Row
    # A study that is being deleted loses its rows part by part.
    for table in ("studies", "trials", "attempts", "measurements", "writers",
                  "events", "trial_counts"):
        db.execute(
            "CREATE TEMP VIEW {0} AS SELECT * FROM main.{0} WHERE {1} NOT IN"
            " (SELECT id FROM main.studies WHERE state = 8)".format(
                table, "id" if table == "studies" else "study"))
    return db


def show(keys, most=5):
    keys = sorted(keys)
    more = " and %d more" % (len(keys) - most) if len(keys) > most else ""
    return ", ".join("%d/%d/%d#%d" % key for key in keys[:most]) + more


def check_reports(db, journal, power_cut, faults):
    """What a trainer recorded is in a file, which a power cut may lose as long
    as the attempt has not ended."""
    recorded = journal.recorded
    if power_cut:
        ended = {tuple(row) for row in db.execute(
            "SELECT study, trial, n FROM attempts WHERE winner = 1")}
        recorded = {key for key in recorded if key[:3] in ended}
    stored = {}
    for row in db.execute("SELECT study, trial, attempt, writer, seq, step,"
                          " metrics FROM measurements WHERE writer <> 0"):
        key = Key(row["study"], row["trial"], row["attempt"], row["seq"])
        if key in stored:
            faults.append("stored twice: %s" % show([key]))
        stored[key] = (row["step"], list(json.loads(row["metrics"]).values()))
    for what, keys in [
            ("acknowledged but not stored", journal.acked - stored.keys()),
            ("recorded but never delivered", recorded - stored.keys()),
            ("stored but never sent", stored.keys() - journal.sent.keys())]:
        if keys:
            faults.append("%s: %s" % (what, show(keys)))
    for key in stored.keys() & journal.sent.keys():
        step, value = journal.sent[key]
        if stored[key] != (step, [value]):
            faults.append("%s was sent as %r, stored as %r" %
                          (show([key]), (step, [value]), stored[key]))


def check_clients(journal, faults):
    """The number of an attempt is given once, to one process of this test."""
    for attempt, clients in journal.clients.items():
        if len(clients) > 1:
            faults.append("attempt %d/%d/%d was given to %s" % (
                *attempt, " and ".join(sorted(clients))))


def check_writers(db, faults):
    for row in db.execute(
            "SELECT w.study, w.trial, w.attempt, w.have, count(m.seq) AS n"
            " FROM writers w LEFT JOIN measurements m"
            " ON m.study = w.study AND m.trial = w.trial AND"
            " m.attempt = w.attempt AND m.replica = w.replica AND"
            " m.writer = w.writer AND m.seq <= w.have"
            " WHERE w.writer <> 0 GROUP BY w.study, w.trial, w.attempt,"
            " w.replica, w.writer HAVING n <> w.have"):
        faults.append("%d/%d/%d: a writer has a count of %d stored records,"
                      " %d are" % tuple(row))


REFERENCES = (("trials", "id", "latest"), ("attempts", "trial", "last"),
              ("attempts", "trial", "best"), ("events", "trial", "record"))


def check_references(db, faults):
    """The only copy of a record is where others look for it."""
    for table, trial, name in REFERENCES:
        for row in db.execute(
                "SELECT t.study, t.{1} FROM {0} t LEFT JOIN measurements m"
                " ON m.study = t.study AND m.trial = t.{1} AND"
                " m.attempt = t.{2}_attempt AND m.replica = t.{2}_replica AND"
                " m.writer = t.{2}_writer AND m.seq = t.{2}_seq"
                " WHERE t.{2}_seq IS NOT NULL AND m.seq IS NULL".format(
                    table, trial, name)):
            faults.append("%s of trial %d/%d name a record that is not there" %
                          (table, *row))


def check_winners(db, faults):
    for row in db.execute(
            "SELECT t.study, t.id, t.state, coalesce(sum(a.winner), 0) AS n"
            " FROM trials t LEFT JOIN attempts a"
            " ON a.study = t.study AND a.trial = t.id"
            " JOIN studies s ON s.id = t.study AND s.kind <> %d"
            " GROUP BY t.study, t.id" % OF_CLIENTS):
        state = TRIAL_STATES[row["state"]]
        if row["n"] > 1 or (state == "SUCCEEDED" and row["n"] != 1):
            faults.append("trial %d/%d is %s with %d winners" %
                          (row["study"], row["id"], state, row["n"]))


def check_events(db, faults):
    """Revisions without gaps, allowed moves only, each from where the last
    one ended, and the last one into the state that the row has."""
    states, revisions = {}, collections.defaultdict(int)
    for row in db.execute("SELECT * FROM events ORDER BY study, revision"):
        study = row["study"]
        if row["revision"] != revisions[study] + 1:
            faults.append("study %d: revision %d follows %d" %
                          (study, row["revision"], revisions[study]))
        revisions[study] = row["revision"]
        thing, _, verb = row["kind"].partition(".")
        if thing not in ALLOWED or verb not in ("created", "moved"):
            continue
        name = {"study": (study,), "trial": (study, row["trial"]),
                "attempt": (study, row["trial"], row["attempt"])}[thing]
        before, after = row["from"], row["to"]
        if after not in ALLOWED[thing].get(before, ()):
            faults.append("%s %s moved from %r to %r" %
                          (thing, name, before, after))
        if before != states.get((thing,) + name, ""):
            faults.append("%s %s moved from %s and was %s" % (
                thing, name, before, states.get((thing,) + name, "not made")))
        if after not in SELF_EVIDENT and not row["reason"]:
            faults.append("%s %s moved to %s without a reason" %
                          (thing, name, after))
        states[(thing,) + name] = after
    for row in db.execute("SELECT id, revision FROM studies"):
        if row["revision"] != revisions[row["id"]]:
            faults.append("study %d has revision %d and %d events" %
                          (row["id"], row["revision"], revisions[row["id"]]))
    return states


def check_states(db, states, faults):
    rows = [(("study", row["id"]), STUDY_STATES[row["state"]])
            for row in db.execute("SELECT id, state FROM studies")]
    rows += [(("trial", row["study"], row["id"]), TRIAL_STATES[row["state"]])
             for row in db.execute("SELECT study, id, state FROM trials"
                                   " WHERE state <> 0")]
    rows += [(("attempt", row["study"], row["trial"], row["n"]),
              ATTEMPT_STATES[row["state"]])
             for row in db.execute("SELECT study, trial, n, state"
                                   " FROM attempts")]
    for name, state in rows:
        if states.get(name) != state:
            faults.append("%s %s is %s, its events say %s" %
                          (name[0], name[1:], state, states.get(name)))


def check_counts(db, faults):
    counted = {(row["study"], row["state"]): row["n"] for row in db.execute(
        "SELECT study, state, n FROM trial_counts WHERE n <> 0")}
    real = {(row["study"], row["state"]): row["n"] for row in db.execute(
        "SELECT study, state, count(*) AS n FROM trials"
        " GROUP BY study, state")}
    if counted != real:
        faults.append("trial_counts say %s, trials say %s" % (counted, real))
    for row in db.execute("SELECT study, params, replicate FROM trials GROUP BY"
                          " study, params, replicate HAVING count(*) > 1"):
        faults.append("study %d tried %s twice" % (row["study"], row["params"]))
    for row in db.execute(
            "SELECT t.study, t.id, t.attempt, count(a.n) AS n,"
            " coalesce(max(a.n), 0) AS top FROM trials t LEFT JOIN attempts a"
            " ON a.study = t.study AND a.trial = t.id GROUP BY t.study, t.id"
            " HAVING n <> t.attempt OR top <> t.attempt"):
        faults.append("trial %d/%d counts %d attempts and has %d up to %d" %
                      tuple(row))


def check_answers(db, answers, faults):
    """What the server said of each study by name, while it still ran."""
    for row in db.execute("SELECT id, name FROM studies"):
        real = dict.fromkeys(map(str.lower, TRIAL_STATES[1:]), 0)
        for state, n in db.execute(
                "SELECT state, count(*) FROM trials WHERE study = ? AND"
                " state <> 0 GROUP BY state", (row["id"],)):
            real[TRIAL_STATES[state].lower()] = n
        real["failed"] += real["infeasible"]
        if answers.get(row["name"]) != real:
            faults.append("study %s has %s, the server said %s" % (
                row["name"], real, answers.get(row["name"])))


def check_ended(db, faults):
    for row in db.execute("SELECT study, trial, n, state FROM attempts"
                          " WHERE state <> 3"):
        faults.append("attempt %d/%d/%d is still %s" % (
            row["study"], row["trial"], row["n"],
            ATTEMPT_STATES[row["state"]]))
    for row in db.execute("SELECT study, id, state FROM trials"
                          " WHERE state IN (1, 2, 3, 9)"):
        faults.append("trial %d/%d is still %s" % (
            row["study"], row["id"], TRIAL_STATES[row["state"]]))


def leftovers(data_dir):
    """Pids of processes that a trial under data_dir has left running."""
    mark = b"HYPERTUNE_TRIAL_DIR=" + os.fsencode(os.path.realpath(data_dir))
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                variables = file.read().split(b"\0")
        except OSError:
            continue  # it has just ended, or is someone else's
        if any(v == mark or v.startswith(mark + b"/") for v in variables):
            found.append(int(pid))
    return found


def check(data_dir, journals=None, is_over=True, power_cut=False,
          answers=None):
    """Returns (figures, faults) of a server's data directory; is_over: its
    studies have all ended; power_cut: not only programs were killed; answers:
    counts that the server gave of each study. Without journals the reports are
    only counted."""
    faults = []
    journal = Journal(journals or [])
    db = open_database(data_dir)
    if journals is not None:
        check_reports(db, journal, power_cut, faults)
        check_clients(journal, faults)
    check_writers(db, faults)
    check_references(db, faults)
    check_winners(db, faults)
    check_states(db, check_events(db, faults), faults)
    check_counts(db, faults)
    if answers is not None:
        check_answers(db, answers, faults)
    if is_over:
        check_ended(db, faults)
    left = leftovers(data_dir)
    if left:
        faults.append("left running: %s" % left)
    figures = {
        "calls": journal.calls,
        "sent": len(journal.sent),
        "recorded": len(journal.recorded),
        "acked": len(journal.acked),
        "stored": db.execute("SELECT count(*) FROM measurements"
                             " WHERE writer <> 0").fetchone()[0],
        "trials": db.execute("SELECT count(*) FROM trials"
                             " WHERE state <> 0").fetchone()[0],
        "attempts": db.execute("SELECT count(*) FROM attempts").fetchone()[0],
        "events": db.execute("SELECT count(*) FROM events").fetchone()[0],
        "leftovers": len(left),
    }
    db.close()
    return figures, faults


def stop_and_check(server, journals=None, is_over=True, power_cut=False):
    """The same of a harness.Server that runs, and of what it answers."""
    answers = None
    if is_over:
        answers = {study["hypertuneStatus"]["name"]:
                   study["hypertuneStatus"]["counts"]
                   for study in server.pages(
                       "/hypertune/v1/studies?pageSize=100", "studies")}
    code = server.stop()
    figures, faults = check(server.data, journals, is_over, power_cut, answers)
    if code != 0:
        faults.append("the server ended with %d" % code)
    return figures, faults


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: checker.py DATA-DIR [JOURNAL...]")
    figures, faults = check(sys.argv[1], sys.argv[2:] or None)
    print(" ".join("%s=%d" % item for item in figures.items()))
    for fault in faults:
        print("fault: " + fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
