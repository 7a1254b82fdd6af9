"""RAR archives, block by block: only stored files, since no free program packs them."""
import struct, zlib

from makers.common import save
from makers.packing import junk, text

DATE = 44 << 25 | 2 << 21 | 29 << 16 | 23 << 11 | 59 << 5 | 29  # 2024-02-29 23:59:58
SECONDS = 1709251198


def block4(kind, flags, fields, data=b"", uncovered=b""):
    """uncovered: a comment inside the header, which its CRC leaves out."""
    head = struct.pack("<BHH", kind, flags, 7 + len(fields) + len(uncovered)) + fields
    return struct.pack("<H", zlib.crc32(head) & 0xffff) + head + uncovered + data


def file4(name, data, version=29, flags=0x8000, kind=0x74, large=False, uncovered=b"", method=0x30):
    fields = struct.pack("<IIBIIBBHI", len(data), len(data), 3, zlib.crc32(data), DATE, version, method, len(name), 0o644)
    return block4(kind, flags | (0x100 if large else 0) | (8 if uncovered else 0), fields + (bytes(8) if large else b"") + name, data, uncovered)


def rar4(*blocks, flags=0, end=True):
    return b"Rar!\x1a\x07\0" + block4(0x73, flags, bytes(6)) + b"".join(blocks) + (block4(0x7b, 0x4000, b"") if end else b"")


