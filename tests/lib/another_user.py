"""another_user - a test as a user who is not root."""

import os
import tempfile
import traceback

import harness
import tap

NOBODY = 65534


def act_as(act):
    """Runs it in a child with a folder of its own. False when no one else may
    run what is tested."""
    done, failed, absent = range(3)
    folder = tempfile.mkdtemp(prefix="ht-", dir="/tmp")
    os.chown(folder, NOBODY, NOBODY)
    child = os.fork()
    if child == 0:
        code = failed
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.environ.update(TMPDIR=folder, HOME=folder,
                              HYPERTUNE_STATE=os.path.join(folder, "state"))
            tempfile.tempdir = folder
            program = os.path.join(harness.bin_dir(), "hypertuned")
            if os.access(program, os.X_OK):
                act()
                code = done
            else:
                code = absent
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.rmdir(folder)
    tap.contains(code, (done, absent))
    return code == done
