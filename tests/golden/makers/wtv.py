"""Recordings of Windows Media Center: a directory, a table of sectors and made-up streams."""
import random, struct

from makers.common import save

MARK = bytes.fromhex("b7d800203749da11a64e0007e95ead8d")
ENTRY = bytes.fromhex("92b774915970704488df063b82cc213d")
FILM = b"\0\0\1\xb3\x16\x01\x20\x13\xff\xff\xe0\x18"  # how MPEG video begins


def entry(name, size, place=b"", inside=b"", flags=9 << 60):
    text = name.encode("utf-16le")
    data = text + (place or inside)
    data += bytes(-len(data) % 8)
    return ENTRY + struct.pack("<HHIQII", 40 + len(data), 0, 0, flags | size, len(name), 0) + data


def build(sector=1, table=(1, 2)):
    film = FILM + random.Random(1).randbytes(2 * 4096 - len(FILM))
    root = entry("table.0.header.time", 88, inside=struct.pack("<II", 16, 0) + bytes(80), flags=5 << 60)
    root += entry("timeline", len(film), place=struct.pack("<II", 3, sector))
    root += entry("table.0.entries.time", 128, place=struct.pack("<II", 4, 0))
    head = MARK + bytes(16) + struct.pack("<IIIIIIII", 1, 2, 4096, 1 << 18, len(root), 0, 5, 0)
    head = head.ljust(92, b"\0") + struct.pack("<I", 6)
    sectors = head, film[:4096], film[4096:], struct.pack("<II", *table), random.Random(2).randbytes(128), root
    return b"".join(data.ljust(4096, b"\0") for data in sectors)


def make():
    whole = build()
    save("wtv", "film.wtv", whole, verdict="unverified", length=len(whole), why=f"nothing verifies the recording before {len(whole)}")
    save("wtv", "cut.wtv", whole[:9000], verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    save("wtv", "zeros.wtv", whole[:8192] + bytes(20000), verdict="truncated", length=8192)
    save("wtv", "table.wtv", build(table=(1, 600)), verdict="truncated", why=f"a wrong directory or table at {3 * 4096 + 4}")
    save("wtv", "depth.wtv", build(sector=7), verdict="truncated", why=f"a wrong directory or table at {whole.index(ENTRY, whole.index(ENTRY) + 1)}")
    save("wtv", "root.wtv", whole[:56] + b"\6" + whole[57:], verdict="reject", why="impossible fields in the header")
    save("wtv", "mark.wtv", b"\0" + whole[1:], verdict="reject", why="no header at 0")
