"""3D Studio models, chunk by chunk."""
import random, struct

from makers.common import save


def chunk(kind, *parts):
    data = b"".join(parts)
    return struct.pack("<HI", kind, 6 + len(data)) + data


def model(points):
    mesh = chunk(0x4100, chunk(0x4110, struct.pack("<H", points), b"".join(struct.pack("<3f", i, i * 2, i / 3) for i in range(points))),
                 chunk(0x4120, struct.pack("<H4H", 1, 0, 1, 2, 7)))
    objects = chunk(0x3D3D, chunk(0x3D3E, struct.pack("<I", 3)), chunk(0x4000, b"golden\0", mesh))
    return chunk(0x4D4D, chunk(2, struct.pack("<I", 3)), objects, chunk(0xB000, chunk(0xB00A, b"\5\0golden\0", struct.pack("<I", 100))))


def make():
    whole = model(60)
    save("threeds", "model.3ds", whole, verdict="unverified", length=len(whole), why="nothing verifies the data from 16 on", unverified=f"16-{len(whole)}")
    bare = chunk(0x4D4D, chunk(0x3D3D, chunk(0x3D3E, struct.pack("<I", 3))))
    save("threeds", "bare.3ds", bare + bytes(20), verdict="unverified", length=len(bare))
    save("threeds", "cut.3ds", whole[:500], verdict="truncated", length=500, why="the image ends at 500, before the file does")
    save("threeds", "random.3ds", whole[:80] + random.Random(1).randbytes(2000), verdict="truncated", length_min=16)
    objects = whole.index(b"\x3d\x3d", 16)
    save("threeds", "length.3ds", whole[:objects + 2] + b"\xff\xff\0\0" + whole[objects + 6:], verdict="reject", why="no chunk at 16")
    tail = whole[:2] + struct.pack("<I", len(whole) + 3) + whole[6:] + bytes(3)
    save("threeds", "tail.3ds", tail, verdict="truncated", length=len(whole), why=f"no chunk at {len(whole)}")
    save("threeds", "first.3ds", chunk(0x4D4D, chunk(7, bytes(40))), verdict="reject", why="no chunks at 0")
    save("threeds", "text.3ds", b"MM for millimetres, which are " * 9, verdict="reject", why="no chunks at 0")
