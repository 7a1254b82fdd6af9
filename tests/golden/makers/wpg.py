"""WordPerfect graphics, record by record."""
import random, struct

from makers.common import save


def length(value):
    return bytes([value]) if value < 255 else b"\xff" + struct.pack("<H", value) if value < 0x8000 else b"\xff" + struct.pack("<HH", value >> 16 | 0x8000, value & 0xFFFF)


def wpg(version, *records):
    out = b"\xffWPC" + struct.pack("<IBBBBI", 16, 1, 0x16, version, 0, 0)
    for kind, data in records:
        out += (bytes([kind]) if version == 1 else bytes([1, kind, 0])) + length(len(data)) + data
    return out


def make():
    old = wpg(1, (0x0F, bytes(6)), (0x01, b"\1\0\0"), (0x06, bytes(300)), (0x14, bytes(range(256)) * 130), (0x10, b""))
    save("wpg", "old.wpg", old, unchecked=len(old) - 2)
    new = wpg(2, (0x01, bytes(23)), (0x47, b"x" * 40), (0x0C, bytes(600)), (0x02, b""))
    save("wpg", "new.wpg", new, unchecked=len(new) - 4)
    save("wpg", "cut.wpg", old[:200], verdict="truncated", length=200, why="the image ends at 200, before the file does")
    save("wpg", "random.wpg", new[:100] + random.Random(3).randbytes(2000), verdict="truncated", length_min=16)
    save("wpg", "kind.wpg", old.replace(b"\1\3\1\0\0", b"\x99\3\1\0\0"), verdict="truncated", length=24, why="no record at 24")
    save("wpg", "first.wpg", old[:16] + b"\5" + old[17:], verdict="reject", why="no first record at 16")
    save("wpg", "product.wpg", old[:9] + b"\x0a" + old[10:], verdict="reject", why="no header at 0")
