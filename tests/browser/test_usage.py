"""What the page of a trial shows of the processors, memory and GPUs that it
used: a plot of each that was measured, of all attempts, and nothing else."""

import math

import api
import browser
import dashboard
import fake_runner
import harness
import plots
import tap
from dashboard import behaves, show, study
from plots import legend, reach, table

GIB = 1 << 30
BEGAN = 1700000000000

server = page = runner = None


def start(name):
    """The trial's first attempt, and the number of its study."""
    made = api.job(name, maxTrialCount=1)
    made["hypertune"]["retries"] = 1
    answer = api.send(server, "POST", api.JOBS, made)
    tap.equal(answer.status, 200, answer.body)
    attempt = runner.one().started()
    return attempt, attempt.name["study"]


def say(attempt, begin_s, used, memory, replica="master-0", device=""):
    ms = [2000 * (n + 1) for n in range(len(used))]
    runner.tell("heartbeat", attempts=[attempt.name], usage=[dict(
        attempt.name, replica=replica, device=device, series={
            "fromMs": BEGAN + 1000 * begin_s, "everyMs": 2000, "ms": ms,
            "used": used, "memory": memory})])


def titles():
    return page.run("return [...document.querySelectorAll("
                    "'[aria-label=Resources] .plot h2')]"
                    ".map(one => one.textContent)")


def wait_titles(*expected):
    page.wait("[...document.querySelectorAll('[aria-label=Resources] "
              ".plot h2')].length === %d" % len(expected), expected)
    tap.equal(titles(), list(expected))


def processors_and_memory_of_each_attempt():
    first, number = start("attempts")
    say(first, 0, [0.5, 1.5], [GIB, 3 * GIB])
    first.fail()
    second = runner.one().started()
    tap.equal(second.name["attempt"], 2)
    say(second, 60, [2, 1, 0.25], [GIB, 2 * GIB, None])
    second.succeed(0.5)
    show(page, study(number, "trials/1"), "Resources")
    wait_titles("Processors", "Memory")
    reach("Processors")
    tap.equal(legend("Processors"), ["attempt 1", "attempt 2"])
    tap.equal(table("Processors"), [
        ["Attempt", "Replica", "seconds", "cores"],
        [["1", "master-0", "2", "0.5"], ["1", "master-0", "4", "1.5"],
         ["2", "master-0", "62", "2"], ["2", "master-0", "64", "1"],
         ["2", "master-0", "66", "0.25"]]])
    reach("Memory")
    tap.equal(table("Memory"), [
        ["Attempt", "Replica", "seconds", "GiB"],
        [["1", "master-0", "2", "1"], ["1", "master-0", "4", "3"],
         ["2", "master-0", "62", "1"], ["2", "master-0", "64", "2"]]])
    behaves(page, "two attempts")


def gpus_come_while_the_trial_runs():
    attempt, number = start("gpus")
    show(page, study(number, "trials/1"), "Trial 1")
    tap.equal(titles(), [])
    waves = [1 + math.sin(n / 9) for n in range(100)]
    say(attempt, 0, waves, [300 << 20] * 100)
    wait_titles("Processors", "Memory")
    for gpu in ("0", "1"):
        say(attempt, 1, [wave / (2 + int(gpu)) for wave in waves],
            [5 * GIB] * 100, device=gpu)
    wait_titles("Processors", "Memory", "GPU use", "GPU memory")
    reach("GPU use")
    tap.equal(legend("GPU use"), ["GPU 0", "GPU 1"])
    heads, rows = table("GPU use")
    tap.equal(heads, ["Attempt", "Replica", "GPU", "minutes", "%"])
    tap.equal(rows[0][2:], ["0", "0.05", "50"])
    reach("Memory")
    tap.equal(table("Memory")[0][-1], "MiB")
    for width in (1400, 800, 390):
        page.resize(width, 900)
        tap.equal(page.run(dashboard.WIDTH), "", width)
    for is_dark in (True, False):
        page.dark(is_dark)
        tap.equal(page.run(dashboard.FAINT), [], is_dark)
    page.resize(1400, 1000)
    attempt.succeed(0.5)
    behaves(page, "GPUs")


def nothing_was_measured():
    attempt, number = start("nothing")
    attempt.succeed(0.5)
    show(page, study(number, "trials/1"), "Attempt 1")
    tap.equal(titles(), [])
    tap.lacks("Resources", page.text("#main"))
    behaves(page, "no measurement")


def main():
    global server, page, runner
    with harness.Server("--runner", "none", "--auth", "none") as server, \
            fake_runner.Runner(server) as runner, browser.Browser() as page:
        plots.begin(server, page)
        page.open(server.http + "/#/studies")
        tap.run([
            processors_and_memory_of_each_attempt,
            gpus_come_while_the_trial_runs,
            nothing_was_measured,
        ])


if __name__ == "__main__":
    main()
