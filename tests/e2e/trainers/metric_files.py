"""A trainer that leaves its metrics in a file, in the way that its first
argument names. Its results follow from --x alone: `expected` says which."""

import csv
import io
import os
import subprocess
import sys
import time
import urllib.request

FILE = os.environ.get("METRICS", "out.csv")
HEAD = ["step", "accuracy"]


def expected(x):
    """Equal for pairs of x, and the first two are equal for all."""
    return [0.5, 0.25, x // 2 + 0.125, x // 2 + 0.75]


def text(rows, head=True):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(([HEAD] if head else []) + rows)
    return out.getvalue()


def rows_of(x):
    return [[step, "%.4f" % value] for step, value in enumerate(expected(x), 1)]


def write(mode, content, name=None):
    with open(name or FILE, mode) as file:
        file.write(content)


def append(x):
    if not os.path.exists(FILE):
        write("w", text([]))
    for row in rows_of(x):
        write("a", text([row], False))


def append_headed(x):
    write("a", "accuracy,step\n")
    for step, value in rows_of(x):
        write("a", "%s,%s\n" % (value, step))


def json_lines(x):
    for step, value in rows_of(x):
        write("a", '{"step": %s, "accuracy": %s}\n' % (step, value))


def truncate(x):
    with open(FILE, "w") as file:
        file.write(text([]))
        for row in rows_of(x):
            file.write(text([row], False))
            file.flush()


def rewrite(x):
    for n in range(1, len(rows_of(x)) + 1):
        write("w", text(rows_of(x)[:n]))


def replace(x):
    for n in range(1, len(rows_of(x)) + 1):
        write("w", text(rows_of(x)[:n]), FILE + ".tmp")
        os.replace(FILE + ".tmp", FILE)


def remove(x):
    if os.path.exists(FILE):
        os.remove(FILE)
    append(x)


def rotate(x):
    if os.path.exists(FILE):
        os.replace(FILE, FILE + ".1")
    append(x)


def read_table():
    """As programs do that read a table: numbers in their own way."""
    if not os.path.exists(FILE):
        return []
    with open(FILE, newline="") as file:
        return [[int(row[0]), float(row[1])] for row in csv.reader(file)
                if row and row[0].isdigit()]


def read_back(x):
    for row in rows_of(x):
        write("w", text(read_table() + [row]))


def read_back_sorted(x):
    table = read_table()
    table += [[int(step), float(value)] for step, value in rows_of(x)]
    write("w", text(sorted(table, key=lambda row: -row[1])))


def read_back_and_replace(x):
    for row in rows_of(x):
        write("w", text(read_table() + [row]), FILE + ".tmp")
        os.replace(FILE + ".tmp", FILE)


def overwrite(x):
    """Over the first bytes of what is there; what is behind stays."""
    if not os.path.exists(FILE):
        write("w", "")
    with open(FILE, "r+") as file:
        file.write(text(rows_of(x)))


def state(x):
    """One line at a time, without a step; the last is the first again."""
    for value in (expected(x)[3], 0.0625, expected(x)[3]):
        write("w", "accuracy\n%s\n" % value)


def nothing(x):
    pass


def touch(x):
    if os.path.exists(FILE):
        os.utime(FILE)


def every_second(x):
    if x % 2:
        append(x)


def empty(x):
    write("w", "")


def background(x):
    """Leaves a process that would still write when the next trial runs."""
    append(x)
    subprocess.Popen(
        [sys.executable, "-c",
         "import time\nwhile True:\n open(%r, 'a').write('9,%s\\n')\n"
         " time.sleep(0.01)" % (os.path.abspath(FILE), expected(x)[-1])],
        start_new_session=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)


def again(x):
    """Fails at its first attempt, behind half of the results."""
    first = "HYPERTUNE_RESUME" not in os.environ
    write("w", text(rows_of(x)[:2] if first else rows_of(x)))
    sys.exit(1 if first else 0)


def again_append(x):
    first = "HYPERTUNE_RESUME" not in os.environ
    if first:
        write("a", "accuracy\n" if not os.path.exists(FILE) else "")
        write("a", "%s\n0.37" % (100 + x)) # and breaks off in a line
        sys.exit(1)
    for value in expected(x):
        write("a", "%s\n" % value)


def measured():
    """How many values of this trial the server has."""
    with open(os.environ["TOKEN_FILE"]) as file:
        request = urllib.request.Request(
            os.environ["MEASUREMENTS"] + os.environ["CLOUD_ML_TRIAL_ID"],
            headers={"Authorization": "Bearer " + file.read().strip()})
    with urllib.request.urlopen(request) as answer:
        return answer.read().count(b'"step"')


def wait_measured(n):
    while measured() < n:
        time.sleep(0.02)


def rotate_in_between(x):
    """What was added right before the rotation is to be read, too."""
    rows = rows_of(x)
    write("w", text(rows[:1]))
    wait_measured(1)
    write("a", text(rows[1:2], False))
    os.replace(FILE, FILE + ".1")
    write("w", text(rows[2:]))


def remove_in_between(x):
    rows = rows_of(x)
    write("w", text(rows[:1]))
    wait_measured(1)
    write("a", text(rows[1:2], False))
    os.remove(FILE)
    write("w", text(rows[2:]))


def in_trial_dir(x):
    global FILE
    FILE = os.path.join(os.environ["HYPERTUNE_TRIAL_DIR"], "out.csv")
    truncate(x)


if __name__ == "__main__":
    while "GO" in os.environ and not os.path.exists(os.environ["GO"]):
        time.sleep(0.02)
    globals()[sys.argv[1]](int(sys.argv[-1].split("=")[1]))
