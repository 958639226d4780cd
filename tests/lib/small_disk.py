"""small_disk - a file system of a few MiB that a test fills and frees."""

import os
import subprocess
import tempfile


class SmallDisk:
    """A file system in memory; not mounted when not allowed."""

    def __init__(self, mebibytes=4):
        self.size = mebibytes << 20

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="ht-disk-")
        self.mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=%d,mode=0700" % self.size,
             "tmpfs", self.path], stderr=subprocess.DEVNULL).returncode == 0
        return self

    def __exit__(self, *unused):
        if self.mounted:
            subprocess.run(["umount", self.path], check=True)
        os.rmdir(self.path)

    def fill_but(self, share):
        """Leaves that share of it free."""
        room = os.statvfs(self.path)
        take = room.f_bavail - int(room.f_blocks * share)
        with open(os.path.join(self.path, "ballast"), "wb") as ballast:
            ballast.write(bytes(take * room.f_frsize))

    def fill(self):
        fd = os.open(os.path.join(self.path, "ballast"),
                     os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(fd, b"x" * 4096)
        except OSError:
            os.close(fd)

    def free(self):
        os.unlink(os.path.join(self.path, "ballast"))
