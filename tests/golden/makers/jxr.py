"""JPEG XR: directory and places; the codes are made up."""
import struct

from makers.common import save
from makers.sound import noise

GUID = bytes.fromhex("24c3dd6f034efe4bb1853d77768dc90d")


def jxr(codes, alpha=b"", guid=GUID, mark=b"WMPHOTO\0", entries=()):
    tags = [(0xbc01, 1, 16, 8), (0xbc80, 4, 1, 121), (0xbc81, 4, 1, 73), *entries]
    count = len(tags) + (4 if alpha else 2)
    at = 24 + 2 + 12 * count + 4
    tags += [(0xbcc0, 4, 1, at), (0xbcc1, 4, 1, len(mark + codes))]
    if alpha:
        tags += [(0xbcc2, 4, 1, at + len(mark + codes)), (0xbcc3, 4, 1, len(alpha))]
    return b"II\xbc\x01" + struct.pack("<I", 24) + guid + struct.pack("<H", count) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4) + mark + codes + alpha


def make():
    for name, data in (("picture", jxr(noise(9000))), ("alpha", jxr(noise(3000), noise(700, 2)))):
        start = data.index(b"WMPHOTO")
        save("jxr", name + ".jxr", data + b"x" * 50, verdict="unverified", length=len(data), why=f"nothing verifies the data from {start} on")
    whole = jxr(noise(9000))
    save("jxr", "cut.jxr", whole[:5000], verdict="truncated", length=5000, why="the image ends at 5000, before the file does")
    for name, junk in (("zeros", bytes(9000)), ("text", b"nothing but words, " * 500)):
        save("jxr", name + ".jxr", whole[:4096] + junk, verdict="truncated", length=4096)
    save("jxr", "format.jxr", jxr(noise(900), guid=noise(16, 3)), verdict="reject")
    save("jxr", "mark.jxr", jxr(noise(900), mark=b"WMSOUND\0"), verdict="reject")
    save("jxr", "order.jxr", jxr(noise(900), entries=[(0xbc02, 4, 1, 0)]), verdict="reject", why="no entry at 62")
    save("jxr", "directory.jxr", whole[:24] + bytes(300), verdict="reject", why="no directory at 24")
