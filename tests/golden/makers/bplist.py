"""Binary property lists: Python's plistlib; what is damaged, by hand."""
import datetime, plistlib, random, struct

from makers.common import save


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    value = {"name": "golden", "text": "äöü" * 9, "count": 3, "large": 1 << 40, "real": 2.5, "yes": True, "no": False,
             "when": datetime.datetime(2024, 2, 29), "data": bytes(range(50)), "list": list(range(20)), "uid": plistlib.UID(7),
             "inner": {"a": ["b", {"c": "d"}]}}
    data = plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
    save("bplist", "all.plist", data)
    large = plistlib.dumps(["item %d" % n for n in range(400)], fmt=plistlib.FMT_BINARY)
    save("bplist", "two-bytes.plist", large)
    save("bplist", "one-object.plist", plistlib.dumps("x", fmt=plistlib.FMT_BINARY))
    # Objects in another order than the table's, and one that is used twice.
    objects = b"\x51a" + b"\xa2\x00\x02" + b"\x51b"
    trailer = struct.pack(">6xBBQQQ", 1, 1, 3, 1, 8 + len(objects))
    save("bplist", "order.plist", b"bplist00" + objects + bytes([8, 10, 13]) + trailer)
    table = struct.unpack_from(">Q", data, len(data) - 8)[0]
    gap = b"bplist00" + objects + b"zz" + bytes([8, 10, 13]) + struct.pack(">6xBBQQQ", 1, 1, 3, 1, 10 + len(objects))
    save("bplist", "gap.plist", gap, verdict="unverified", length=len(gap), why=f"objects of {len(objects)} bytes in total instead of {len(objects) + 2}")
    save("bplist", "cut.plist", data[:200], verdict="truncated", length_min=150, length_max=200)
    save("bplist", "wiped.plist", data[:200] + bytes(3000), verdict="truncated", length_min=150, length_max=260)
    save("bplist", "erased.plist", data[:200] + b"\xff" * 3000, verdict="truncated", length_min=150, length_max=260)
    save("bplist", "random.plist", data[:200] + random.Random(1).randbytes(3000), verdict="truncated", length_min=150, length_max=330)
    save("bplist", "other-behind.plist", data[:200] + large, verdict="truncated", length_min=150, length_max=330)
    save("bplist", "no-trailer.plist", data[:-32], verdict="truncated", length_min=table, length_max=len(data) - 32)
    save("bplist", "offset.plist", patched(data, table + 3, b"\xff"), verdict="truncated", length_min=table - 20, length_max=len(data))
    save("bplist", "table.plist", patched(data, len(data) - 1, b"\1"), verdict="truncated", length_min=table - 20, length_max=len(data))
    save("bplist", "reference.plist", patched(data, 9, b"\xfe"), verdict="truncated", length_min=table - 20, length_max=len(data))
    save("bplist", "nothing.plist", b"bplist00" + b"\xee" * 100, verdict="reject", why="no trailer, and too few objects")
