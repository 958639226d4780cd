"""Trainers that leave their metrics in a file which others have written, too:
every value that a trial is shown with is one that its trainer computed."""

import json
import os
import sys

import harness
import pages
import tap
from trainers import metric_files

TRAINER = os.path.realpath(metric_files.__file__)
TRIALS = 5
# Values that some trial computes as well, at the same steps, and one that none
# does; the last line has no end.
LEFT = "step,accuracy\n1,0.5000\n2,0.2500\n3,1.1250\n4,77.0\n4,1.75"


def spec(name, way, **members):
    return dict({"spec": 1, "name": name, "goal": "maximize accuracy",
                 "parameters": {"x": {"type": "integer", "min": 1,
                                      "max": TRIALS}},
                 "algorithm": "grid", "trials": TRIALS, "retries": 0,
                 "metrics": {"file": "out.csv"}, "metricDoctor": "warn",
                 "command": [sys.executable, TRAINER, way]}, **members)


class Place:
    """A server, and a folder for each study."""

    def __init__(self, server):
        self.server = server

    def folder(self, name, left=None):
        folder = os.path.join(self.server.folder, name)
        os.makedirs(folder, exist_ok=True)
        if left is not None:
            with open(os.path.join(folder, "out.csv"), "w") as file:
                file.write(left)
        return folder

    def submit(self, name, way, left=None, folder=None, **members):
        env = {"TOKEN_FILE": self.server.token_file,
               "MEASUREMENTS": "%s%s%s/measurements?trial=" % (
                   self.server.http, harness.OURS, name)}
        env.update(members.pop("env", {}))
        self.server.submit(spec(name, way, env=env, **members),
                           cwd=folder or self.folder(name, left))

    def submit_paused(self, name, way, left=None, folder=None):
        """Its trials do not end before resume()."""
        self.submit(name, way, left, folder, env={"GO": self.go(name)})
        self.server.cli("pause", name)

    def go(self, name):
        return os.path.join(self.server.folder, name + ".go")

    def resume(self, name):
        open(self.go(name), "w").close()
        self.server.cli("resume", name)

    def run(self, *studies, **members):
        """Each (name, way, left), at the same time."""
        for study in studies:
            self.submit(*study, **members)
        for name, *_ in studies:
            self.server.wait_study(name)

    def refused(self, name, way, folder=None, **members):
        folder = folder or self.folder(name)
        path = os.path.join(folder, name + ".yaml")
        with open(path, "w") as file:
            json.dump(spec(name, way, **members), file, indent=1)
        done = self.server.cli("submit", path, check=False, cwd=folder)
        tap.true(done.returncode != 0, done.stdout)
        return done.stderr

    def values(self, name, number):
        """Of the newest attempt."""
        newest = self.server.trial(name, number)["hypertune"]["attempts"][-1]
        return [one["metrics"]["accuracy"] for one in
                self.server.measurements(name, number)
                if one["attempt"] == newest["attempt"]]

    def x_of(self, trial):
        return int(float(trial["hypertune"]["params"]["x"]))

    def check(self, name, exact=True, n=TRIALS):
        """Each trial has what its trainer computed: all of it, or at least
        nothing else, and the last."""
        trials = self.server.trials(name)
        tap.equal(len(trials), n, name)
        for trial in trials:
            ours, number = trial["hypertune"], trial["id"]
            want = metric_files.expected(self.x_of(trial))
            got = self.values(name, number)
            what = "%s/%s %s" % (name, number, ours["reason"])
            tap.equal(ours["state"], "SUCCEEDED", what)
            if exact:
                tap.equal(got, want, what)
            tap.equal(sorted(set(got) - set(want)), [], what)
            tap.equal(ours["objective"], want[-1], what)

    def check_silent(self, name, numbers=range(1, TRIALS + 1)):
        for number in numbers:
            ours = self.server.trial(name, number)["hypertune"]
            tap.equal(ours["state"], "INFEASIBLE", "%s/%s" % (name, number))
            tap.equal(self.values(name, number), [], name)


