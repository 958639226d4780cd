"""Studies whose runner and trials have only slow or broken links to the
server: all that is measured and printed arrives, once and in order."""

import random

import far_runner
import harness
import slow_link
import tap

KIB = 1024
RECORD = 100  # bytes of one, and of the line that is printed, at least


def all_arrives_at_2_kb_a_second():
    line = {"line": slow_link.Line(2000)}
    far_runner.run("slow", 200, http=line, report=line, control=line)


def all_arrives_at_2_kb_a_second_by_tls():
    line = {"line": slow_link.Line(2000)}
    far_runner.run("slow-tls", 100, tls=True, http=line, report=line,
                   control=line)


def all_arrives_though_nine_of_ten_answers_get_lost():
    chance = random.Random(1)
    lost = {"lost": lambda number: chance.random() < 0.9, "closes": True}
    far_runner.run("lossy", 200, report=lost, control=lost)


def check_cut(name, records, cuts, **options):
    links = far_runner.run(name, records, **options)
    tap.true(links.report.cuts + links.control.cuts >= cuts, "cuts")
    sent = links.report.sent + links.control.sent
    data = 2 * records * RECORD + far_runner.CHANGES
    tap.true(sent <= 3 * data, "%d bytes were sent" % sent)


def connections_may_be_cut_every_4_kb():
    cut = {"cut": 4 * KIB}
    check_cut("cut", 300, 8, http=cut, report=cut, control=cut)


def connections_of_tls_may_be_cut_every_16_kb():
    cut = {"cut": 16 * KIB}
    check_cut("cut-tls", 600, 4, tls=True, http=cut, report=cut, control=cut)


def records_too_long_for_a_link_go_by_the_runner():
    links = far_runner.run("long", 50, checkpoint=4095,
                           report={"cut": 4 * KIB}, control={"cut": 16 * KIB})
    if not harness.is_sanitized():  # no trial waits for the link then
        tap.true(links.report.cuts >= 4, "cuts")
    # Of 20 such records, few are tried again.
    tap.true(links.report.sent <= 40 * 4 * KIB, links.report.sent)


tap.run([
    all_arrives_at_2_kb_a_second,
    all_arrives_at_2_kb_a_second_by_tls,
    all_arrives_though_nine_of_ten_answers_get_lost,
    connections_may_be_cut_every_4_kb,
    connections_of_tls_may_be_cut_every_16_kb,
    records_too_long_for_a_link_go_by_the_runner,
])
