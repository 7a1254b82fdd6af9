"""Scream Tracker 3's modules, part by part."""
import random, struct

from makers.common import save
from makers.sound import curve


def s3m(samples, pan=True):
    """samples: (flags, bytes)."""
    align = lambda data: data + bytes(-len(data) % 16)
    at = -(-(96 + 2 + 2 * (len(samples) + 1) + (32 if pan else 0)) // 16) * 16
    values_at = at + 80 * len(samples) + 80
    parts, values, places = b"", b"", []
    for flags, data in samples:
        places.append((at + len(parts)) // 16)
        place = (values_at + len(values)) // 16
        unit = (2 if flags & 4 else 1) * (2 if flags & 2 else 1)
        parts += struct.pack("<B12sBHIIIBBBBI12s28s4s", 1, b"SAMPLE", place >> 16, place & 0xFFFF, len(data) // unit, 0, 0, 64, 0, 0, flags, 8363, b"", b"sample", b"SCRS")
        values += data if data is samples[-1][1] else align(data)
    places.append((at + len(parts)) // 16)
    parts += align(struct.pack("<H", 66) + bytes(64))
    head = b"golden".ljust(28, b"\0") + b"\x1a\x10\0\0" + struct.pack("<6H", 2, len(samples), 1, 0, 0x1320, 2) + b"SCRM" + bytes([64, 6, 125, 176, 0, 0xFC if pan else 0])
    out = head.ljust(96, b"\0") + b"\0\xff" + struct.pack(f"<{len(places)}H", *places)
    return out.ljust(at, b"\0") + parts + values


def make():
    wave = curve(6000)
    whole = s3m([(0, wave[:900]), (4, wave)])
    save("s3m", "song.s3m", whole, verdict="unverified", length=len(whole), title="golden")
    stereo = s3m([(2, wave[:500])], pan=False)
    save("s3m", "stereo.s3m", stereo + bytes(60), verdict="unverified", length=len(stereo))
    save("s3m", "cut.s3m", whole[:4000], verdict="truncated", length=4000, why="the image ends at 4000, before the file does")
    save("s3m", "random.s3m", whole[:-5000] + random.Random(1).randbytes(6000), verdict="truncated", length_max=len(whole) - 3900)
    at = whole.index(b"SCRS") - 76
    save("s3m", "instrument.s3m", whole.replace(b"SCRS", b"SCRX", 1).replace(b"SCRX", b"XXXX"), verdict="truncated", why=f"no instrument at {at}")
    save("s3m", "mark.s3m", whole.replace(b"SCRM", b"SCRN"), verdict="reject", why="no header at 0")
