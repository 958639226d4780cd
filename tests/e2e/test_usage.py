"""What a trial uses of processors, memory and GPUs is measured while it runs,
and is there when it has ended."""

import os
import sys
import tempfile

import harness
import tap

MIB = 1024 * 1024
FAKE_NVML = os.path.join(harness.bin_dir(), "..", "tests", "tools", "preload",
                         "nvml.so")

# Each says as its result what the kernel counted of it.
COUNT = ("import os,resource,time;"
         "of=lambda who: sum(resource.getrusage(who)[:2]);"
         "end=lambda: print('score=%r' % (of(resource.RUSAGE_SELF) +"
         " of(resource.RUSAGE_CHILDREN)), flush=True);")
# Its memory is there for 3 s, however long the machine takes to give it.
BUSY = COUNT + (
    "kept = bytearray(b'x') * (200 << 20); full = time.process_time();"
    "exec('while time.process_time() < full + 3: pass');end()")
CHILDREN = COUNT + (
    "[(os.fork() and os.wait()) or (exec('while time.process_time() < 0.8:"
    " pass') or os._exit(0)) for _ in range(3)];end()")
SHORT = COUNT + "end()"
GPU = COUNT + ("exec('while time.monotonic() < {0}: time.sleep(.1)'.format("
               "time.monotonic() + 4));end()")

server = None


def run(name, script, **members):
    """The trial's result and its series, by device."""
    server.submit(dict({
        "spec": 1, "name": name, "goal": "maximize score",
        "parameters": {"x": [1, 2]}, "algorithm": "grid", "trials": 1,
        "retries": 0, "args": "none", "metrics": {"stdout": "score={score}"},
        "command": [sys.executable, "-c", script]}, **members))
    server.wait_study(name)
    trial = server.trial(name, 1)["hypertune"]
    tap.equal(trial["state"], "SUCCEEDED", trial)
    usage = server.get(harness.OURS + name + "/trials/1/usage")["usage"]
    tap.equal({(one["attempt"], one["replica"]) for one in usage},
              {(1, "master-0")})
    return trial["objective"], {one["device"]: one["series"] for one in usage}


def seconds(series):
    """The time of processors, or of a GPU, over all points."""
    times = [0] + series["ms"]
    return sum(used * (end - begin) / 1000 for used, begin, end in
               zip(series["used"], times, times[1:]))


def expect_near(found, expected, what):
    # A tick of /proc is 10 ms; a program's start and end are not its own.
    tap.equal(0.9 * expected - 0.1 < found < 1.1 * expected + 0.6, True,
              "%s: %g, not %g" % (what, found, expected))


def a_busy_trial_shows_its_core_and_its_memory():
    result, series = run("busy", BUSY)
    tap.equal(set(series), {""})
    expect_near(seconds(series[""]), result, "seconds")
    peak = max(size for size in series[""]["memory"] if size is not None)
    tap.equal(200 * MIB < peak < 300 * MIB, True, peak)
    tap.equal(max(series[""]["used"]) < 2.5, True, series)
    tap.contains(" cores, at most 2", server.cli("trial", "busy/1").stdout)


def children_that_have_ended_count():
    result, series = run("children", CHILDREN)
    expect_near(seconds(series[""]), result, "seconds")


def a_short_trial_has_one_point_at_least():
    result, series = run("short", SHORT)
    expect_near(seconds(series[""]), result, "seconds")
    tap.equal(series[""]["memory"][0] > MIB, True, series)


def gpus_are_measured_by_nvml():
    _, series = run("gpus", GPU, resources={"gpus": 2})
    tap.equal(set(series), {"", "0", "1"})
    for gpu, used, size in (("0", 0.75, 3), ("1", 0.4, 1)):
        tap.equal(set(series[gpu]["used"]), {used})
        tap.equal(set(series[gpu]["memory"]), {size << 30})
    tap.contains("GPU 0 75 % busy, at most 3.0 GiB by master-0",
                 server.cli("trial", "gpus/1").stdout)


def main():
    global server
    with tempfile.TemporaryDirectory(prefix="ht-") as driver:
        os.symlink(os.path.abspath(FAKE_NVML),
                   os.path.join(driver, "libnvidia-ml.so.1"))
        with harness.Server(slots=2, environment={
                "LD_LIBRARY_PATH": driver,
                "HYPERTUNE_RUNNER_GPUS": "2"}) as server:
            tap.run([
                a_busy_trial_shows_its_core_and_its_memory,
                children_that_have_ended_count,
                a_short_trial_has_one_point_at_least,
                gpus_are_measured_by_nvml,
            ])


if __name__ == "__main__":
    main()
