"""TNEF, attribute by attribute."""
import struct

from makers.common import PNG, save
from makers.sound import noise


def attribute(level, number, data, wrong=0):
    return struct.pack("<BII", level, number, len(data)) + data + struct.pack("<H", (sum(data) + wrong) & 0xffff)


def make():
    tnef = lambda name, data, **expected: save("tnef", name, data, **expected)
    head = struct.pack("<IH", 0x223e9f78, 7)
    message = attribute(1, 0x89006, struct.pack("<I", 0x10000)) + attribute(1, 0x69007, struct.pack("<II", 1252, 0))
    subject = attribute(1, 0x18004, b"Golden hour\0")
    attached = attribute(2, 0x69002, noise(14, 1)) + attribute(2, 0x18010, b"gold.png\0")
    data = attribute(2, 0x6800f, PNG)
    text = attribute(2, 0x6800f, noise(70000, 4))
    whole = head + message + subject + attached + data
    guess = lambda at: dict(verdict="unverified", length=at, why=f"no attribute at {at}, and the number of attributes is not stored")
    metafile = struct.pack("<I", 0x9ac6cdd7) + bytes(18) + struct.pack("<HHHIHIH", 1, 9, 0x300, 12, 0, 3, 0) + struct.pack("<IH", 3, 0)
    drawing = head + message + attached + attribute(2, 0x6800f, metafile)
    tnef("drawing.dat", drawing, embedded=drawing.index(metafile), **guess(len(drawing)))
    tnef("whole.dat", whole, title="Golden hour", embedded=whole.index(PNG), **guess(len(whole)))
    tnef("followed.dat", whole + noise(300, 5), title="Golden hour", **guess(len(whole)))
    older = head + message + attribute(1, 0x70006, b"IPM.Note\0") + attribute(1, 0x60000, b"nobody\0") + subject
    tnef("older.dat", older, title="Golden hour", **guess(len(older)))
    large = head + message + attached + text
    tnef("large.dat", large, **guess(len(large)))
    tnef("cut.dat", large[:9000], verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    start = len(head + message + attached)
    tnef("random.dat", large[:9000] + noise(70000, 6), verdict="truncated", length=start, why=f"wrong checksum of the attribute at {start}")
    broken = head + message + attribute(1, 0x18004, b"Golden hour\0", 1) + attached
    at = len(head + message)
    tnef("sum.dat", broken, verdict="unverified", length=len(broken), why=f"wrong checksum of the attribute at {at}")
    tnef("first.dat", head + attribute(1, 0x89006, b"\0\0\1\0", 1) + subject, verdict="reject", why="wrong checksum of the attribute at 6")
    tnef("level.dat", head + attribute(3, 0x89006, b"\0\0\1\0"), verdict="reject", why="no attribute at 6")
    tnef("key.dat", head[:4] + bytes(2) + message, **guess(len(head + message)))
    tnef("signature.dat", b"x\x9f>#" + bytes(2) + message, verdict="reject", why="no signature at 0")
