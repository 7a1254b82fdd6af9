"""ACE archives, block by block; packed data are noise."""
import struct, zlib

from makers.common import save
from makers.packing import junk, text

DATE = (2024 - 1980) << 25 | 2 << 21 | 29 << 16 | 23 << 11 | 59 << 5 | 29


def crc(data):
    return zlib.crc32(data) ^ 0xffffffff


def block(kind, flags, fields):
    body = struct.pack("<BH", kind, flags) + fields
    return struct.pack("<HH", crc(body) & 0xffff, len(body)) + body


def main_block(flags=0x100, comment=b""):
    return block(0, flags | (2 if comment else 0), b"**ACE**" + struct.pack("<BBBBI8s", 20, 20, 2, 0, DATE - 5, bytes(8)) +
                 (struct.pack("<H", len(comment)) + comment if comment else b""))


def member(name, data, packed=None, flags=0, wide=False, wrong=0):
    kept = data if packed is None else packed
    sizes = struct.pack("<QQ" if wide else "<II", len(kept), len(data))
    fields = struct.pack("<IIIBBHHH", DATE, 0x20, crc(data) ^ wrong, 0 if packed is None else 1, 3, 10, 0, len(name)) + name
    return block(3 if wide else 1, flags | (5 if wide else 1), sizes + fields) + kept


def make():
    first, second = text(700), text(900, 2)
    start = main_block()
    head = len(member(b"a.txt", first)) - len(first)
    stored = start + member(b"a.txt", first)
    packed = stored + member(b"b.txt", second, junk(400, 3)) + member(b"c\\d.txt", second[:300])
    why = "no block at %d, and the number of blocks is not stored"
    save("ace", "stored.ace", stored, verdict="unverified", length=len(stored), extension="", time=1709251198, why=why % len(stored))
    save("ace", "packed.ace", packed, verdict="unverified", length=len(packed), why=why % len(packed))
    last = stored + member(b"b.txt", second, junk(400, 3))
    save("ace", "last.ace", last, verdict="unverified", length=len(last), why=why % len(last))
    wide = main_block(comment=junk(30, 4)) + member(b"a.txt", first, wide=True) + member(b"locked", first, flags=1 << 14)
    wide += block(2, 1, struct.pack("<I7sI", 200, b"**ACE**", 300)) + junk(200, 5)
    save("ace", "wide.ace", wide, verdict="unverified", length=len(wide))
    for name, other in (("random", junk(3000, 6)), ("zeros", bytes(3000)), ("text", text(3000)), ("another", stored)):
        save("ace", f"{name}.ace", packed + other, verdict="unverified", length=len(packed))
    save("ace", "cut.ace", packed[:len(stored) + 200], verdict="truncated", length=len(stored) + 200)
    at = len(start) + head
    save("ace", "cut-first.ace", packed[:at + 300], verdict="truncated", length=at + 300)
    for name, other in (("random", junk(3000, 7)), ("zeros", bytes(3000)), ("text", text(3000, 3))):
        save("ace", f"cut-{name}.ace", packed[:at + 300] + other, verdict="truncated", length=at, why=f"data at {at} have another CRC, and no block follows")
    damaged = start + member(b"a.txt", first, wrong=1) + packed[len(stored):]
    save("ace", "crc.ace", damaged, verdict="unverified", length=len(damaged), why=f"data at {at} have another CRC")
    save("ace", "main.ace", packed[:20] + b"\7" + packed[21:], verdict="reject", why="no main block with its CRC at 0")
    save("ace", "alone.ace", start + junk(3000, 8), verdict="reject", why=f"no block at {len(start)}")
    save("ace", "flags.ace", start + member(b"a", b"", flags=0)[:5] + junk(100, 9), verdict="reject")
