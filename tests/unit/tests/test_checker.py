"""The checker of crash tests must see each kind of damage."""

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile

import checker
import harness
import tap

SCHEMA = """
CREATE TABLE studies(id INTEGER PRIMARY KEY, state INTEGER, revision INTEGER,
                     kind INTEGER, name TEXT);
CREATE TABLE trial_counts(study INTEGER, state INTEGER, n INTEGER);
CREATE TABLE trials(study INTEGER, id INTEGER, state INTEGER, params TEXT,
                    replicate INTEGER, attempt INTEGER);
CREATE TABLE attempts(study INTEGER, trial INTEGER, n INTEGER, state INTEGER,
                      winner INTEGER);
CREATE TABLE measurements(study INTEGER, trial INTEGER, attempt INTEGER,
                          replica TEXT, writer INTEGER, seq INTEGER,
                          step INTEGER, metrics TEXT);
CREATE TABLE writers(study INTEGER, trial INTEGER, attempt INTEGER,
                     replica TEXT, writer INTEGER, have INTEGER);
CREATE TABLE events(study INTEGER, revision INTEGER, kind TEXT, trial INTEGER,
                    attempt INTEGER, "from" TEXT, "to" TEXT, reason TEXT);
INSERT INTO studies VALUES(1, 4, 8, 0, 'mine');
INSERT INTO trial_counts VALUES(1, 4, 1), (1, 2, 0);
INSERT INTO trials VALUES(1, 1, 4, '{"x":1}', 0, 1);
INSERT INTO attempts VALUES(1, 1, 1, 3, 1);
INSERT INTO measurements VALUES
    (1, 1, 1, 'master-0', 99, 1, 1, '{"accuracy":0.5}'),
    (1, 1, 1, 'master-0', 99, 2, 2, '{"accuracy":0.75}');
INSERT INTO writers VALUES(1, 1, 1, 'master-0', 99, 2);
INSERT INTO events VALUES
    (1, 1, 'study.created', 0, 0, '', 'RUNNING', 'submitted'),
    (1, 2, 'trial.created', 1, 0, '', 'REQUESTED', 'waits'),
    (1, 3, 'attempt.moved', 1, 1, '', 'STARTING', 'leased'),
    (1, 4, 'trial.moved', 1, 0, 'REQUESTED', 'ACTIVE', 'leased'),
    (1, 5, 'attempt.moved', 1, 1, 'STARTING', 'DRAINING', 'exit 0'),
    (1, 6, 'attempt.moved', 1, 1, 'DRAINING', 'ENDED', 'exit 0'),
    (1, 7, 'trial.moved', 1, 0, 'ACTIVE', 'SUCCEEDED', 'exit 0'),
    (1, 8, 'study.moved', 0, 0, 'RUNNING', 'SUCCEEDED', 'all trials ended');
""" + "".join(
    "ALTER TABLE {0} ADD COLUMN {1}_attempt; ALTER TABLE {0} ADD COLUMN"
    " {1}_replica; ALTER TABLE {0} ADD COLUMN {1}_writer; ALTER TABLE {0}"
    " ADD COLUMN {1}_seq; UPDATE {0} SET {1}_attempt=1,"
    " {1}_replica='master-0', {1}_writer=99, {1}_seq=1"
    " WHERE {2}=1;".format(table, name, trial)
    for table, trial, name in checker.REFERENCES)


def entry(call, seq, answer, value=None):
    return {"client": "t", "call": call, "study": 1, "trial": 1, "attempt": 1,
            "writer": None, "seq": seq, "step": seq, "value": value,
            "start": 0, "end": None if answer is None else 1,
            "answer": answer}


JOURNAL = [entry("report", 1, None, 0.5), entry("report", 1, 0, 0.5),
           entry("report", 2, None, 0.75), entry("report", 2, 0, 0.75),
           entry("flush", 2, None), entry("flush", 2, 0)]


def faults_after(damage="", journal=JOURNAL, answers=None):
    folder = tempfile.mkdtemp()
    try:
        db = sqlite3.connect(os.path.join(folder, "hypertune.db"))
        db.executescript(SCHEMA + damage)
        db.close()
        path = os.path.join(folder, "journal")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(item) + "\n" for item in journal)
            file.write('{"client": "t", "ca')  # killed while it wrote
        return checker.check(folder, [path], answers=answers)[1]
    finally:
        shutil.rmtree(folder)


def notices(damage, words, journal=JOURNAL):
    faults = faults_after(damage, journal)
    if not any(words in fault for fault in faults):
        raise AssertionError("no %r in %r" % (words, faults))


def a_sound_database_has_no_faults():
    tap.equal(faults_after(), [])


def a_record_that_others_name_must_be_there():
    for table, _, name in checker.REFERENCES:
        notices("UPDATE %s SET %s_seq = 9" % (table, name),
                "%s of trial 1/1 name a record that is not there" % table)


