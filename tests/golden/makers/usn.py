"""NTFS's journal of changes, record by record."""
import struct

from makers.common import save
from makers.sound import noise

TIME = 132000000000000000


def record(place, name, number, version=2):
    text = name.encode("utf-16-le")
    at = 60 if version == 2 else 76
    reference = "<QQ" if version == 2 else "<QxxxxxxxxQxxxxxxxx"
    body = struct.pack("<HH", version, 0) + struct.pack(reference, 7 << 48 | number, 5 << 48 | 5)
    body += struct.pack("<QQIIIIHH", place, TIME + number * 10**7, 0x100, 0, 300, 0x20, len(text), at) + text
    return struct.pack("<I", (len(body) + 11) // 8 * 8) + body + bytes(-(len(body) + 4) % 8)


def journal(count, place=40960, version=2):
    out = b""
    for i in range(count):
        made = record(place + len(out), f"note {i}.txt", i, version)
        if (place + len(out)) % 4096 + len(made) > 4096:
            out += bytes(-(place + len(out)) % 4096)
            made = record(place + len(out), f"note {i}.txt", i, version)
        out += made
    return out


def make():
    plain = journal(70)
    assert len(plain) > 4096
    end = lambda n, data: dict(verdict="unverified", length=len(data), title="note 0.txt", time=(TIME + (n - 1) * 10**7) // 10**7 - 11644473600)
    save("usn", "journal.usn", plain + bytes(200), **end(70, plain))
    save("usn", "within-page.usn", journal(70, 40960 + 4000), **end(70, journal(70, 40960 + 4000)))
    third = journal(9, version=3)
    save("usn", "version-3.usn", third, **end(9, third))
    save("usn", "random.usn", journal(5) + noise(400, 3), **end(5, journal(5)))
    save("usn", "other-place.usn", journal(5) + journal(5), **end(5, journal(5)))
    save("usn", "cut.usn", plain[:-20], verdict="truncated", length=len(plain) - 20)
    save("usn", "two.usn", journal(2), verdict="reject", why="no three records at 0")
    save("usn", "name.usn", plain[:58] + b"\x3d" + plain[59:], verdict="reject")
