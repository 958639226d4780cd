"""demo.sh, shortened: the best trial can be had again from its flags, the
same demo ends the same, and nothing of it stays."""

import concurrent.futures
import os
import re
import subprocess
import time

import harness
import tap
import tree

DEMO = tree.path("examples/digits/demo.sh")
TRIALS = 6


def run_demo():
    begin = time.monotonic()
    done = subprocess.run(
        # One at a time: the search learns from results in their order.
        [DEMO, os.path.dirname(harness.bin_dir()), "-n", str(TRIALS),
         "--parallel", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        stdin=subprocess.DEVNULL, timeout=harness.PATIENCE)
    print("# %d trials took %.1f s" % (TRIALS, time.monotonic() - begin))
    if done.returncode != 0:
        raise AssertionError("exit %d\n%s" % (done.returncode, done.stdout))
    return done.stdout


def find(pattern, text):
    found = re.search(pattern, text, re.M)
    if not found:
        raise AssertionError("no %r in\n%s" % (pattern, text))
    return found.group(1)


def what_follows_the_trials(output):
    """The part from the best trial on, without times and folders."""
    return (find(r"accuracy=(\S+) \(step 120\)", output),
            find(r"(--learning_rate=.*)$", output),
            find(r"^  (test accuracy 0\.\d{4})$", output))


def the_best_trial_is_trained_again_to_the_same_accuracy():
    best, flags, _ = what_follows_the_trials(first.result())
    again = find(r"^  epoch 120: .*validation accuracy (\S+)$", first.result())
    # Both are rounded to four digits, by different programs.
    if abs(float(best) - float(again)) > 1.1e-4:
        raise AssertionError("%s was %s, is %s" % (flags, best, again))


def the_same_demo_ends_the_same():
    tap.equal(what_follows_the_trials(second.result()),
              what_follows_the_trials(first.result()))


def nothing_of_it_stays():
    for program in ("hypertuned", "hypertune-runner", "hypertune-shim",
                    "digits"):
        path = os.path.join(harness.bin_dir(), program)
        harness.wait_until(
            lambda: not harness.processes(path, "hypertune-demo."),
            "the end of " + program)
    folder = os.environ.get("TMPDIR", "/tmp")
    tap.equal([name for name in os.listdir(folder)
               if name.startswith("hypertune-demo.")], [])


# Most of a demo waits for its server and its trials, so both run side by side.
with concurrent.futures.ThreadPoolExecutor() as pool:
    first, second = pool.submit(run_demo), pool.submit(run_demo)
tap.run([the_best_trial_is_trained_again_to_the_same_accuracy,
         the_same_demo_ends_the_same, nothing_of_it_stays])
