"""A trainer as data loaders make them: the process reports, forks workers that
report too, and continues reporting when they have ended.

    forks.py LIBHYPERTUNE.SO [--x=...]
"""

import ctypes
import os
import sys

WORKERS, EACH, LAST = 4, 5, 1000

library = ctypes.CDLL(sys.argv[1])
library.report_hyperparameter_tuning_metric.argtypes = [
    ctypes.c_char_p, ctypes.c_double, ctypes.c_int64, ctypes.c_char_p]


def report(value, step):
    if library.report_hyperparameter_tuning_metric(b"accuracy", value, step,
                                                   None) != 0:
        os._exit(9)


report(0.1, 1)
children = []
for worker in range(1, WORKERS + 1):
    pid = os.fork()
    if pid == 0:
        for number in range(EACH):
            report(worker / 10, worker * 100 + number)
        # Data loaders end their workers without exit handlers.
        os._exit(0 if library.hypertune_flush(200000) == 0 else 8)
    children.append(pid)
for pid in children:
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit(7)
report(0.99, LAST)
