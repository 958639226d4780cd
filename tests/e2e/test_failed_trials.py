"""How many trials of a study failed is one number: the command line, both
APIs, Python and the page say the same of one study."""

import csv
import json
import os
import urllib.parse

import browser
import harness
import tap

import hypertune

# One way to end for each value; once the folder holds `repaired`, all succeed.
TRAINER = """
report() { hypertune report score="$1"; }
[ ! -e repaired ] || { report 0.9; exit; }
case $1 in
good*) report 0.5 ;;
crash*) echo "no such file" >&2; exit 3 ;;
mute*) ;;
wait) report 0.25; exec sleep 600 ;;
idle) exec sleep 600 ;;
esac
"""
ENDS = ["good", "crash1", "crash2", "mute1", "mute2", "mute3", "wait", "idle"]
COUNTS = {"succeeded": 1, "failed": 5, "infeasible": 3, "stopped": 1,
          "cancelled": 1}
WORDS = "5 of 8 failed"
REASON = "ended without reporting score"
NAME = "mixed"
OURS = harness.OURS + NAME


def spec(name, ends, **more):
    return {"spec": 1, "name": name, "goal": "maximize score",
            "parameters": {"end": ends}, "algorithm": "grid",
            "trials": len(ends), "parallel": len(ends), "retries": 0,
            "metricDoctor": "warn", "args": "none",
            "command": ["sh", "-c", TRAINER, "trainer", "${end}"], **more}


def trial_of(server, name, end):
    return next(trial for trial in server.trials(name)
                if trial["hypertune"]["params"]["end"] == end)


