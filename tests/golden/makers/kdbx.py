"""KeePass databases: heads field by field; what is encrypted is noise."""
import struct

from makers.common import save
from makers.sound import noise


def head(version, leave=None, seed=32):
    fields = [(2, noise(16, 1)), (3, b"\1\0\0\0"), (4, noise(seed, 2)), (7, noise(16, 3))]
    fields += [(11, noise(130, 4))] if version == 4 else [(5, noise(32, 5)), (6, struct.pack("<Q", 6000)), (8, noise(32, 6)), (9, noise(32, 7))]
    out = bytes.fromhex("03d9a29a67fb4bb5") + struct.pack("<HH", 1, version)
    for kind, data in fields + [(0, b"\r\n\r\n")]:
        if kind != leave:
            out += struct.pack("<BI" if version == 4 else "<BH", kind, len(data)) + data
    return out


def blocks(lengths):
    return b"".join(noise(32, i) + struct.pack("<I", length) + noise(length, i + 9) for i, length in enumerate(lengths))


def make():
    kdbx = lambda name, data, **expected: save("kdbx", name, data, **expected)
    four = head(4) + noise(64, 8) + blocks((3000, 1000, 0))
    kdbx("four.kdbx", four)
    kdbx("four-cut.kdbx", four[:-700], verdict="truncated", length=len(four) - 700, why=f"the image ends at {len(four) - 700}, before the file does")
    last = len(four) - 36
    kdbx("four-block.kdbx", four[:last + 32] + b"\0\0\0\xf0" + noise(100, 3), verdict="truncated", length=last)
    kdbx("four-zeros.kdbx", four[:-700] + bytes(5000), verdict="truncated", length=last, why=f"no HMAC of a block at {last}")
    big = head(4) + noise(64, 8) + blocks((9000, 0))
    kdbx("four-other.kdbx", big[:4000] + b"Other text, which is not encrypted." * 100 + big[7500:], verdict="truncated", length_min=3000, length_max=6000)
    guess = lambda start: dict(verdict="unverified", why=f"the end of the encrypted bytes from {start} on is not stored")
    three = head(3) + noise(8192, 6)
    kdbx("three.kdbx", three, length=len(three), **guess(len(head(3))))
    two = head(2) + noise(8192, 6)
    kdbx("two.kdbx", two, length=len(two), **guess(len(head(2))))
    kdbx("three-zeros.kdbx", three + bytes(9000), length_min=len(three) - 1024, length_max=len(three) + 1024, **guess(len(head(3))))
    old = bytes.fromhex("03d9a29a65fb4bb5") + struct.pack("<II", 3, 0x30002) + noise(108, 4) + noise(4096, 5)
    kdbx("one.kdb", old, length=len(old), **guess(124))
    kdbx("one-cut.kdb", old[:100], verdict="truncated", length=100)
    for kind in (2, 3, 4, 7):
        data = head(4, leave=kind) + noise(600, 8)
        kdbx(f"without-{kind}.kdbx", data, verdict="reject")
    kdbx("seed.kdbx", head(4, seed=31) + noise(600, 8), verdict="reject", why="an impossible field of the head at 42")
    kdbx("version.kdbx", head(4)[:10] + b"\5" + head(4)[11:], verdict="reject", why="no signature and version at 0")
