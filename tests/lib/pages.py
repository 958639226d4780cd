"""The pages of a server's database files, as tuner/db/page_vfs.h keeps them: for
tests that change a file behind the back of a server that is down."""

import contextlib
import sqlite3
import zlib

SIZE, RESERVED = 4096, 8


def seal(path):
    """Gives every page the checksum of what it says now; without a server."""
    with open(path, "r+b") as file:
        data = file.read()
        data = data[:72] + b"HtP1" + data[76:]
        file.seek(72)
        file.write(data[72:76])
        for at in range(0, len(data), SIZE):
            page = data[at:at + SIZE - RESERVED]
            number = (at // SIZE + 1).to_bytes(4, "big")
            crc = zlib.crc32(page, zlib.crc32(number))
            file.seek(at + len(page))
            file.write(b"HtP1" + crc.to_bytes(4, "big"))


@contextlib.contextmanager
def changing(path):
    """A connection whose changes are committed at the end, and look to the
    server as if it had made them."""
    base = sqlite3.connect(path)
    try:
        with base:
            yield base
        # Else pages remain in the log that is written back without checksums.
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        base.close()
    seal(path)
