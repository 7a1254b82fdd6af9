"""Impulse Tracker's modules, part by part."""
import random, struct

from makers.common import save
from makers.sound import curve


def it(samples, message=b"a golden song", flags=1):
    """samples: (flags, number of values, bytes)."""
    head_len = 192 + 2 + 4 * (1 + len(samples) + 1)
    at = head_len + (2 + 8 if flags & 2 else 0) + (4896 if flags & 8 else 0)
    parts, places = b"", []
    def add(data):
        nonlocal parts
        places.append(at + len(parts))
        parts += data
    add(b"IMPI".ljust(554, b"\0"))
    place = at + len(parts) + 80 * len(samples)
    for kind, count, values in samples:
        add((b"IMPS" + b"sample".ljust(12, b"\0") + bytes([0, 64, kind, 64])).ljust(48, b"\0") + struct.pack("<7I", count, 0, 0, 0, 0, 0, place) + bytes(4))
        place += len(values)
    parts += b"".join(values for *_, values in samples)
    add(struct.pack("<HHI", 64, 64, 0) + bytes(64))
    said = at + len(parts)
    out = b"IMPM" + b"golden".ljust(26, b"\0") + struct.pack("<HHHHHHHHHBBBBBBHII", 0x1004, 2, 1, len(samples), 1, 0x214, 0x214, 9, flags, 128, 48, 6, 125, 128, 0, len(message), said, 0)
    return out.ljust(192, b"\0") + b"\0\xff" + struct.pack(f"<{len(places)}I", *places) + (struct.pack("<H", 1) + bytes(8) if flags & 2 else b"") \
        + (bytes(4896) if flags & 8 else b"") + parts + message


def make():
    wave = curve(6000)
    whole = it([(1, 6000, wave), (0, 0, b""), (3, 500, wave[:1000]), (9, 40000, struct.pack("<H", 70) + wave[:70] + struct.pack("<H", 9) + wave[:9])])
    save("it", "song.it", whole, verdict="unverified", length=len(whole), title="golden")
    more = it([(5, 300, wave[:600])], flags=1 | 2 | 8)
    save("it", "midi.it", more + bytes(90), verdict="unverified", length=len(more))
    save("it", "cut.it", whole[:5000], verdict="truncated", length=5000, why="the image ends at 5000, before the file does")
    plain = it([(1, 6000, wave)])
    save("it", "random.it", plain[:3000] + random.Random(1).randbytes(6000), verdict="truncated", length_min=2000, length_max=4100)
    at = whole.index(b"IMPS")
    save("it", "sample.it", whole.replace(b"IMPS", b"impS", 1), verdict="truncated", why=f"no sample at {at}")
    save("it", "parts.it", whole[:34] + b"\xff\xff" + whole[36:], verdict="reject", why="too many parts at 32")
    overlapping = whole[:32] + struct.pack("<HHHH", 1000, 0, 0, 0) + whole[40:56] + struct.pack("<I", 64) + whole[60:200]
    save("it", "orders.it", overlapping, verdict="truncated", length=200, title="golden", why="the image ends at 200, before the file does")
