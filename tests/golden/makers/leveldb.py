"""Logs and manifests of LevelDB."""
import struct

from makers.common import save
from makers.sound import noise

BLOCK = 32768


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def record(kind, data):
    crc = crc32c(bytes([kind]) + data)
    return struct.pack("<IHB", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff, len(data), kind) + data


def batch(sequence, key, value):
    return struct.pack("<QI", sequence, 1) + b"\1" + bytes([len(key)]) + key + bytes([len(value)]) + value


def log(batches):
    out = b""
    for data in batches:
        first = True
        while first or data:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                room = BLOCK
            part, data = data[:room - 7], data[room - 7:]
            out += record((1 if first else 4) if not data else (2 if first else 3), part)
            first = False
    return out


def make():
    why = lambda length: f"no record at {length}, and the number of records is not stored"
    small = log(batch(n, b"_https://example.org/%d" % n, b"value of a page %d" % n) for n in range(1, 20))
    save("leveldb", "small.log", small, verdict="unverified", length=len(small), why=why(len(small)))
    save("leveldb", "zeros.log", small + bytes(900), verdict="unverified", length=len(small), why=why(len(small)))
    save("leveldb", "random.log", small + noise(900, 2), verdict="unverified", length=len(small), why=why(len(small)))
    large = log(struct.pack("<QI", n, 1) + b"\1\1k" + noise(9000, n) for n in range(1, 9))
    save("leveldb", "blocks.log", large, verdict="unverified", length=len(large))
    cut = large[:BLOCK]
    save("leveldb", "cut.log", cut + noise(5000, 3), verdict="truncated", length=BLOCK, why=f"no next part of a record at {BLOCK}")
    save("leveldb", "image-end.log", cut, verdict="truncated", length=BLOCK)
    one = record(1, batch(1, b"k", b"v"))
    last = log([batch(1, b"k", b"x"), struct.pack("<QI", 2, 1) + b"\1\1k" + bytes(BLOCK - 60)] + [batch(n, b"k", b"v") for n in (3, 4)])
    save("leveldb", "gap.log", last, verdict="unverified", length=len(last))
    save("leveldb", "manifest.log", log([b"\1\x1aleveldb.BytewiseComparator\2\0\3\4\4\0"]), verdict="unverified")
    save("leveldb", "crc.log", one[:-1] + b"w" + one, verdict="reject", why="no record with a valid CRC at 0")
    save("leveldb", "middle.log", record(3, b"middle of a record"), verdict="reject")
