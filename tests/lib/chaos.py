"""chaos - a study of short trials whose trainers keep a journal."""

import glob
import os

import checker
import harness
import tap

TRAINER = os.path.realpath(os.path.join(harness.bin_dir(), "..", "tests",
                                        "tools", "chaos_trainer"))


class Chaos:
    """Submits such studies to a server and in the end checks them all.
    `members` of their spec are as given."""

    def __init__(self, server, trials, seed, journals=None, **members):
        self.server = server
        self.trials = trials
        self.seed = seed
        self.journals = journals or os.path.join(server.folder, "journals")
        self.members = members or {"command": [TRAINER, self.journals]}
        os.mkdir(self.journals)
        self.studies = []

    def submit(self):
        name = "chaos-%d" % (len(self.studies) + 1)
        self.server.submit(dict(self.members, **{
            "spec": 1, "name": name, "goal": "maximize accuracy",
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "algorithm": "random", "trials": self.trials, "parallel": 4,
            "retries": 20, "seed": self.seed}))
        self.studies.append(name)

    def is_over(self):
        return self.server.study(self.studies[-1])["state"] != "RUNNING"

    def programs(self, kind):
        """Pids of the "runner", the "shim"s or the "trainer"s."""
        path = (TRAINER if kind == "trainer" else
                self.server.program("hypertune-" + kind))
        return harness.processes(path, self.server.data)

    # --- what must be true in the end ---

    def expect_completion(self):
        for name in self.studies:
            end = self.server.wait_study(name)
            tap.equal(end["state"], "SUCCEEDED", name)
            tap.equal(end["counts"]["succeeded"], self.trials, name)

    def expect_quiet(self):
        harness.wait_until(lambda: not checker.leftovers(self.server.data),
                           "the end of every process of a trial")
        harness.wait_until(lambda: not self.programs("shim"),
                           "the end of every shim")

    def expect_agreement(self, power_cut=False):
        """Stops the server and replays the journals."""
        figures, faults = checker.stop_and_check(
            self.server, glob.glob(self.journals + "/*.jsonl"),
            power_cut=power_cut)
        print("# " + " ".join("%s=%d" % f for f in figures.items()))
        for fault in faults:
            print("# fault: " + fault)
        tap.equal(faults, [], "faults")
        if not power_cut and figures["acked"] < self.trials:
            raise AssertionError("too few reports to prove anything")
