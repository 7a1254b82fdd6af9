"""Segments of evidence files, section by section."""
import random, struct, zlib

from makers.common import save


def ewf(*sections, magic=b"EVF"):
    out = magic + b"\x09\r\n\xff\0\1" + struct.pack("<HH", 1, 0)
    for kind, data in sections:
        at = len(out)
        end = at if kind in (b"done", b"next") else at + 76 + len(data)
        head = kind.ljust(16, b"\0") + struct.pack("<QQ", end, 0 if kind in (b"done", b"next") else 76 + len(data)) + bytes(40)
        out += head + struct.pack("<I", zlib.adler32(head)) + data
    return out


def make():
    noise = random.Random(1).randbytes(5000)
    parts = ((b"header", zlib.compress(b"1\nmain\nc n a e t\ngolden")), (b"volume", bytes(94)), (b"sectors", noise), (b"table", bytes(400)), (b"hash", bytes(36)))
    whole = ewf(*parts, (b"done", b""))
    save("e01", "image.e01", whole, extension="e01", unchecked=len(whole) - 76)
    first = ewf(*parts[:3], (b"next", b""))
    save("e01", "first.e01", first, extension="e01", unchecked=len(first) - 76)
    logical = ewf((b"ltree", b"x" * 90), (b"done", b""), magic=b"LVF")
    save("e01", "logical.l01", logical, extension="l01", unchecked=len(logical) - 76)
    save("e01", "cut.e01", whole[:3000], verdict="truncated", length=3000, why="the image ends at 3000, before the file does")
    table = whole.index(b"table")
    save("e01", "random.e01", whole[:2000] + random.Random(2).randbytes(9000), verdict="truncated", length=table, why=f"no section at {table}")
    save("e01", "first-sum.e01", whole[:60] + b"\1" + whole[61:], verdict="reject", why="no section at 13")
    save("e01", "number.e01", whole[:9] + b"\0\0" + whole[11:], verdict="reject", why="no header at 0")
