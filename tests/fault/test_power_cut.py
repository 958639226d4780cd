"""The power fails at some moment: what a client or runner got an answer for is
there when the server starts again, nothing is there twice, and no damage is
found. To show that this can fail, the same is asked of disks whose syncs of one
file did nothing.

HYPERTUNE_CUTS (default 14) is the number of cuts of each kind, HYPERTUNE_SEED
(default 1) their choice."""

import os
import random

import api
import checker
import fake_runner
import power_cut
import stored
import tap

CUTS = int(os.environ.get("HYPERTUNE_CUTS", "14"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
TRIALS = 6
FILES = {name: random.Random(name).randbytes(size) for name, size in
         (("code", 9000), ("model", 70000), ("weights", 70000))}
LOGS = api.OURS + "/studies/job/trials/%d/logs?replica=master-0&stream=stdout"


class Facts:
    """What was confirmed, each with the position of the record by then."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.known = []

    def add(self, kind, *what):
        self.known.append((self.recorder.position(), kind, what))

    def before(self, position):
        found = {}
        for at, kind, what in self.known:
            if at <= position:
                found.setdefault(kind, []).append(what)
        return found


def play_trial(runner, facts):
    attempt = runner.one()
    trial = attempt.name["trial"]
    facts.add("leased", trial, attempt.name["attempt"])
    attempt.started()
    said = ""
    for step in range(1, 7):
        attempt.report(trial + step / 64, step=step)
        facts.add("reported", trial, step, trial + step / 64)
        said += "trial %d is at step %d\n" % (trial, step)
        attempt.say(said.splitlines(True)[-1])
        facts.add("said", trial, said)
    attempt.ended("succeeded", exit=0)
    facts.add("ended", trial)


def play_client(server, facts):
    """A study whose trials a client runs."""
    study = server.call("POST", api.STUDIES, {
        "displayName": "mine", "studySpec": {
            "metrics": [{"metricId": "a", "goal": "MAXIMIZE"}],
            "algorithm": "RANDOM_SEARCH", "parameters": [
                {"parameterId": "x", "doubleValueSpec": {
                    "minValue": 0, "maxValue": 1}}]}})[1]["name"]
    for number in range(3):
        trial = server.call("POST", "/v1/%s/trials:suggest" % study, {
            "suggestionCount": 1, "clientId": "client-%d" % number})[1][
                "response"]["trials"][0]
        facts.add("suggested", trial["name"], trial["parameters"])
        tap.equal(server.call("POST", "/v1/%s:complete" % trial["name"], {
            "finalMeasurement": {"metrics": [{"metricId": "a",
                                              "value": number}]}})[0], 200)
        facts.add("completed", trial["name"], number)


def keep_tree(server, facts, *names):
    """Files that came before are not sent again."""
    text = stored.keep(server, {name: FILES[name] for name in names})
    facts.add("kept", text, names)


def play(recorder, server):
    """A server that ends well once and once does not."""
    facts = Facts(recorder)
    server.start()
    tap.equal(server.call("POST", api.JOBS, api.job(
        "job", maxTrialCount=TRIALS, parallelTrialCount=1))[0], 200)
    facts.add("created", "job")
    keep_tree(server, facts, "code", "model")
    for end in (server.stop, server.kill):
        with fake_runner.Runner(server) as runner:
            for _ in range(TRIALS // 2):
                play_trial(runner, facts)
        end()
        server.start()
    keep_tree(server, facts, "code", "weights")
    play_client(server, facts)
    server.kill()
    return facts


def check_facts(server, facts):
    for name, in facts.get("created", ()):
        tap.equal(server.study(name)["name"], name)
    stored = {}
    for trial, step, value in facts.get("reported", ()):
        if trial not in stored:
            stored[trial] = {
                int(item["step"]): item["metrics"]["accuracy"]
                for item in server.measurements("job", trial)}
        tap.equal(stored[trial].get(step), value, "trial %d" % trial)
    for trial, said in dict(facts.get("said", ())).items():
        tap.starts(server.get(LOGS % trial)["data"], said,
                   "log of trial %d" % trial)
    for trial, in facts.get("ended", ()):
        tap.equal(server.trial("job", trial)["hypertune"]["state"],
                  "SUCCEEDED")
    for name, parameters in facts.get("suggested", ()):
        tap.equal(server.get("/v1/" + name)["parameters"], parameters)
    for name, value in facts.get("completed", ()):
        tap.equal(server.get("/v1/" + name)["finalMeasurement"]["metrics"],
                  [{"metricId": "a", "value": value}])


def check_trees(server, facts):
    for text, names in facts.get("kept", ()):
        tap.equal(stored.get(server, "trees/" + stored.sha(text)).body, text)
        for name in names:
            chunk = stored.get(server, "chunks/" + stored.sha(FILES[name]))
            tap.equal(chunk.body, FILES[name], name)


def check_ids(server, facts):
    """An attempt that was given to a runner is not given once more."""
    given = facts.get("leased", ())
    if "created" not in facts or len(given) >= TRIALS - 1:
        return  # maybe there is nothing left to give
    with fake_runner.Runner(server) as runner:
        name = runner.one().name
    tap.lacks((name["trial"], name["attempt"]), given)


def check(server, facts):
    """The server runs on what the cut left."""
    check_facts(server, facts)
    check_trees(server, facts)
    check_ids(server, facts)
    tap.equal(checker.stop_and_check(server, is_over=False)[1], [])
    tap.lacks("damage", server.log_text())
    tap.equal([name for name in os.listdir(server.data)
               if "damaged" in name], [])


def main():
    if power_cut.missing():
        tap.skip("power cuts", power_cut.missing())
    with power_cut.recorded("--runner", "none") as (recorder, server):
        facts = play(recorder, server)
        records = recorder.finish(server)

        def fault(**options):
            return power_cut.first_fault(
                power_cut.Cuts(recorder, server, records, SEED, CUTS,
                               **options),
                lambda end: check(server, facts.before(end)))

        def the_record_has_everything_that_was_written():
            power_cut.expect_complete(recorder, records)

        def what_was_confirmed_outlasts_a_power_cut():
            print("# facts=%d cuts=%d" % (len(facts.known), CUTS))
            tap.equal(fault(), None)

        def a_database_without_syncs_of_its_commits_is_noticed():
            tap.true(fault(but="hypertune.db-wal"), "a fault")

        def logs_without_syncs_of_their_commits_are_noticed():
            tap.true(fault(but="logs.db-wal"), "a fault")

        def a_file_of_a_tree_without_its_sync_is_noticed():
            tap.true(fault(but=stored.sha(FILES["model"])), "a fault")

        def a_folder_without_syncs_is_noticed():
            tap.true(fault(but="/data"), "a fault")

        tap.run([the_record_has_everything_that_was_written,
                 what_was_confirmed_outlasts_a_power_cut,
                 a_database_without_syncs_of_its_commits_is_noticed,
                 logs_without_syncs_of_their_commits_are_noticed,
                 a_file_of_a_tree_without_its_sync_is_noticed,
                 a_folder_without_syncs_is_noticed])


if __name__ == "__main__":
    main()
