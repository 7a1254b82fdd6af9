"""LHA archives of all header levels, by hand; only stored files."""
import struct

from makers.common import save
from makers.packing import junk, text

DATE = 44 << 25 | 2 << 21 | 29 << 16 | 23 << 11 | 59 << 5 | 29  # 2024-02-29 23:59:58
SECONDS = 1709251198


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xA001 if crc & 1 else crc >> 1
    return crc


def old(name, data, level=0, extended=(), method=b"-lh0-"):
    chain, length = b"", 0
    for part in reversed(extended):
        chain = part + struct.pack("<H", length) + chain
        length = len(part) + 2
    base = method + struct.pack("<IIIBB", len(data) + len(chain), len(data), DATE, 0x20, level)
    base += bytes([len(name)]) + name + struct.pack("<H", crc16(data))
    if level:
        base += b"U" + struct.pack("<H", length)
    return bytes([len(base), sum(base) & 0xff]) + base + chain + data


def new(name, data, level=2, padded=False, method=b"-lh0-"):
    width, size = ("<I", 4) if level == 3 else ("<H", 2)
    parts = [b"\0" + b"\0\0", b"\1" + name]
    lengths = [len(part) + size for part in parts] + [0]
    chain = b"".join(part + struct.pack(width, lengths[i + 1]) for i, part in enumerate(parts)) + (b"\0" if padded else b"")
    total = (28 if level == 3 else 24) + size + len(chain)
    head = struct.pack("<H", 4 if level == 3 else total) + method + struct.pack("<IIIBBHB", len(data), len(data), SECONDS, 0x20, level, crc16(data), ord("U"))
    head += (struct.pack("<I", total) if level == 3 else b"") + struct.pack(width, lengths[0]) + chain
    at = len(head) - len(chain) + 1
    return head[:at] + struct.pack("<H", crc16(head)) + head[at + 2:] + data


def make():
    words = text(900)
    two = old(b"a.txt", words), old(b"b.txt", words[:300])
    whole = b"".join(two) + b"\0"
    save("lzh", "level-0.lzh", whole, time=SECONDS, why="")
    save("lzh", "level-1.lzh", old(b"a.txt", words[:300], 1) + old(b"", words[:200], 1, (b"\1long name.txt", b"\2folder\xff")) + b"\0")
    save("lzh", "level-2.lzh", new(b"a.txt", words[:300]) + new(b"b.txt", words[:200], padded=True) + b"\0", time=SECONDS)
    save("lzh", "level-3.lzh", new(b"a.txt", words[:300], 3) + new(b"b.txt", words[:200], 3) + b"\0")
    save("lzh", "folder.lzh", old(b"dir", b"", method=b"-lhd-") + two[1] + b"\0")
    save("lzh", "other-methods.lzh", old(b"a", words[:90], method=b"-lzs-") + old(b"b", words[:90], method=b"-pm2-") + b"\0")
    more = new(b"c.txt", words[:200]) + b"\0"
    save("lzh", "joined.lzh", whole + more, sequence="yes", why="")
    header = len(two[0]) - 900
    save("lzh", "cut.lzh", whole[:600], verdict="truncated", length=600)
    save("lzh", "cut-random.lzh", whole[:600] + b"\1" * 400 + junk(2000, 2), verdict="truncated", length=header)
    save("lzh", "cut-text.lzh", whole[:600] + text(2000, 3), verdict="truncated", length=header, why=f"neither a header nor the end at {len(two[0])}")
    save("lzh", "wiped.lzh", whole[:600] + bytes(2000), verdict="unverified", length=len(two[0]) + 1)
    coded = old(b"c", junk(6000, 4), method=b"-lh5-")
    save("lzh", "coded.lzh", coded + b"\0")
    at = len(coded) - 3000
    save("lzh", "coded-text.lzh", coded[:at] + text(3000, 5) + b"\0", verdict="truncated", length_min=at - 1100, length_max=at + 1100)
    save("lzh", "no-end.lzh", whole[:-1], verdict="truncated", length=len(whole) - 1)
    for name, at in (("checksum", 1), ("method", 4), ("level", 20), ("name-length", 21)):
        wrong = bytearray(whole)
        wrong[at] ^= 0x40
        save("lzh", f"{name}-wrong.lzh", bytes(wrong), verdict="reject", why="no header with its checksum at 0")
    for level in (2, 3):
        wrong = bytearray(new(b"a.txt", words[:300], level) + b"\0")
        wrong[16] ^= 1
        save("lzh", f"level-{level}-crc-wrong.lzh", bytes(wrong), verdict="reject")