def main():
    with harness.Server(slots=8, environment=harness.NO_SANDBOX) as server:
        place = Place(server)

        def every_way_to_write_a_file_gives_the_trial_its_own_values():
            ways = ("append", "append_headed", "truncate", "rewrite", "replace",
                    "remove", "rotate", "read_back", "read_back_and_replace",
                    "json_lines", "background")
            place.run(*[(way.replace("_", "-"), way,
                         LEFT if way != "json_lines" else None)
                        for way in ways])
            for way in ways:
                place.check(way.replace("_", "-"), exact=way != "background")

        def a_first_run_has_no_leftovers_to_mind():
            ways = ("append", "truncate", "replace")
            place.run(*[("new-" + way, way) for way in ways])
            for way in ways:
                place.check("new-" + way)

        def a_table_that_is_sorted_shows_only_its_own_lines():
            place.run(("sorted", "read_back_sorted", LEFT))
            for number in range(1, TRIALS + 1):
                trial = server.trial("sorted", number)
                want = metric_files.expected(place.x_of(trial))
                tap.equal(sorted(place.values("sorted", number)), sorted(want))

        def lines_that_an_overwriting_trainer_leaves_are_not_its_own():
            lines = "".join("%d,88\n" % n for n in range(5, 40))
            place.run(("over", "overwrite", "step,accuracy\n" + lines))
            for number in range(1, TRIALS + 1):
                trial = server.trial("over", number)
                want = metric_files.expected(place.x_of(trial))
                got = place.values("over", number)
                tap.equal(sorted(set(got) - set(want)), [], str(got))

        def a_trial_that_writes_nothing_has_no_result():
            ways = ("nothing", "touch", "empty")
            place.run(*[(way, way, LEFT) for way in ways],
                      ("half", "every_second", LEFT))
            for way in ways:
                place.check_silent(way)
            reason = server.trial("nothing", 1)["hypertune"]["reason"]
            tap.equal(reason, "ended without reporting accuracy; the metrics "
                      "file out.csv is unchanged")
            place.check_silent("half", (2, 4))
            for number in (1, 3, 5):
                tap.equal(place.values("half", number),
                          metric_files.expected(number))

        def a_file_of_one_line_ends_in_its_last_value():
            names = ("state-new", "state-left")
            place.run((names[0], "state"),
                      (names[1], "state", "accuracy\n1.75\n"))
            for name in names:
                for number in range(1, TRIALS + 1):
                    ours = server.trial(name, number)["hypertune"]
                    tap.equal(ours["objective"],
                              metric_files.expected(number)[-1], name)

        def what_was_added_before_a_rotation_is_read():
            ways = ("rotate_in_between", "remove_in_between")
            place.run(*[(way.replace("_", "-"), way, LEFT) for way in ways])
            for way in ways:
                place.check(way.replace("_", "-"))

        def a_retry_has_nothing_of_the_attempt_before():
            place.run(("again", "again"), ("again-append", "again_append"),
                      retries=1)
            place.check("again")
            for number in range(1, TRIALS + 1):
                tap.equal(place.values("again-append", number),
                          metric_files.expected(number))

        def one_file_for_trials_at_the_same_time_is_refused():
            err = place.refused("many", "append", parallel=4)
            tap.contains("many.yaml:", err)
            tap.contains("metrics.file", err)
            tap.contains("4 processes at a time", err)
            tap.contains("file: ${trialDir}/out.csv", err)
            tap.contains("workdir: own", err)
            err = place.refused("absolute", "append", parallel=2,
                                metrics={"file": "/tmp/x/out.csv"})
            tap.contains("file: ${trialDir}/out.csv", err)
            tap.lacks("workdir: own", err)
            err = place.refused("cluster", "append",
                                replicas={"worker": {"count": 1}})
            tap.contains("2 processes at a time", err)
            err = place.refused("climbs", "append", workdir="own",
                                metrics={"file": "../out.csv"})
            tap.contains("leaves the trial's own folder", err)

        def it_is_refused_when_it_is_raised_later():
            place.submit("one", "append", trials=1)
            done = server.cli("set", "one", "-p", "3", check=False)
            tap.true(done.returncode != 0)
            tap.contains("file: ${trialDir}/out.csv", done.stderr)
            server.wait_study("one")
            status, answer = server.call(
                "PATCH", harness.OURS + "one", {"parallelTrialCount": 2})
            tap.equal(status, 400, str(answer))

        def a_second_live_study_on_the_file_is_refused():
            folder = place.folder("shared")
            place.submit_paused("first", "append", folder=folder)
            err = place.refused("second", "append", folder=folder)
            tap.contains("first", err)
            tap.contains("file: ${trialDir}/out.csv", err)
            link = os.path.join(server.folder, "link")
            os.symlink(folder, link)
            err = place.refused("third", "append",
                                metrics={"file": folder + "/./x/../out.csv"})
            tap.contains("first", err)
            place.submit("other", "append", folder=folder, trials=1,
                         metrics={"file": "other.csv"},
                         env={"METRICS": "other.csv"})
            place.resume("first")
            server.wait_study("first")
            place.check("first")
            place.submit_paused("fourth", "append", folder=folder)
            for words in (("set", "first", "-n", "9"),
                          ("confirm", "first")):
                done = server.cli(*words, check=False)
                tap.true(done.returncode != 0, str(words))
                tap.contains("fourth", done.stderr)
            place.resume("fourth")
            server.wait_study("fourth")
            place.check("fourth")

        def a_study_that_was_stored_with_more_runs_one_at_a_time():
            place.submit_paused("stored", "append", LEFT)
            server.stop()
            with pages.changing(os.path.join(
                    server.data, "hypertune.db")) as database:
                done = database.execute(
                    "UPDATE studies SET spec=replace(spec, "
                    "'\"parallelTrialCount\":1', '\"parallelTrialCount\":4') "
                    "WHERE name='stored'")
                tap.equal(done.rowcount, 1)
            server.start()
            tap.equal(server.get(harness.JOBS + "stored")
                      ["parallelTrialCount"], 4)
            place.resume("stored")
            server.wait_study("stored")
            place.check("stored")

        def two_studies_that_reach_a_file_by_a_link_never_mix():
            folder = place.folder("real")
            link = os.path.join(server.folder, "alias")
            os.symlink(folder, link)
            place.submit("by-name", "append", folder=folder)
            place.submit("by-link", "append", folder=folder, workdir=link,
                         retries=9)
            for name in ("by-name", "by-link"):
                server.wait_study(name)
                for trial in server.trials(name):
                    want = metric_files.expected(place.x_of(trial))
                    got = place.values(name, trial["id"])
                    tap.equal(sorted(set(got) - set(want)), [], str(got))

        def a_file_in_the_trial_s_folder_is_safe_at_any_number():
            place.run(("own-dir", "in_trial_dir", LEFT), parallel=4,
                      metrics={"file": "${trialDir}/out.csv"})
            place.check("own-dir")
            name = "own-word"
            place.run((name, "append"), parallel=4,
                      metrics={"file": "${trialDir}/deep.csv"},
                      env={"METRICS": "${trialDir}/deep.csv"})
            place.check(name)

        def workdir_own_gives_each_trial_a_copy():
            folder = place.folder("copied", LEFT)
            os.makedirs(os.path.join(folder, "sub"))
            with open(os.path.join(folder, "sub", "data"), "w") as file:
                file.write("data")
            os.symlink("sub/data", os.path.join(folder, "inside"))
            os.symlink("../shared", os.path.join(folder, "outside"))
            os.makedirs(os.path.join(server.folder, "shared"), exist_ok=True)
            script = ("cat inside && ls outside/ && rm -r sub && "
                      "exec %s %s truncate $0" % (sys.executable, TRAINER))
            place.submit("own-copy", "", folder=folder, workdir="own",
                         parallel=4, command=["sh", "-ec", script])
            server.wait_study("own-copy")
            place.check("own-copy")
            tap.true(os.path.exists(os.path.join(folder, "sub", "data")))
            with open(os.path.join(folder, "out.csv")) as file:
                tap.equal(file.read(), LEFT)
            place.run(("own-silent", "touch", LEFT), workdir="own",
                      parallel=2)
            place.check_silent("own-silent")
            other = place.folder("elsewhere")
            place.submit("own-other", "append", folder=other, parallel=3,
                         workdir={"own": folder})
            server.wait_study("own-other")
            place.check("own-other")
            shown = server.cli("get", "own-other", "-o", "yaml",
                               check=False).stdout
            tap.equal(os.listdir(other), ["own-other.yaml"], shown)

        tap.run([every_way_to_write_a_file_gives_the_trial_its_own_values,
                 a_first_run_has_no_leftovers_to_mind,
                 a_table_that_is_sorted_shows_only_its_own_lines,
                 lines_that_an_overwriting_trainer_leaves_are_not_its_own,
                 a_trial_that_writes_nothing_has_no_result,
                 a_file_of_one_line_ends_in_its_last_value,
                 what_was_added_before_a_rotation_is_read,
                 a_retry_has_nothing_of_the_attempt_before,
                 one_file_for_trials_at_the_same_time_is_refused,
                 it_is_refused_when_it_is_raised_later,
                 a_second_live_study_on_the_file_is_refused,
                 a_study_that_was_stored_with_more_runs_one_at_a_time,
                 two_studies_that_reach_a_file_by_a_link_never_mix,
                 a_file_in_the_trial_s_folder_is_safe_at_any_number,
                 workdir_own_gives_each_trial_a_copy])


if __name__ == "__main__":
    main()
