"""tfevents - reads and writes TensorBoard's event files without TensorFlow: the
frames with their checksums, and of the messages what tests look at."""

import struct


def as_float(value):
    """As 4 bytes hold it."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) &
                       0xffffffff)


def check(data, stored):
    if masked(data) != stored:
        raise AssertionError("a checksum is wrong")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """All of a message, as {number: [value, ...]}."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(tag & 7)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if tag & 7 != 2:
                value, = struct.unpack("<d" if size == 8 else "<f", value)
        found.setdefault(tag >> 3, []).append(value)
    if at != len(data):
        raise AssertionError("a message is torn")
    return found


def scalar(data):
    """google.protobuf.Value"""
    value = fields(data)
    return value[2][0] if 2 in value else value[3][0].decode()


def parameter(data):
    info = fields(data)
    if 5 in info:
        return info[1][0].decode(), [scalar(one) for one
                                     in fields(info[5][0]).get(1, [])]
    bounds = fields(info[6][0])
    return info[1][0].decode(), (bounds[1][0], bounds[2][0])


def hparams(content):
    data = fields(content)
    if 2 in data:
        experiment = fields(data[2][0])
        return {"parameters": dict(parameter(one) for one in experiment[4]),
                "metrics": [fields(fields(one)[1][0])[2][0].decode()
                            for one in experiment[5]]}
    if 3 in data:
        pairs = [fields(one) for one in fields(data[3][0]).get(1, [])]
        return {"hparams": {pair[1][0].decode(): scalar(pair[2][0])
                            for pair in pairs}}
    return {"status": fields(data[4][0])[1][0]}


def read(path):
    """The whole records of a file; what is torn at its end is left out, as
    TensorBoard does."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = [], 0
    while at + 12 <= len(data):
        size, = struct.unpack_from("<Q", data, at)
        if at + 16 + size > len(data):
            break
        check(data[at:at + 8], data[at + 8:at + 12])
        body = data[at + 12:at + 12 + size]
        check(body, data[at + 12 + size:at + 16 + size])
        at += 16 + size
        event = fields(body)
        one = {"wall": event[1][0], "step": event.get(2, [0])[0]}
        if 3 in event:
            one["version"] = event[3][0].decode()
        else:
            value = fields(fields(event[5][0])[1][0])
            one["tag"] = value[1][0].decode()
            if 2 in value:
                one["value"] = value[2][0]
            if 9 in value:
                plugin = fields(fields(value[9][0])[1][0])
                one.update(hparams(plugin[2][0]))
        found.append(one)
    return found


# ---- writing ----

def number(value):
    """A varint."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def member(field, data):
    return number(field << 3 | 2) + number(len(data)) + data


def record(event):
    head = struct.pack("<Q", len(event))
    return head + masked(head) + event + masked(event)


def version(wall):
    return record(b"\x09" + struct.pack("<d", wall) +
                  member(3, b"brain.Event:2"))


def event(tag, value, step, wall, tensor=False):
    """A scalar's record, of the old kind or as a tensor."""
    if tensor:
        content = member(8, b"\x08\x01" + member(2, b"") +
                         member(4, struct.pack("<f", value)))
    else:
        content = b"\x15" + struct.pack("<f", value)
    summary = member(1, member(1, tag.encode()) + content)
    return record(b"\x09" + struct.pack("<d", wall) +
                  b"\x10" + number(step) + member(5, summary))


def shell_of(folder, *events):
    """Words of a shell that write the records of (tag, value, step) there."""
    data = version(1.5) + b"".join(event(*one, 1.5 + one[2])
                                   for one in events)
    return "mkdir -p %s && printf '%s' >%s/events.out.tfevents.1" % (
        folder, "".join("\\%03o" % byte for byte in data), folder)
