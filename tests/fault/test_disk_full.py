"""The disk of the data directory is full: changes are refused, reading
continues, and nothing that was confirmed is missing once there is room again.
HYPERTUNE_FILLS: how often it is filled, by default 5 times."""

import os
import threading

import api
import checker
import fake_runner
import harness
import tap
from small_disk import SmallDisk

CYCLES = int(os.environ.get("HYPERTUNE_FILLS", "5"))


def create(server, name):
    return api.send(server, "POST", api.JOBS, api.job(name, maxTrialCount=1))


def one_cycle(server, disk, number, confirmed):
    disk.fill()
    refused = None
    for i in range(50):
        answer = create(server, "full-%d-%d" % (number, i))
        if answer.status == 200:
            confirmed.append("full-%d-%d" % (number, i))
            continue
        refused = answer
        tap.equal((answer.status, answer.headers["retry-after"]), (503, "1"))
        tap.contains("disk", answer.error()["message"], answer.body)
    tap.true(refused is not None, "a refusal")
    for name in confirmed:
        tap.equal(server.study(name)["name"], name)
    disk.free()
    name = "after-%d" % number
    harness.wait_until(lambda: create(server, name).status == 200, "recovery")
    confirmed.append(name)


def a_full_disk_refuses_changes_until_there_is_room():
    with SmallDisk() as disk:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        server = harness.Server("--runner", "none")
        server.data = os.path.join(disk.path, "data")
        with server:
            confirmed = []
            for number in range(CYCLES):
                one_cycle(server, disk, number, confirmed)
            server.kill()
            server.start()
            for name in confirmed:
                server.study(name)
            tap.equal(checker.stop_and_check(server, is_over=False)[1], [])


def small_server(disk):
    """It warns below half of the disk, and keeps a quarter for what runs."""
    if not disk.mounted:
        raise tap.Skip("may not mount")
    server = harness.Server("--runner", "none", "--budget",
                            "disk-warning=50,disk-reserve=25")
    server.data = os.path.join(disk.path, "data")
    return server


def disk_of(server):
    return server.call("GET", api.OURS + "/server")[1]["disk"]


def alarm_of(server):
    text = api.ask(server, "GET", "/metrics").body.decode()
    return [line.split()[1] for line in text.splitlines()
            if line.startswith("hypertune_disk_alarm ")]


def below_the_reserve_running_trials_continue_and_none_begins():
    with SmallDisk(64) as disk, small_server(disk) as server:
        tap.equal(alarm_of(server), ["0"])
        tap.equal(api.send(server, "POST", api.JOBS, api.job(
            "long", maxTrialCount=3, parallelTrialCount=3)).status, 200)
        with fake_runner.Runner(server) as runner:
            running = runner.one()
            disk.fill_but(0.4)
            tap.contains("below 25 %", disk_of(server)["alarm"])
            tap.equal((disk_of(server)["reserved"], alarm_of(server)),
                      (False, ["1"]))
            disk.free()
            disk.fill_but(0.2)
            tap.equal((disk_of(server)["reserved"], alarm_of(server)),
                      (True, ["2"]))
            running.started().report(0.5)
            waiting = threading.Thread(target=lambda: found.append(
                runner.one()))
            found = []
            waiting.start()
            harness.wait_until(lambda: "state=reserved" in server.log_text(),
                               "the poll is held")
            tap.equal(found, [])
            disk.free()
            waiting.join()
            tap.equal(len(found), 1)
            running.ended("succeeded", exit=0)


def warnings_of(server, study):
    events = server.get(api.OURS + "/studies/%s/events" % study)["events"]
    return [event["reason"] for event in events
            if event["kind"] == "study.warned"]


def alarms(server, study, runner):
    """What tells of the disk: list, its JSON, doctor, and the study's reason.
    On a slow machine that takes longer than a runner may be silent."""
    told = []
    for words in (["list"], ["list", "-o", "json"], ["doctor"]):
        done = server.cli(*words, check=words != ["doctor"])
        told.append(done.stdout if words == ["doctor"] else done.stderr)
        runner.beat()
    return (["disk of the data folder" in text for text in told] +
            ["disk" in server.study(study)["reason"]])


def the_alarm_is_seen_everywhere_and_clears_itself():
    with SmallDisk(64) as disk, small_server(disk) as server:
        api.send(server, "POST", api.JOBS, api.job(
            "long", maxTrialCount=3, parallelTrialCount=3))
        with fake_runner.Runner(server) as runner:
            running = runner.one().started()
            tap.equal(alarms(server, "long", runner), [False] * 4)
            disk.fill_but(0.4)  # a warning: trials begin
            tap.equal(alarms(server, "long", runner), [True, True, True, False])
            tap.equal(warnings_of(server, "long"), [])
            disk.free()
            disk.fill_but(0.2)
            harness.wait_until(
                lambda: runner.beat() and
                server.study("long")["reason"] == "no new trials "
                "while the disk of the server is nearly full, 1 still run",
                "the reason")
            tap.equal(alarms(server, "long", runner), [True] * 4)
            disk.free()
            harness.wait_until(lambda: runner.beat() and "disk" not in
                               server.study("long")["reason"], "the end")
            tap.equal(alarms(server, "long", runner), [False] * 4)
            tap.equal(warnings_of(server, "long"),
                      ["no new trials while the disk of the server is nearly "
                       "full", "the disk of the server has room again: new "
                       "trials begin"])
            running.ended("succeeded", exit=0)


