"""A trainer that removes, moves, replaces or locks the folder of its trial: it
is reported as such, as often as the trial may begin, and no one else is harmed."""

import os
import re
import signal

import another_user
import harness
import tap

HOME = "its own folder, HYPERTUNE_TRIAL_DIR, which the runner removes later"
WAIT = "exec sleep 600"

# Says something as long as the server has not confirmed a report, which then
# is in the folder alone.
REPORT = """
D=$HYPERTUNE_TRIAL_DIR
while [ -n "$(hypertune report score=0.5 2>&1)" ]; do :; done
"""

# What a trainer does with its folder, and what is said about it. Some continue
# afterwards, and are ended; some end at once, well or badly.
WAYS = {
    "folder": ('rm -rf "$D"', "removed"),
    "folder-badly": ('rm -rf "$D"; exit 3', "removed"),
    "folder-early": ('rm -rf "$D"; ' + WAIT, "removed"),
    "folder-by-a-child": ('(rm -rf "$D"; sleep 600) & wait', "removed"),
    "attempt": ('rm -rf "$(realpath "$D/..")"', "removed"),
    "attempt-early": ('rm -rf "$(dirname "$D")"; ' + WAIT, "removed"),
    "trial": ('rm -rf "$(dirname "$(dirname "$D")")"', "removed"),
    "study": ('rm -rf "$(realpath "$D/../../..")"', "removed"),
    "moved": ('mv "$D" "$D.away"; ' + WAIT, "removed"),
    "moved-trial": ('T=$(dirname "$(dirname "$D")"); mv "$T" "$T.away$$"; ' +
                    WAIT, "removed"),
    "anew": ('rm -rf "$D"; mkdir "$D"', "removed"),
    "anew-early": ('rm -rf "$D"; mkdir "$D"; ' + WAIT, "removed"),
    "file": ('rm -rf "$D"; echo x >"$D"', "removed"),
    "file-above": ('A=$(dirname "$D"); rm -rf "$A"; echo x >"$A"', "removed"),
    "file-at-the-top": ('T=$(dirname "$(dirname "$D")"); rm -rf "$T"; '
                        'echo x >"$T"', "removed"),
    "link": ('rm -rf "$D"; ln -s /tmp "$D"', "removed"),
    "link-to-nothing": ('rm -rf "$D"; ln -s no/such "$D"', "removed"),
}

# Parts that no one needs while the trainer runs: it ends as it ends.
PARTS = {
    "reports": 'rm -f "$D/reports.jsonl"',
    "logs": 'rm -f "$D"/stdout.* "$D"/stderr.*',
    "shim": 'rm -f "$D/shim.json"',
    "exit": 'mkdir -p "$D/exit.json/x"; rm -rf "$D/exit.json"',
    "exit-folder": 'mkdir -p "$D/exit.json/x"',
    "all": 'rm -rf "$D"/*',
}

LOCKS = {
    "locked": ('chmod 000 "$D"; ' + WAIT, "locked"),
    "locked-at-the-end": ('chmod 000 "$D"', "locked"),
    "locked-attempt": ('chmod 000 "$D/.."', "locked"),
    "locked-trial": ('chmod 000 "$D/../.."; ' + WAIT, "locked"),
}


def spec(name, way, **more):
    return {"spec": 1, "name": name, "goal": "maximize score",
            "parameters": {"x": [1, 2]}, "trials": 1, "parallel": 1,
            "algorithm": "grid", "retries": 1, "args": "none",
            "command": ["sh", "-c", REPORT + way, "trainer", "${x}"], **more}


