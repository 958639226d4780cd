"""Reports over a link that is slow, is cut every 4 KB and loses answers: all
arrive, once, in order, and are not sent many times over."""

import ctypes
import json
import os
import subprocess
import sys
import tempfile

import harness
import slow_link
import tap

RECORDS = 300

if sys.argv[2:] == ["trainer"]:
    library = ctypes.CDLL(os.path.join(harness.bin_dir(),
                                       "../lib/libhypertune.so"))
    for number in range(1, RECORDS + 1):
        library.report_hyperparameter_tuning_metric(
            b"accuracy", ctypes.c_double(number), ctypes.c_longlong(number),
            None)
    sys.exit(library.hypertune_flush(int(harness.PATIENCE * 1000)) != 0)


def stored(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line)["n"] for line in file]


def check(trainer, **link_options):
    """Runs trainer(port, folder) behind such a link."""
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        server = subprocess.Popen(
            [os.path.join(harness.bin_dir(), "../tests/tools/rep_server"),
             "0", store], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        link = slow_link.SlowLink(int(server.stdout.readline().split()[1]),
                                  **link_options)
        try:
            size = trainer(link.port, folder)
        finally:
            link.close()
            server.communicate()
        tap.equal(stored(store), list(range(1, RECORDS + 1)))
    print("# %d bytes of records, %d sent, %d cuts" % (size, link.sent,
                                                       link.cuts))
    if link.sent > 3 * size:
        raise AssertionError("%d bytes sent for %d" % (link.sent, size))
    return link


def in_c(port, folder):
    if harness.is_sanitized():
        raise tap.Skip("Python cannot load a sanitized library")
    path = os.path.join(folder, "reports.jsonl")
    environment = dict(os.environ, HYPERTUNE_REPORT_FILE=path,
                       HYPERTUNE_REPORT_URL="tcp://127.0.0.1:%d" % port,
                       HYPERTUNE_REPLICA="master-0")
    subprocess.run([sys.executable, __file__, sys.argv[1], "trainer"],
                   env=dict(environment, PYTHONPATH=os.pathsep.join(sys.path)),
                   check=True, timeout=harness.PATIENCE)
    return os.path.getsize(path)


def in_python(port, folder):
    from hypertune import sender
    sending = sender.Sender("tcp://127.0.0.1:%d" % port, None, "master-0",
                            "00000000000000aa", True)
    size = 0
    for number in range(1, RECORDS + 1):
        record = json.dumps({"w": "00000000000000aa", "n": number, "t": 1000,
                             "s": number, "m": {"accuracy": number}, "c": ""})
        size += len(record)
        sending.push(number, record)
    tap.equal(sending.wait(RECORDS, harness.PATIENCE), True)
    sending.end(1)
    return size


def cuts_every_4_kb(trainer):
    if check(trainer, line=slow_link.Line(20000), cut=4096).cuts < 4:
        raise AssertionError("the link was not cut")


def libhypertune_delivers_over_a_link_cut_every_4_kb():
    cuts_every_4_kb(in_c)


def the_python_reporter_delivers_over_a_link_cut_every_4_kb():
    cuts_every_4_kb(in_python)


def libhypertune_delivers_though_answers_get_lost():
    check(in_c, lost={0, 2}.__contains__)


def the_python_reporter_delivers_though_answers_get_lost():
    check(in_python, lost={0}.__contains__)


tap.run([
    libhypertune_delivers_over_a_link_cut_every_4_kb,
    the_python_reporter_delivers_over_a_link_cut_every_4_kb,
    libhypertune_delivers_though_answers_get_lost,
    the_python_reporter_delivers_though_answers_get_lost,
])
