"""The disk of the data directory is full: changes are refused, reading
continues, and nothing that was confirmed is missing once there is room again."""

import os
import subprocess
import tempfile

import api
import harness
import tap

CYCLES = 5


class SmallDisk:
    """A file system of 4 MiB in memory; not mounted when not allowed."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="ht-disk-")
        self.mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs",
             self.path], stderr=subprocess.DEVNULL).returncode == 0
        return self

    def __exit__(self, *unused):
        if self.mounted:
            subprocess.run(["umount", self.path], check=True)
        os.rmdir(self.path)

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


def create(server, name):
    return api.send(server, "POST", api.JOBS, api.job(name, maxTrialCount=1))


def one_cycle(server, disk, number, confirmed):
    disk.fill()
    refused = None
    for i in range(50):
        answer = create(server, "full-%d-%d" % (number, i))
        if answer.status == 200:
            confirmed.append("full-%d-%d" % (number, i))
            continue
        refused = answer
        tap.equal((answer.status, answer.headers["retry-after"]), (503, "1"))
        tap.contains("disk", answer.error()["message"], answer.body)
    tap.true(refused is not None, "a refusal")
    for name in confirmed:
        tap.equal(server.study(name)["name"], name)
    disk.free()
    name = "after-%d" % number
    harness.wait_until(lambda: create(server, name).status == 200, "recovery")
    confirmed.append(name)


def a_full_disk_refuses_changes_until_there_is_room():
    with SmallDisk() as disk:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        server = harness.Server("--runner", "none")
        server.data = os.path.join(disk.path, "data")
        with server:
            confirmed = []
            for number in range(CYCLES):
                one_cycle(server, disk, number, confirmed)
            server.kill()
            server.start()
            for name in confirmed:
                server.study(name)


tap.run([a_full_disk_refuses_changes_until_there_is_room])