def number(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def block5(kind, flags, fields, data=b"", extra=b""):
    head = number(kind) + number(flags | (1 if extra else 0) | (2 if data else 0))
    head += (number(len(extra)) if extra else b"") + (number(len(data)) if data else b"") + fields + extra
    head = number(len(head)) + head
    return struct.pack("<I", zlib.crc32(head)) + head + data


def file5(name, data, kind=2, method=0, extra=b"", flags=0):
    fields = number(6) + number(len(data)) + number(0o644) + struct.pack("<II", SECONDS, zlib.crc32(data)) + number(method << 7) + number(1)
    return block5(kind, flags, fields + number(len(name)) + name, data, extra)


def rar5(*blocks, main=None, end=True):
    return b"Rar!\x1a\x07\1\0" + (main or block5(1, 0, number(0))) + b"".join(blocks) + (block5(5, 0, number(0)) if end else b"")


def make():
    words = text(900)
    a4, b4 = file4(b"a.txt", words), file4(b"b.txt", words[:300])
    whole4 = rar4(a4, b4)
    save("rar", "four.rar", whole4, time=SECONDS, why="", unverified="none")
    # What is not stored, or whose CRC is that of more than this data, is not verified.
    packed4, part4 = file4(b"c.txt", junk(150), method=0x33), file4(b"d.txt", junk(90), flags=0x8001)
    packed5, secret = file5(b"c.txt", junk(150), method=3), file5(b"d.txt", junk(90), extra=b"\2\1\0")
    for kind, data, end, blocks in (("four", rar4(a4, packed4, part4), 7, (packed4, part4)), ("five", rar5(file5(b"a.txt", words), packed5, secret), 8, (packed5, secret))):
        second = data.index(blocks[0]) + len(blocks[0])
        save("rar", f"{kind}-packed.rar", data, unchecked=second - 150, unverified=f"{second - 150}-{second} {len(data) - end - 90}-{len(data) - end}")
    for kind, data in ("four", whole4), ("five", rar5(file5(b"a.txt", words), file5(b"b.txt", words[:200]))):
        at = data.index(words)
        save("rar", f"{kind}-stored-damaged.rar", data[:at + 50] + b"?" + data[at + 51:], verdict="unverified", length=len(data),
             why=f"the CRC of the stored data at {at} is wrong")
    save("rar", "four-volume.rar", rar4(file4(b"a.txt", words, flags=0x8002), end=False, flags=0x11) + block4(0x7b, 0x400f, struct.pack("<IH", 7, 0) + bytes(7)))
    # A file that goes on in the next volume: its CRC here is that of its data as it is, packed.
    for name, part in ("four", rar4(file4(b"a.txt", junk(700), flags=0x8002, method=0x33), flags=1)), ("five", rar5(file5(b"a.txt", junk(700), method=3, flags=16))):
        at = part.index(junk(700))
        save("rar", f"{name}-part.rar", part, why="", unverified="none")
        save("rar", f"{name}-part-damaged.rar", part[:at + 99] + bytes([part[at + 99] ^ 1]) + part[at + 100:], verdict="unverified", length=len(part),
             why=f"the CRC of the stored data at {at} is wrong")
    old_part = rar4(file4(b"a.txt", junk(700), version=15, flags=0x8002, method=0x33), flags=1)
    save("rar", "four-old-part.rar", old_part, unchecked=old_part.index(junk(700)), unverified=f"{old_part.index(junk(700))}-{len(old_part) - 7}")
    save("rar", "four-comments.rar", b"Rar!\x1a\x07\0" + block4(0x73, 2, bytes(6), uncovered=b"a comment, uncovered")
         + file4(b"a.txt", words, 20, uncovered=b"another") + block4(0x7b, 0x4000, b""))
    save("rar", "four-large.rar", rar4(file4(b"a.txt", words, large=True), file4(b"RR", junk(200), kind=0x7a)))
    save("rar", "four-empty.rar", rar4())
    a5, b5 = file5(b"a.txt", words), file5(b"b.txt", words[:200])
    whole5 = rar5(a5, b5)
    save("rar", "five.rar", whole5, time=SECONDS, why="", unverified="none")
    save("rar", "five-service.rar", rar5(a5, file5(b"QO", junk(150), 3), block5(2, 0, number(1) + number(0) * 4 + number(3) + b"dir", extra=b"\2\7\0")))
    save("rar", "five-empty.rar", rar5())
    plain = number(0) + number(0) + number(0o644) + number(0) + number(1) + number(3) + b"dir"
    windows = struct.pack("<Q", (SECONDS + 11644473600) * 10000000 + 5)
    save("rar", "five-time.rar", rar5(block5(2, 0, plain, extra=b"\3\7\0\0" + b"\x0a\3\2" + windows)), time=SECONDS)
    save("rar", "five-unix-time.rar", rar5(block5(2, 0, plain, extra=b"\6\3\3" + struct.pack("<I", SECONDS))), time=SECONDS)

    old = rar4(file4(b"a.txt", words, 20), file4(b"b.txt", words[:300], 15), end=False)
    save("rar", "two.rar", old, verdict="unverified", length=len(old), why=f"no end block at {len(old)}, but old versions wrote none")
    save("rar", "two-junk.rar", old + junk(900), verdict="unverified", length=len(old))
    secret4 = b"Rar!\x1a\x07\0" + block4(0x73, 0x80, bytes(6)) + junk(1200)
    save("rar", "four-secret.rar", secret4 + bytes(500), verdict="unverified", length=len(secret4),
         why="all headers after 20 are encrypted: the end is a guess")
    secret5 = rar5(junk(1200), main=block5(4, 0, number(0) * 2 + b"\x0f" + bytes(16)), end=False)
    save("rar", "five-secret.rar", secret5 + b"\xff" * 500, verdict="unverified", length=len(secret5))

    for name, whole, first, second in (("four", whole4, 20, 20 + len(a4)), ("five", whole5, 16, 16 + len(a5))):
        header = first + (len(a4) if name == "four" else len(a5)) - len(words)
        save("rar", f"{name}-cut.rar", whole[:600], verdict="truncated", length=600)
        save("rar", f"{name}-cut-random.rar", whole[:600] + junk(2000, 2), verdict="truncated", length=header, why=f"no block with its CRC at {second}")
        save("rar", f"{name}-cut-zeros.rar", whole[:600] + bytes(2000), verdict="truncated", length=header)
        save("rar", f"{name}-cut-other.rar", whole[:second] + whole, verdict="truncated", length=header)
        wrong = bytearray(whole)
        wrong[second + 6] ^= 1
        save("rar", f"{name}-second-damaged.rar", bytes(wrong), verdict="truncated", length=header)
        wrong = bytearray(whole)
        wrong[-1] ^= 1
        save("rar", f"{name}-end-damaged.rar", bytes(wrong), verdict="truncated")
        wrong = bytearray(whole)
        wrong[first - 3] ^= 1
        save("rar", f"{name}-main-damaged.rar", bytes(wrong), verdict="reject")
    save("rar", "five-no-main.rar", b"Rar!\x1a\x07\1\0" + a5, verdict="reject", why="no main block with its CRC at 8")
    save("rar", "six.rar", b"Rar!\x1a\x07\2\0" + whole5[8:], verdict="reject", why="no signature at 0")
