"""How much one message of the Python reporter has, as proto/base/pace.h says
for those in C."""

import tap

from hypertune.sender import BATCH_BYTES, Pace

KIB = 1024


def expect(pace, *sizes):
    """The next messages, each full and answered in time."""
    for size in sizes:
        tap.equal(pace.batch, size)
        pace.answered(pace.batch, 0, 0.01)


def messages_double_up_to_the_most():
    expect(Pace(), *[size * KIB for size in (16, 32, 64, 128, 256, 256)])
    tap.equal(BATCH_BYTES, 256 * KIB)


def after_a_failure_half_is_reached_and_then_steps():
    pace = Pace()
    pace.failed(8 * KIB, 100)
    tap.equal(pace.batch, 0)
    pace.failed(500, 1)
    pace.answered(500, 1, 0.01)
    expect(pace, 1000, 2000, 4000, 8000, 8000 + KIB)


def a_message_whose_answer_alone_was_lost_was_not_too_long():
    pace = Pace()
    pace.failed(8 * KIB, 100)
    pace.answered(500, 100, 0.01)
    expect(pace, 16 * KIB, 32 * KIB)


def a_slow_answer_ends_doubling_and_then_halves():
    pace = Pace()
    pace.answered(16 * KIB, 0, 2.0)
    tap.equal(pace.batch, 17 * KIB)
    pace.answered(17 * KIB, 0, 5.0)
    tap.equal(pace.batch, 17 * KIB // 2)


def silence_makes_it_wait_longer_and_an_answer_as_long_as_that_took():
    pace = Pace()
    first = pace.silent
    pace.failed(100, 1)
    tap.true(pace.silent > first)
    for _ in range(100):
        pace.failed(100, 1)
    tap.equal(pace.silent, 30.0)
    pace.answered(100, 1, 1.0)
    tap.equal(pace.silent, first + 4)


tap.run([
    messages_double_up_to_the_most,
    after_a_failure_half_is_reached_and_then_steps,
    a_message_whose_answer_alone_was_lost_was_not_too_long,
    a_slow_answer_ends_doubling_and_then_halves,
    silence_makes_it_wait_longer_and_an_answer_as_long_as_that_took,
])
