"""Paint Shop Pro's pictures, block by block; their pixels are noise."""
import struct

from makers.common import PNG, save
from makers.sound import noise


def block(kind, data, first=None):
    return b"~BK\0" + struct.pack("<H", kind) + (b"" if first is None else struct.pack("<I", first)) + struct.pack("<I", len(data)) + data


def psp(version=10, pixels=3000):
    first = 10 if version < 4 else None
    channel = block(5, struct.pack("<IIIHH", 16, pixels, 9999, 0, 0) + noise(pixels), first)
    layer = block(4, struct.pack("<I", 40) + b"Background".ljust(36, b"\0") + channel + bytes(8) + channel, first)
    parts = [block(0, struct.pack("<IIId", 46, 64, 48, 72.0) + bytes(26), first), block(1, b"~FL\0\1\0\4\0\0\0gold", first),
             block(16, struct.pack("<II", 8, 1) + block(9, PNG + noise(200), first), first), block(3, layer, first)]
    return b"Paint Shop Pro Image File\n\x1a".ljust(32, b"\0") + struct.pack("<HH", version, 0) + b"".join(parts)


def make():
    whole = psp()
    end = f"no block at {len(whole)}, and the number of blocks is not stored"
    save("psp", "picture.pspimage", whole, verdict="unverified", length=len(whole), embedded=whole.index(b"\x89PNG"), why=end)
    old = psp(3)
    save("psp", "version-3.psp", old, verdict="unverified", length=len(old))
    save("psp", "noise.psp", whole + noise(3000), verdict="unverified", length=len(whole), why=end)
    save("psp", "zeros.psp", whole + bytes(3000), verdict="unverified", length=len(whole))
    first = whole.index(b"~BK\0\5")
    second = whole.index(b"~BK\0\5", first + 4)
    save("psp", "cut.psp", whole[:5000], verdict="truncated", length=5000, why="the image ends at 5000, before the file does")
    save("psp", "random.psp", whole[:first + 1000] + noise(9000), verdict="truncated", length=second - 8, why=f"no block inside another at {second - 8}")
    save("psp", "first.psp", whole[:36] + whole[36 + 10 + 46:], verdict="reject", why="no attributes of the picture at 36")
    save("psp", "none.psp", whole[:36] + noise(600), verdict="reject", why="no block at 36")
    save("psp", "header.psp", whole[:27] + b"x" + whole[28:], verdict="reject", why="no header at 0")
