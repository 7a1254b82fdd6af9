"""Shapes, record by record."""
import random, struct

from makers.common import save


def shp(kind, records):
    body = b"".join(struct.pack(">II", number, len(data) // 2) + data for number, data in enumerate(records, 1))
    return struct.pack(">I20sI", 9994, b"", 50 + len(body) // 2) + struct.pack("<II8d", 1000, kind, *range(8)) + body


def make():
    points = [struct.pack("<Idd", 1, i / 3, i / 7) for i in range(200)]
    whole = shp(1, points)
    save("shp", "points.shp", whole + bytes(40), verdict="unverified", length=len(whole), why="nothing verifies the data from 100 on")
    mixed = shp(5, [struct.pack("<I", 0), struct.pack("<I", 5) + bytes(range(96)), struct.pack("<I", 0)])
    save("shp", "lines.shp", mixed + bytes(40), verdict="unverified", length=len(mixed))
    entries, place = b"", 50
    for data in [points[0]] * 30:
        entries += struct.pack(">II", place, len(data) // 2)
        place += 4 + len(data) // 2
    index = whole[:24] + struct.pack(">I", 50 + len(entries) // 2) + whole[28:100] + entries
    save("shp", "index.shx", index + bytes(40), verdict="unverified", length=len(index), extension="shx")
    save("shp", "index-cut.shx", index[:212] + random.Random(2).randbytes(900), verdict="truncated", length=212, why="no entry at 212")
    save("shp", "cut.shp", whole[:1000], verdict="truncated", length=1000, why="the image ends at 1000, before the file does")
    save("shp", "random.shp", whole[:1000] + random.Random(1).randbytes(9000), verdict="truncated", length_min=900, length_max=1100)
    save("shp", "zeros.shp", whole[:1108] + bytes(9000), verdict="truncated", length=1108, why="no record at 1108")
    short = whole[:24] + struct.pack(">I", len(whole) // 2 + 4) + whole[28:] + bytes(8)
    save("shp", "short.shp", short, verdict="truncated", length=len(whole), why=f"no record at {len(whole)}")
    save("shp", "version.shp", whole[:28] + b"\1" + whole[29:], verdict="reject", why="no header at 0")
    save("shp", "length.shp", whole[:24] + bytes(4) + whole[28:], verdict="reject", why="no header at 0")