def a_lost_report_is_noticed():
    notices("DELETE FROM measurements WHERE seq = 2; UPDATE writers SET have=1",
            "acknowledged but not stored: 1/1/1#2")


def a_report_that_was_recorded_must_arrive_without_an_answer_too():
    notices("DELETE FROM measurements WHERE seq = 2; UPDATE writers SET have=1",
            "recorded but never delivered: 1/1/1#2", JOURNAL[:4])


def a_report_cut_off_by_a_kill_may_be_stored_or_not():
    tap.equal(faults_after(journal=JOURNAL[:3]), [])
    tap.equal(faults_after("DELETE FROM measurements WHERE seq = 2;"
                           "UPDATE writers SET have = 1", JOURNAL[:3]), [])


def a_report_without_a_sender_is_noticed():
    notices("", "stored but never sent: 1/1/1#2", JOURNAL[:2])


def a_doubled_report_is_noticed():
    notices("INSERT INTO measurements VALUES(1, 1, 1, 'master-0', 98, 2, 2,"
            " '{\"accuracy\":0.75}')", "stored twice: 1/1/1#2")


def a_changed_value_is_noticed():
    notices("UPDATE measurements SET metrics = '{\"accuracy\":0.7}'"
            " WHERE seq = 2", "1/1/1#2 was sent as (2, [0.75])")


def a_writer_with_too_high_a_count_is_noticed():
    notices("UPDATE writers SET have = 3", "a count of 3 stored records")


def a_second_winner_is_noticed():
    notices("INSERT INTO attempts(study, trial, n, state, winner)"
            " VALUES(1, 1, 2, 3, 1)",
            "is SUCCEEDED with 2 winners")


def a_success_without_winner_is_noticed():
    notices("UPDATE attempts SET winner = 0", "is SUCCEEDED with 0 winners")


def a_gap_in_the_revisions_is_noticed():
    notices("DELETE FROM events WHERE revision = 5", "revision 6 follows 4")


def a_revision_without_event_is_noticed():
    notices("UPDATE studies SET revision = 9", "has revision 9 and 8 events")


def an_illegal_move_is_noticed():
    notices("UPDATE events SET \"from\" = 'ENDED', \"to\" = 'RUNNING'"
            " WHERE revision = 6", "moved from 'ENDED' to 'RUNNING'")


def a_move_from_another_state_is_noticed():
    notices("UPDATE events SET \"from\" = 'RUNNING' WHERE revision = 6",
            "moved from RUNNING and was DRAINING")


def a_move_without_a_reason_is_noticed():
    notices("UPDATE events SET reason = '' WHERE revision = 6",
            "moved to ENDED without a reason")


def a_state_without_its_event_is_noticed():
    notices("UPDATE trials SET state = 6; UPDATE trial_counts SET state = 6"
            " WHERE n = 1", "is FAILED, its events say SUCCEEDED")


def a_wrong_count_is_noticed():
    notices("UPDATE trial_counts SET n = 2 WHERE n = 1", "trial_counts say")


def an_answer_with_another_count_is_noticed():
    counts = dict.fromkeys(map(str.lower, checker.TRIAL_STATES[1:]), 0)
    counts["succeeded"] = 1
    tap.equal(faults_after(answers={"mine": counts}), [])
    counts["succeeded"] = 2
    tap.contains("the server said {", str(faults_after(
        answers={"mine": counts})))


def an_attempt_that_two_processes_got_is_noticed():
    notices("", "attempt 1/1/1 was given to t and u",
            JOURNAL + [dict(entry("flush", 2, None), client="u")])


def a_point_tried_twice_is_noticed():
    notices("INSERT INTO trials(study, id, state, params, replicate, attempt)"
            " VALUES(1, 2, 4, '{\"x\":1}', 0, 0)",
            "tried {\"x\":1} twice")


def a_missing_attempt_is_noticed():
    notices("UPDATE trials SET attempt = 2", "counts 2 attempts and has 1")


def an_attempt_that_never_ended_is_noticed():
    notices("UPDATE attempts SET state = 1", "attempt 1/1/1 is still RUNNING")


def a_process_left_running_is_noticed():
    folder = tempfile.mkdtemp()
    env = dict(os.environ, HYPERTUNE_TRIAL_DIR=folder + "/runs/1/1/1/master-0")
    child = subprocess.Popen(["sleep", "60"], env=env)
    # In the middle of an exec a process has no environment yet.
    harness.wait_until(lambda: harness.read_proc(child.pid, "environ"),
                       "its environment")
    try:
        tap.equal(checker.leftovers(folder), [child.pid])
        tap.equal(checker.leftovers(folder[:-1]), [])
    finally:
        child.kill()
        child.wait()
        shutil.rmtree(folder)
    tap.equal(checker.leftovers(folder), [])


tap.run([case for name, case in list(globals().items())
         if name.startswith(("a_", "an_")) and callable(case)])
