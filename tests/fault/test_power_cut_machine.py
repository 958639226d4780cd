"""The power of a machine with a server, its runner and trials fails: after the
restart the study completes, with every report that was confirmed and every
report of a trial that had ended. To show that this can fail, the same is asked
of disks that do not sync what trials report.

HYPERTUNE_CUTS (default 3) is the number of cuts at any moment, and of those
just after a trial's end; HYPERTUNE_SEED (default 1) their choice."""

import os

import chaos
import harness
import power_cut
import tap

CUTS = int(os.environ.get("HYPERTUNE_CUTS", "3"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
TRIALS = 4
# Half of them report to their file alone, which the runner follows.
TRAINER = ["sh", "-c", 'case $HYPERTUNE_TRIAL_DIR in '
           '*/runs/*/*[13579]/*/*) unset HYPERTUNE_REPORT_URL;; '
           'esac; exec "$0" "$1"', chaos.TRAINER]


def main():
    if power_cut.missing():
        tap.skip("power cuts", power_cut.missing())
    with power_cut.recorded(slots=TRIALS, environment=harness.NO_SANDBOX) as (
            recorder, server):
        journals = os.path.join(recorder.root, "journals")
        study = chaos.Chaos(server, TRIALS, SEED, journals,
                            command=TRAINER + [journals])
        server.start()
        study.submit()
        submitted = recorder.position()
        study.expect_completion()
        study.expect_quiet()
        tap.equal(server.stop(), 0)
        records = recorder.finish(server)

        def check(end):
            if end < submitted:
                return
            study.expect_completion()
            study.expect_quiet()
            study.expect_agreement(power_cut=True)

        def fault(count=CUTS, **options):
            return power_cut.first_fault(power_cut.Cuts(
                recorder, server, records, SEED, count, witness=journals,
                **options), check)

        def the_record_has_everything_that_was_written():
            power_cut.expect_complete(recorder, records, journals)

        def a_study_survives_a_power_cut_at_any_moment():
            tap.equal(fault(), None)

        def a_trial_that_ended_keeps_its_result():
            tap.equal(fault(after="exit.json"), None)

        def reports_that_are_not_synced_before_the_end_are_noticed():
            tap.true(fault(TRIALS, after="exit.json", but="/reports.jsonl"),
                     "a fault")

        tap.run([the_record_has_everything_that_was_written,
                 a_study_survives_a_power_cut_at_any_moment,
                 a_trial_that_ended_keeps_its_result,
                 reports_that_are_not_synced_before_the_end_are_noticed])


if __name__ == "__main__":
    main()
