"""Files of sports devices, record by record."""
import struct

from makers.common import save
from makers.packing import junk


def crc(data):
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xa001 if value & 1 else 0)
    return struct.pack("<H", value)


def define(local, message, fields, order="<", developer=b""):
    head = bytes([0x40 | local | (0x20 if developer else 0), 0, order == ">"]) + struct.pack(order + "HB", message, len(fields))
    return head + b"".join(map(bytes, fields)) + (bytes([len(developer) // 3]) + developer if developer else b"")


def fit(records, header=14, protocol=0x20, own=True):
    head = bytes([header, protocol]) + struct.pack("<HI", 2132, len(records)) + b".FIT"
    if header == 14:
        head += crc(head) if own else b"\0\0"
    return head + records + crc(head + records)


def make():
    created = 1100000000
    start = define(0, 0, [(0, 1, 0), (1, 2, 0x84), (4, 4, 0x86)]) + b"\0" + struct.pack("<BHI", 4, 1, created)
    points = define(1, 20, [(253, 4, 0x86), (0, 4, 0x85), (1, 4, 0x85), (5, 4, 0x86)])
    points += b"".join(b"\1" + struct.pack("<IiiI", created + i, 570000000 + 977 * i, 98000000 + 1013 * i, 301 * i) for i in range(20))
    own = define(3, 20, [(3, 1, 2)], developer=bytes([0, 2, 0])) + b"".join(bytes([0x80 | 3 << 5 | i, 120 + i, i, 1]) for i in range(8))
    time = created + 631065600
    whole = fit(start + points + own)
    save("fit", "activity.fit", whole, time=time)
    save("fit", "short-header.fit", fit(start + points, header=12, protocol=0x10), time=time)
    save("fit", "no-header-crc.fit", fit(start + points, own=False), time=time)
    big = define(5, 0, [(0, 1, 0), (4, 4, 0x86)], ">") + b"\5" + struct.pack(">BI", 4, created)
    save("fit", "big.fit", fit(big + points), time=time)
    clock = define(0, 0, [(4, 4, 0x86)]) + b"\0" + struct.pack("<I", 5000)
    save("fit", "no-time.fit", fit(clock + points), time=0)
    save("fit", "chained.fit", whole + fit(big), sequence="yes", time=time)

    cut = 14 + len(start) + len(points) - 6
    last = cut - 11  # where the last whole record ends
    save("fit", "cut.fit", whole[:cut], verdict="truncated", length=last, why=f"the image ends at {cut}, before the file does")
    save("fit", "random.fit", whole[:cut] + b"\x30" * 16 + junk(3000), verdict="truncated", length=last + 17, why=f"no record at {last + 17}")
    save("fit", "wiped.fit", whole[:last] + bytes(3000), verdict="truncated", length_min=last - 8, length_max=last)
    save("fit", "value.fit", whole[:last - 3] + b"\xaa" + whole[last - 2:], verdict="truncated", length=len(whole) - 2, why=f"CRC wrong at {len(whole) - 2}")
    extra = fit(start + points + b"\x0f\1\2")
    save("fit", "undefined.fit", extra, verdict="unverified", length=len(extra), why=f"no record at {len(extra) - 5}, but the CRC agrees")
    save("fit", "header-crc.fit", whole[:12] + b"\1\1" + whole[14:], verdict="reject", why="no header at 0")
    save("fit", "protocol.fit", fit(start + points, protocol=0x50), verdict="reject", why="no header at 0")
    save("fit", "data-first.fit", fit(b"\0" + start), verdict="reject", why="no message at 14")
    save("fit", "other-first.fit", fit(points), verdict="reject", why="no message at 14")
    save("fit", "definition.fit", fit(define(0, 0, [(0, 1, 0)])), verdict="reject", why="no message at 23")
    save("fit", "base-type.fit", fit(define(0, 0, [(0, 1, 0x11)]) + b"\0\1"), verdict="reject", why="no message at 14")
    save("fit", "empty.fit", fit(b""), verdict="reject", why="no message at 14")
