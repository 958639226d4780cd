"""The n-th write, sync or change of a name fails, for n = 1, 2, ... until none
is left to fail: the server answers, or ends with a message; what it confirmed is
there when it is started again.

HYPERTUNE_FAILURES (default 12) is how many of all n are tried, HYPERTUNE_SEED
(default 1) which."""

import itertools
import os
import random
import subprocess

import api
import checker
import harness
import power_cut
import tap

MOST = int(os.environ.get("HYPERTUNE_FAILURES", "12"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
