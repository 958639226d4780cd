"""The server dies at each named place of its loop, early and late: before a
commit, between the commit and its answers, and between two answers.

HYPERTUNE_TURNS: at each of the first N turns of a place, not at eight of them."""

import os

import chaos
import harness
import tap

EXIT = 86  # FAILPOINT_EXIT of tuner/base/failpoint.h
TURNS = range(1, int(os.environ["HYPERTUNE_TURNS"]) + 1) \
    if "HYPERTUNE_TURNS" in os.environ else (1, 2, 3, 5, 8, 13, 21, 34)


def main():
    with harness.Server(slots=4) as server:
        study = chaos.Chaos(server, 120, 5)
        study.submit()
        early = []

        def dies_at(place):
            for turn in TURNS:
                if study.is_over():
                    study.submit()
                tap.equal(server.stop(), 0, "exit of the server")
                point = "%s:%d" % (place, turn)
                if server.start(fail=point) is None:
                    early.append(point)
                tap.equal(server.wait_death(), EXIT, point)
                server.start()

        def the_server_comes_back_from_a_death_before_a_commit():
            dies_at("before_commit")

        def the_server_comes_back_from_a_death_after_a_commit():
            dies_at("after_commit")

        def the_server_comes_back_from_a_death_before_an_answer():
            dies_at("before_answer")
            print("# died before it was ready at " + (", ".join(early) or "none"))

        def every_study_completes():
            study.expect_completion()

        def nothing_is_left_running():
            study.expect_quiet()

        def nothing_acknowledged_is_lost_and_nothing_happened_twice():
            study.expect_agreement()

        tap.run([the_server_comes_back_from_a_death_before_a_commit,
                 the_server_comes_back_from_a_death_after_a_commit,
                 the_server_comes_back_from_a_death_before_an_answer,
                 every_study_completes, nothing_is_left_running,
                 nothing_acknowledged_is_lost_and_nothing_happened_twice])


main()