def ended(server):
    """A study with a trial that ended in each way there is."""
    server.submit(spec(NAME, ENDS), env={
        "PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]})
    harness.wait_until(lambda: server.study(NAME)["counts"]["active"] == 2 and
                       all(trial_of(server, NAME, end)["hypertune"]["state"] ==
                           "ACTIVE" for end in ("wait", "idle")) and
                       "latest" in trial_of(server, NAME, "wait")["hypertune"],
                       "two trials that wait")
    for end in ("wait", "idle"):
        server.cli("stop-trial", "%s/%s" % (
            NAME, trial_of(server, NAME, end)["id"]))
    tap.equal(server.wait_study(NAME)["state"], "SUCCEEDED")


def listed(server, path, condition):
    found = server.get("%s/trials?filter=%s" % (
        path, urllib.parse.quote(condition)))
    return {trial["hypertune"]["params"]["end"] for trial in found["trials"]}


def row_of(text, key, name):
    row, = (row for row in csv.DictReader(text.splitlines())
            if row[key] == name)
    return row


def main():
    with harness.Server(slots=8) as server:
        ended(server)
        study = hypertune.Client(server.http, server.token_file).study(NAME)

        def cli(*arguments):
            return server.cli(*arguments).stdout

        def the_command_line_tells_it_alike_everywhere():
            for resource in (json.loads(cli("describe", NAME, "-o", "json")),
                             json.loads(cli("list", "-o", "json"))[0]):
                status = resource["hypertuneStatus"]
                tap.equal({key: n for key, n in status["counts"].items() if n},
                          COUNTS)
                tap.equal(status["failures"], {
                    "words": WORDS, "mostly": True, "reason": REASON})
            row = row_of(cli("list", "-o", "csv"), "NAME", NAME)
            tap.equal((row["STATE"], row["TRIALS"], row["FAIL"]),
                      ("SUCCEEDED", "8", "5"))
            row = row_of(cli("top", "-o", "csv"), "study", NAME)
            tap.equal((row["state"], row["ended"], row["failed"]),
                      ("SUCCEEDED", "8", "5"))
            top = json.loads(cli("top", "-o", "json"))["studies"][0]
            tap.equal((top["ended"], top["failed"]), (8, 5))
            for state, n in COUNTS.items():
                for chosen in (["--state", state], ["--where",
                                                    "state=" + state]):
                    found = cli("trials", NAME, "-o", "name", *chosen)
                    tap.equal(len(found.split()), n, chosen)
            rest = cli("trials", NAME, "-o", "name", "--where",
                       "state!=failed")
            tap.equal(len(rest.split()), 3)

        def mostly_failed_trials_are_no_plain_success():
            for words in (cli("list"), cli("top"), cli("describe", NAME)):
                tap.contains(WORDS, words)
            tap.contains("SUCCEEDED, " + WORDS, cli("list"))
            described = cli("describe", NAME)
            tap.contains("failures    %s: most often '%s'\n" % (WORDS, REASON),
                         described)
            tap.contains("5 failed (3 infeasible)", described)
            summary = "%s: most often '%s'" % (WORDS, REASON)
            for words in (server.cli("best", NAME).stderr,
                          cli("watch", NAME).splitlines()[-1],
                          server.cli("run", NAME + ".yaml").stderr):
                tap.contains(summary, words)

        def both_apis_find_what_they_count():
            counts = server.get(OURS)["hypertuneStatus"]["counts"]
            tap.equal({key: n for key, n in counts.items() if n}, COUNTS)
            for state, n in COUNTS.items():
                tap.equal(len(listed(server, OURS, 'state="%s"' %
                                     state.upper())), n, state)
            failed = {end for end in ENDS if end[:4] in ("cras", "mute")}
            vertex = harness.STUDIES + NAME
            for path in (OURS, vertex):
                tap.equal(listed(server, path, "state=FAILED"), failed)
                tap.equal(listed(server, path, "NOT state=FAILED"),
                          set(ENDS) - failed)
            # Towards Vertex a cancelled trial is infeasible, too.
            tap.equal(listed(server, vertex, "state=INFEASIBLE"),
                      failed | {"idle"})
            tap.equal({trial["state"] for trial in server.trials(NAME)},
                      {"SUCCEEDED", "INFEASIBLE"})

        def python_counts_the_same():
            tap.equal({key: n for key, n in study.counts.items() if n}, COUNTS)
            tap.equal(study.summary().ended, 8)
            for state, n in COUNTS.items():
                tap.equal(len(study.trials(state=state)), n, state)
                tap.equal(len(study.trials(where="state=" + state)), n, state)
            tap.equal(len(study.trials(state=("failed", "stopped"))), 6)
            tap.equal(len(study.trials(where="state!=failed")), 3)
            tap.equal(study.trials(state=[]), [])
            summary = "%s: most often '%s'" % (WORDS, REASON)
            tap.contains(summary, repr(study))
            tap.contains(WORDS, study._repr_html_())

        def the_page_counts_the_same():
            if browser.programs() is None:
                raise tap.Skip("needs chromium and chromedriver")
            with browser.Browser() as page:
                page.open(server.cli("ui", "--no-open").stdout.strip())
                page.wait_text(NAME, "table")
                row = "document.querySelector('tbody tr')"
                page.wait(row + ".innerText.includes('succeeded, %s')" % WORDS)
                tap.equal(page.count(".state.doubtful"), 1)
                page.click("a", NAME)
                page.wait_text("succeeded, " + WORDS, "#main .title")
                page.wait_text("most often '%s'" % REASON, "#main .title")
                figures = page.text(".figures").split("\n")
                tap.equal([figures[figures.index(key) + 1] for key in
                           ("Ended", "Failed", "Stopped early")],
                          ["8 / 8", "5 3 infeasible", "1"])
                page.click("a", "Trials")
                page.wait("document.querySelector('select[aria-label=State]')")
                for state, n in COUNTS.items():
                    page.run("""const [state] = arguments,
                        menu = document.querySelector("select[aria-label=State]");
                        menu.value = state.toUpperCase();
                        menu.dispatchEvent(new Event("change"));""", state)
                    page.wait_text("%d of 8 trials" % n, "#main")
                page.run("""const menu = document.querySelector("select[aria-label=State]");
                    menu.value = "";
                    menu.dispatchEvent(new Event("change"));""")
                for state, n in COUNTS.items():
                    page.type("input.filter", "state=" + state)
                    page.wait_text("%d of 8 trials" % n, "#main")
                tap.equal(page.complaints(), [])

        def a_few_failures_are_counted_without_a_warning():
            server.submit(spec("few", ["good1", "good2", "mute1"]), env={
                "PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]})
            status = server.wait_study("few")
            tap.equal(status["failures"], {"words": "1 of 3 failed",
                                           "mostly": False})
            row = row_of(cli("list", "-o", "csv"), "NAME", "few")
            tap.equal((row["STATE"], row["FAIL"]), ("SUCCEEDED", "1"))
            tap.lacks("SUCCEEDED, 1", cli("list"))
            tap.contains("1 of 3 failed", server.cli("run", "few.yaml").stderr)

        def the_limit_of_failures_counts_them_all():
            server.submit(spec("limited", ["mute1", "crash1", "good1"],
                               maxFailed=2, parallel=1), env={
                "PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]})
            status = server.wait_study("limited")
            tap.equal((status["state"], status["counts"]["failed"]),
                      ("FAILED", 2))
            tap.starts(status["reason"], "2 trials failed, limit 2")

        def all_that_failed_runs_again():
            with open(os.path.join(server.folder, "repaired"), "wb"):
                pass
            printed = server.cli("retry", NAME, "--failed").stderr
            tap.equal(printed.count(" runs again\n"), 5, printed)
            status = server.wait_study(NAME)
            tap.equal({key: n for key, n in status["counts"].items() if n},
                      {"succeeded": 6, "stopped": 1, "cancelled": 1})
            tap.lacks("failures", status)
            tap.equal(server.cli("retry", NAME, "--failed",
                                 check=False).returncode, 3)

        def what_clients_run_is_not_retried_here():
            asked = hypertune.Client(server.http, server.token_file) \
                .create_study("asked", metric="loss", goal="MINIMIZE",
                              params=[hypertune.Double("x", 0, 1)])
            for number in range(2):
                asked.add({"x": number / 2}).infeasible("out of range")
            tap.equal((asked.counts["failed"], asked.counts["infeasible"]),
                      (2, 2))
            for words in (["asked/1"], ["asked", "--failed"]):
                done = server.cli("retry", *words, check=False)
                tap.equal(done.returncode, 1)
                tap.equal(done.stderr.count("clients run the trials of study "
                                            "asked"), 1, done.stderr)

        tap.run([the_command_line_tells_it_alike_everywhere,
                 mostly_failed_trials_are_no_plain_success,
                 both_apis_find_what_they_count,
                 python_counts_the_same,
                 the_page_counts_the_same,
                 a_few_failures_are_counted_without_a_warning,
                 the_limit_of_failures_counts_them_all,
                 all_that_failed_runs_again,
                 what_clients_run_is_not_retried_here])


if __name__ == "__main__":
    main()
