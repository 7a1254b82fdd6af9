"""EVT logs, record by record."""
import random, struct

from makers.common import save


def record(number, text):
    body = text.encode("utf-16-le")
    size = 60 + (len(body) + 3) // 4 * 4
    return struct.pack("<I4s4IHHHHIIIIII", size, b"LfLe", number, 1709164800 + number, 1709164800 + number, 1, 4, 1, 0, 0, 0, 56, 0, 56, 0,
                       56).ljust(size - 4, b"\0")[:size - 4 - len(body)].ljust(size - 4 - len(body), b"\0") + body + struct.pack("<I", size)


def end_record(start, end, current, oldest):
    return struct.pack("<10I", 40, 0x11111111, 0x22222222, 0x33333333, 0x44444444, start, end, current, oldest, 40)


def header(size, start, end, current, oldest, flags=0):
    return struct.pack("<I4s10I", 48, b"LfLe", 1, 1, start, end, current, oldest, size, flags, 604800, 48)


def plain(size=4096, count=12, flags=0, stale=False):
    records = b"".join(record(n + 1, "a service was started " * (n % 3)) for n in range(count))
    end = 48 + len(records)
    where = (48, 48, 1, 0) if stale else (48, end, count + 1, 1)
    data = header(size, *where, flags) + records + end_record(48, end, count + 1, 1)
    return data.ljust(size, b"\0"), end


def wrapped(size=2048):
    """A ring: records go on behind the header where the file ends."""
    ring, at, number = bytearray(size), 1024, 7
    start = at
    while number < 22:
        data = record(number, "ring" * (number % 4))
        if size - at < 56:
            ring[at:size] = b"\x27\0\0\0" * ((size - at) // 4)
            at = 48
        for byte in data:
            if at == size:
                at = 48
            ring[at] = byte
            at += 1
        number += 1
    tail = end_record(start, at, number, 7)
    assert at + 40 < start
    ring[at:at + 40] = tail
    ring[:48] = header(size, start, at, number, 7, 2)
    return bytes(ring)


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    data, end = plain()
    save("evt", "plain.evt", data, unchecked=end + 40, time=1709164812)
    save("evt", "open.evt", plain(flags=1, stale=True)[0], unchecked=end + 40)
    old = data[:2048] + record(99, "an older record")[4:] * 20
    save("evt", "remains.evt", old[:4096].ljust(4096, b"\0"), verdict="unverified", length=4096,
         why=f"nothing verifies the bytes after the end record, from {end + 40} on")
    ring = wrapped()
    save("evt", "ring.evt", ring, unchecked=1024, time=1709164821)
    save("evt", "cut.evt", data[:600], verdict="truncated", length=600, why="the image ends at 600, before the file does")
    first = struct.unpack_from("<I", data, 48)[0]
    second = struct.unpack_from("<I", data, 48 + first)[0]
    at = 48 + first + second
    save("evt", "wiped.evt", patched(data, at, bytes(len(data) - at)), verdict="truncated", length=at, why=f"no record at {at}")
    save("evt", "number.evt", patched(data, at + 8, b"\x63"), verdict="truncated", length=at)
    save("evt", "length.evt", patched(data, at - 4, b"\0"), verdict="truncated", length=48 + first)
    save("evt", "random.evt", patched(data, end + 40, random.Random(1).randbytes(len(data) - end - 40)), verdict="truncated",
         length_min=end + 40, length_max=end + 40 + 256)
    save("evt", "no-record.evt", patched(data, 48, bytes(4)), verdict="reject", why="no record at 48")
    save("evt", "size.evt", patched(data, 32, b"\x03\0\0\0"), verdict="reject", why="impossible offsets or flags")