def submit(server, made):
    return server.submit(made, env={
        "PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]})


def log_of(server):
    with open(server.log.name, encoding="utf-8") as file:
        return file.read()


def lines(server, *words):
    return [line for line in log_of(server).splitlines()
            if all(word in line for word in words)]


def check_failed(server, name, reason):
    """Each attempt was reported once, as its own fault, and nothing repeats."""
    status = server.wait_study(name)
    tap.equal((status["state"], status["counts"]["failed"]), ("FAILED", 1),
              name)
    trial = server.trial(name, 1)["hypertune"]
    tap.equal((trial["state"], trial["reason"]), ("FAILED", reason), name)
    tap.equal([(attempt["outcome"], attempt["reason"])
               for attempt in trial["attempts"]], [("failed", reason)] * 2,
              name)
    # What the server has confirmed stays.
    tap.equal({(row["attempt"], row["metrics"]["score"])
               for row in server.measurements(name, 1)},
              {(1, 0.5), (2, 0.5)}, name)
    study = server.get(harness.OURS + name)["name"].rsplit("/", 1)[1]
    ended = re.findall(r"attempt\.ended name=ht-\w+-%s-1-\d " % study,
                       log_of(server))
    tap.equal(len(ended), 2, ended)
    folder = os.path.join(server.data, "runs", study)
    harness.wait_until(lambda: not os.path.lexists(
        os.path.join(folder, "1", "2")), "the end of %s's folder" % name)
    left = [one for one in harness.processes("sleep", folder)]
    tap.equal(left, [], name)


def run_ways(server, ways):
    for name, (way, _) in ways.items():
        submit(server, spec(name, way))
    for name, (_, verb) in ways.items():
        check_failed(server, name, "the trial %s %s" % (verb, HOME))


def run_locks():
    with harness.Server(slots=8, environment=harness.NO_SANDBOX) as server:
        run_ways(server, LOCKS)


def main():
    with harness.Server(slots=8, environment=harness.NO_SANDBOX) as server:
        def each_way_is_reported_as_often_as_the_trial_begins():
            run_ways(server, WAYS)

        def a_part_that_is_not_needed_does_no_harm():
            for name, way in PARTS.items():
                submit(server, spec("part-" + name, way))
            for name in PARTS:
                status = server.wait_study("part-" + name)
                tap.equal(status["state"], "SUCCEEDED", name)
                tap.equal(status["best"]["hypertune"]["objective"], 0.5, name)

        def a_link_to_another_trial_leaves_that_alone():
            shared = os.path.join(server.folder, "shared")
            os.mkdir(shared)
            submit(server, spec(
                "linked", """
                case $1 in
                1) echo "$D" >%s/part; mv %s/part %s/calm
                   until [ -e %s/go ]; do sleep 0.05; done
                   echo calm; hypertune report score=0.75 ;;
                2) until [ -e %s/calm ]; do sleep 0.05; done
                   rm -rf "$D"; ln -s "$(cat %s/calm)" "$D"; sleep 600 ;;
                esac""" % ((shared,) * 6), trials=2, parallel=2, retries=0))
            harness.wait_until(lambda: server.study("linked")["counts"][
                "failed"] == 1, "the end of the trial that linked")
            open(os.path.join(shared, "go"), "wb").close()
            status = server.wait_study("linked")
            tap.equal((status["state"], status["counts"]["succeeded"]),
                      ("SUCCEEDED", 1))
            calm, linker = server.trials("linked")
            tap.equal((calm["hypertune"]["state"],
                       calm["hypertune"]["objective"],
                       calm["hypertune"]["attempt"]), ("SUCCEEDED", 0.75, 1))
            tap.equal(linker["hypertune"]["reason"],
                      "the trial removed " + HOME)
            tap.equal({row["metrics"]["score"] for row in
                       server.measurements("linked", 2)}, {0.5})
            log = server.get(harness.OURS + "linked/trials/1/logs")
            tap.equal(log["data"], "calm\n")

        def a_trial_that_removed_it_can_be_stopped():
            submit(server, spec("stopped", 'trap "" TERM; rm -rf "$D"; '
                                'mkdir "$D"; while :; do sleep 1; done',
                                retries=100))
            harness.wait_until(lambda: server.trials("stopped") and
                               server.measurements("stopped", 1),
                               "its report")
            server.cli("stop", "stopped", "--yes")
            tap.contains(server.wait_study("stopped")["state"],
                         ("STOPPED", "FAILED"))

        def a_runner_that_comes_back_starts_no_second_trainer():
            mark = os.path.join(server.folder, "starts")
            submit(server, spec(
                "twice", 'echo x >>%s; until [ -e %s.go ]; do sleep 0.05; '
                'done; rm -rf "$D"; %s' % (mark, mark, WAIT), retries=0))
            harness.wait_until(lambda: os.path.exists(mark), "its start")
            runner, = harness.runners(server.data)
            os.kill(runner, signal.SIGKILL)
            open(mark + ".go", "wb").close()
            status = server.wait_study("twice")
            tap.equal(status["state"], "FAILED")
            trial = server.trial("twice", 1)["hypertune"]
            tap.equal(trial["reason"], "the trial removed " + HOME)
            with open(mark, encoding="ascii") as file:
                tap.equal(file.read(), "x\n")

        def a_working_folder_that_is_gone_pauses_the_study():
            work = os.path.join(server.folder, "work")
            os.mkdir(work)
            submit(server, spec("homeless", 'rm -rf "%s"' % work, trials=6,
                                parameters={"x": [1, 2, 3, 4, 5, 6]},
                                workdir=work))
            harness.wait_until(lambda: server.study("homeless")["state"] ==
                               "PAUSED", "the pause")
            status = server.study("homeless")
            reason = "the working folder %s does not exist" % work
            tap.equal(status["reason"], "paused, as the last 3 attempts could "
                      "not begin: " + reason)
            tap.equal(status["counts"]["succeeded"], 1)
            tap.equal(len(lines(server, "attempt.unstarted", reason)), 3)
            os.mkdir(work)
            server.cli("set", "homeless", "parallel=1")
            server.cli("cancel", "homeless", "--yes")

        def a_file_in_the_place_of_outputs_is_named():
            submit(server, spec("model", 'rmdir "$AIP_MODEL_DIR"; '
                                'echo m >"$AIP_MODEL_DIR"; exit 1'))
            tap.equal(server.wait_study("model")["state"], "FAILED")
            trial = server.trial("model", 1)["hypertune"]
            tap.equal([attempt["reason"].split("/")[-1].split(": ")[0]
                       for attempt in trial["attempts"]],
                      ["exit 1", "model is a file, where AIP_MODEL_DIR is to "
                       "be a folder"])

        def a_locked_folder_is_named_as_that():
            if os.geteuid() != 0:
                run_ways(server, LOCKS)
            elif not another_user.act_as(run_locks):
                raise tap.Skip("the programs here are root's alone")

        tap.run([each_way_is_reported_as_often_as_the_trial_begins,
                 a_part_that_is_not_needed_does_no_harm,
                 a_link_to_another_trial_leaves_that_alone,
                 a_trial_that_removed_it_can_be_stopped,
                 a_runner_that_comes_back_starts_no_second_trainer,
                 a_working_folder_that_is_gone_pauses_the_study,
                 a_file_in_the_place_of_outputs_is_named,
                 a_locked_folder_is_named_as_that])


if __name__ == "__main__":
    main()