def clients_get_no_suggestion_below_the_reserve():
    with SmallDisk(64) as disk, small_server(disk) as server:
        study = server.call("POST", api.STUDIES, {
            "displayName": "mine", "studySpec": {
                "metrics": [{"metricId": "a", "goal": "MAXIMIZE"}],
                "algorithm": "RANDOM_SEARCH", "parameters": [
                    {"parameterId": "x", "doubleValueSpec": {
                        "minValue": 0, "maxValue": 1}}]}})[1]["name"]
        asked = ("POST", "/v1/%s/trials:suggest" % study,
                 {"suggestionCount": 1, "clientId": "me"})
        trial = server.call(*asked)[1]["response"]["trials"][0]["name"]
        disk.fill_but(0.2)
        # The client's own trial again, but no new one.
        tap.equal(server.call(*asked)[0], 200)
        harness.wait_until(lambda: disk_of(server)["reserved"], "the alarm")
        tap.equal(server.call("POST", "/v1/%s:complete" % trial, {
            "finalMeasurement": {"metrics": [{"metricId": "a",
                                              "value": 1}]}})[0], 200)
        status, answer = server.call(*asked)
        tap.equal(status, 503)
        tap.contains("no new trials begin", answer["error"]["message"])
        disk.free()
        harness.wait_until(lambda: server.call(*asked)[0] == 200, "room")


def failures_of(server):
    text = api.ask(server, "GET", "/metrics").body.decode()
    return [int(line.split()[1]) for line in text.splitlines()
            if line.startswith("hypertune_commit_failures_total ")][0]


def more_refusals(server):
    answer = api.ask(server, "GET", api.OURS + "/audit?limit=1000")
    return sum(line.get("count", 1) for line in answer.json()["lines"]
               if "more refusals" in line.get("detail", ""))


def refusals_counted_while_the_disk_is_full_are_stored_later():
    with SmallDisk() as disk:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        server = harness.Server("--runner", "none", "--budget", "refusals=1")
        server.data = os.path.join(disk.path, "data")
        with server:
            disk.fill()
            numbers = iter(range(1000))
            harness.wait_until(lambda: create(
                server, "full-%d" % next(numbers)).status == 503, "full")
            before = failures_of(server)
            for _ in range(10):
                tap.equal(api.ask(server, "GET", api.JOBS,
                                  auth="secret").status, 401)
            harness.wait_until(lambda: failures_of(server) > before + 1,
                               "a flush that failed")
            disk.free()
            harness.wait_until(lambda: more_refusals(server) == 9,
                               "the counted refusals")


def a_server_starts_on_a_full_disk():
    with SmallDisk(32) as disk:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        server = harness.Server("--runner", "none")
        server.data = os.path.join(disk.path, "data")
        reserve = os.path.join(server.data, "reserve")
        with server:
            tap.equal(create(server, "before").status, 200)
            for end in (server.stop, server.kill):
                harness.wait_until(lambda: os.path.exists(reserve),
                                   "the reserve")
                end()
                disk.fill()
                tap.equal(os.statvfs(disk.path).f_bavail, 0)
                server.start()
                tap.equal(os.path.exists(reserve), False)
                tap.equal(server.study("before")["name"], "before")
                tap.equal(alarm_of(server), ["2"])
                disk.free()
                name = "after-" + end.__name__
                harness.wait_until(lambda: create(server, name).status == 200,
                                   "recovery")


def without_a_reserve_the_start_waits_for_room():
    with SmallDisk(8) as disk:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        server = harness.Server("--runner", "none")
        server.data = os.path.join(disk.path, "data")
        with server:
            tap.equal(create(server, "before").status, 200)
            server.stop()
            os.remove(os.path.join(server.data, "reserve"))
            disk.fill()
            starting = threading.Thread(target=server.start)
            starting.start()
            harness.wait_until(lambda: "server.waits for=disk" in
                               server.log_text(), "a try")
            disk.free()
            starting.join()
            tap.equal(server.study("before")["name"], "before")
            tap.equal(create(server, "after").status, 200)


tap.run([a_server_starts_on_a_full_disk,
         without_a_reserve_the_start_waits_for_room,
         refusals_counted_while_the_disk_is_full_are_stored_later,
         a_full_disk_refuses_changes_until_there_is_room,
         the_alarm_is_seen_everywhere_and_clears_itself,
         below_the_reserve_running_trials_continue_and_none_begins,
         clients_get_no_suggestion_below_the_reserve])
