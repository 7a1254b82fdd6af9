"""ARJ archives, header by header; only stored files."""
import struct, zlib

from makers.common import save
from makers.packing import junk, text

DATE = 44 << 25 | 2 << 21 | 29 << 16 | 23 << 11 | 59 << 5 | 29  # 2024-02-29 23:59:58


def header(kind, name, data=b"", method=0, extended=(), first=30):
    base = struct.pack("<BBBBBBBBIIIIHHH", first, 11, 1, 2, 0, method, kind, 0, DATE, len(data), len(data), zlib.crc32(data), 0, 0o644, 0)
    base += bytes(first - 30) + name + b"\0" + b"comment\0"
    out = b"\x60\xea" + struct.pack("<H", len(base)) + base + struct.pack("<I", zlib.crc32(base))
    for part in extended:
        out += struct.pack("<H", len(part)) + part + struct.pack("<I", zlib.crc32(part))
    return out + b"\0\0" + data


END = b"\x60\xea\0\0"


def make():
    words = text(900)
    main, a, b = header(2, b"x.arj", first=34), header(0, b"a.txt", words), header(1, b"b.txt", words[:300])
    whole = main + a + b + END
    save("arj", "two.arj", whole, time=1709251198, why="")
    save("arj", "empty.arj", main + END)
    save("arj", "extended.arj", main + header(0, b"a.txt", words[:200], extended=(b"one", b"two two")) + header(3, b"dir") + END)
    data = len(main) + len(a) - 900
    second = len(main) + len(a)
    save("arj", "cut.arj", whole[:600], verdict="truncated", length=600)
    save("arj", "cut-random.arj", whole[:600] + junk(2000, 2), verdict="truncated", length=data, why=f"no header with its CRC at {second}")
    save("arj", "cut-zeros.arj", whole[:600] + bytes(2000), verdict="truncated", length=data)
    save("arj", "cut-other.arj", whole[:second] + whole, verdict="truncated", length=data)
    wrong = bytearray(whole)
    wrong[second + 20] ^= 1
    save("arj", "second-damaged.arj", bytes(wrong), verdict="truncated", length=data)
    wrong = bytearray(whole)
    wrong[20] ^= 1
    save("arj", "main-damaged.arj", bytes(wrong), verdict="reject", why="no main header with its CRC at 0")
    save("arj", "method-9.arj", main + header(0, b"a", words, method=9) + END, verdict="truncated", length=len(main))
    save("arj", "no-main.arj", a + END, verdict="reject")
    save("arj", "end-alone.arj", END + junk(300), verdict="reject")
