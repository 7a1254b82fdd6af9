"""Jet databases, page by page: rows are made up."""
import random, struct

from makers.common import save
from makers.elf import code


def first(magic=b"Standard Jet DB", version=1):
    length = 2048 if version == 0 else 4096
    return (b"\0\1\0\0" + magic + b"\0" + struct.pack("<I", version) + random.Random(1).randbytes(128)).ljust(length, b"\0")


def rows(length=4096, table=2, count=5, owner=None):
    head = 10 if length == 2048 else 14
    places = [length - 30 * (i + 1) | 0x4000 * (i == 2) for i in range(count)]
    page = b"\1\1" + struct.pack("<H", length - head - 32 * count) + (owner or struct.pack("<I", table))
    page += (b"" if length == 2048 else bytes(4)) + struct.pack("<H", count) + struct.pack(f"<{count}H", *places)
    return page.ljust(length - 30 * count, b"\0") + code(30 * count, table)


def definition(length=4096, more=0):
    return (b"\2\1" + (b"VC" if length == 2048 else struct.pack("<H", 100)) + struct.pack("<I", more)).ljust(length - 500, b"\0") + code(500, 4)


def index(length=4096, table=2, kind=4):
    return (bytes((kind, 1)) + struct.pack("<HI", 1000, table)).ljust(64, b"\0") + code(length - 64, 5)


def used(length=4096):
    return b"\5\1\0\0".ljust(length, b"\xff")


def guess(length):
    return dict(verdict="unverified", length=length, why=f"no page at {length}, and the number of pages is not stored")


def make():
    small = dict(length=2048)
    third = first(version=0) + rows(**small) + definition(**small) + index(**small) + rows(owner=b"LVAL", **small) + used(**small)
    save("mdb", "jet3.mdb", third, extension="mdb", **guess(len(third)))
    fourth = first() + rows(table=1) + index(table=1, kind=3)
    save("mdb", "jet4.mdb", fourth, extension="mdb", **guess(len(fourth)))
    ace = first(b"Standard ACE DB", 2) + rows(owner=b"LVAL")
    save("mdb", "ace.accdb", ace, extension="accdb", **guess(len(ace)))
    gap = third[:6144] + code(2048, 6) + used(**small)
    save("mdb", "unused.mdb", gap, **guess(len(gap)))
    save("mdb", "behind.mdb", third[:6144] + random.Random(2).randbytes(2100), **guess(6144))
    save("mdb", "next.mdb", third[:6144] + third[:6144], **guess(6144))
    cut = first(version=0) + rows(table=3, **small) + bytes(2048)
    save("mdb", "cut.mdb", cut[:5000], verdict="truncated", length=5000, why="the image ends at 5000, before the file does")
    lost = first(version=0) + rows(table=4, **small) + bytes(6144)
    save("mdb", "lost.mdb", lost, verdict="truncated", length=4096, why="page 4 is referenced, but pages end at 4096")
    hidden = first(version=0) + random.Random(3).randbytes(4096) + bytes(2048)
    save("mdb", "encrypted.mdb", hidden, verdict="unverified", length=6144, why="encrypted pages, which end where bytes are not random, at 6144")
    save("mdb", "head-alone.mdb", first(version=0) + bytes(4096), verdict="reject", why="no page at 2048")
    save("mdb", "version.mdb", first(version=0)[:20] + b"\x11" + bytes(3000), verdict="reject", why="no magic and version at 0")
    wrong = bytearray(third[:4096])
    wrong[2048 + 10] = 1
    wrong[2048 + 11] = 0
    save("mdb", "row.mdb", bytes(wrong), verdict="reject", why="no page at 2048")
