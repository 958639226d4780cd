"""python3 kubernetes_container.py SPEC.json FD - a container of the played kubelet.
unshare starts it for mount and process namespaces of its own. It makes the
machine's folders and the pod's volumes a root there, runs the command as the
first process, and ends with its code, or 128 and its signal.

SPEC: {"mounts": [{"at": PATH, "from": PATH, "readonly": BOOL}], "argv": [...],
"env": {...}, "cwd": PATH, "user": N or null}. FD gets a byte before the
command, and the words where it cannot be run."""

import ctypes
import json
import os
import signal
import sys

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC = 1, 32, 4096, 16384
MS_PRIVATE = 1 << 18
PR_SET_PDEATHSIG = 1
ROOT = "/mnt"  # of this mount namespace alone
LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0):
    def text(word):
        return word.encode() if word else None
    if LIBC.mount(text(source), text(target), text(kind),
                  ctypes.c_ulong(flags), None) != 0:
        code = ctypes.get_errno()
        raise OSError(code, "mount %s on %s: %s" % (source, target,
                                                    os.strerror(code)))


class Root:
    """A tmpfs with all there is of the machine. A folder into which something
    is mounted is a new one, with what the machine's has."""

    def __init__(self):
        self.open = set()  # such folders
        mount("none", "/", None, MS_REC | MS_PRIVATE)
        self.names = sorted(set(os.listdir("/")) - {"proc"})
        mount("none", ROOT, "tmpfs")
        self.open.add("/")
        for name in self.names:
            if "/" + name != ROOT:
                self.show("/" + name)
        os.mkdir(ROOT + "/proc")
        mount("proc", ROOT + "/proc", "proc")

    @staticmethod
    def show(path):
        """The machine's at the same place."""
        there = ROOT + path
        if os.path.islink(path):
            os.symlink(os.readlink(path), there)
        elif os.path.isdir(path):
            os.mkdir(there)
            mount(path, there, None, MS_BIND | MS_REC)
        else:
            os.close(os.open(there, os.O_CREAT | os.O_WRONLY))
            mount(path, there, None, MS_BIND)

    def part(self, path):
        """Makes the folder one of our own."""
        if path in self.open:
            return
        self.part(os.path.dirname(path))
        there = ROOT + path
        self.open.add(path)
        if os.path.islink(there):
            raise OSError("%s is a link of the machine" % path)
        if not os.path.isdir(there):
            os.mkdir(there)
            return
        mode = os.stat(path).st_mode & 0o7777
        # On top of what is shown there: the root itself has to stay a folder
        # of the tmpfs.
        mount("none", there, "tmpfs")
        os.chmod(there, mode)
        for name in os.listdir(path):
            self.show(os.path.join(path, name))

    def put(self, source, path, readonly):
        self.part(os.path.dirname(path))
        there = ROOT + path
        if not os.path.lexists(there):
            if os.path.isdir(source):
                os.mkdir(there)
            else:
                os.close(os.open(there, os.O_CREAT | os.O_WRONLY))
        mount(source, there, None, MS_BIND | MS_REC)
        if readonly:
            mount("none", there, None, MS_BIND | MS_REMOUNT | MS_RDONLY)
        self.open.add(path)


def become(spec):
    root = Root()
    for one in sorted(spec["mounts"], key=lambda one: one["at"]):
        root.put(one["from"], one["at"].rstrip("/"), one["readonly"])
    os.chroot(ROOT)
    if not os.path.isdir(spec["cwd"]):
        os.makedirs(spec["cwd"])
    os.chdir(spec["cwd"])
    if spec["user"] is not None:
        os.setgroups([])
        os.setgid(spec["user"])
        os.setuid(spec["user"])


def run(spec, said):
    """As the first process of the namespace."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python has them ignored
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        become(spec)
        os.write(said, b"+")
        os.execvpe(spec["argv"][0], spec["argv"], spec["env"])
    except OSError as error:
        os.write(said, str(error).encode())
        os._exit(128)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = json.load(file)
    said = int(sys.argv[2])
    os.set_inheritable(said, False)
    # Not by unshare, which does not pass on an end by SIGKILL.
    pid = os.fork()
    if pid == 0:
        run(spec, said)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    main()
