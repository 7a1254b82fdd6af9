"""Blender's files, block by block."""
import random, struct

from makers.common import PNG, save


def blend(mark, *blocks):
    order = ">" if mark[1] == "V" else "<"
    pointer = "Q" if mark[0] == "-" else "I"
    out = b"BLENDER" + mark.encode() + b"279"
    for code, data in (*blocks, (b"DNA1", b"SDNANAME" + bytes(60)), (b"ENDB", b"")):
        out += code.ljust(4, b"\0") + struct.pack(f"{order}I{pointer}II", len(data), 4096 + len(out), 3, 1) + data
    return out


def make():
    packed = PNG + bytes(300)
    whole = blend("-v", (b"REND", bytes(72)), (b"GLOB", b"scene"), (b"DATA", packed), (b"SC", bytes(90)))
    save("blend", "model.blend", whole, unchecked=len(whole) - 16, embedded=whole.index(PNG))
    save("blend", "narrow.blend", blend("_v", (b"REND", bytes(32)), (b"GLOB", bytes(8))), unchecked=len(blend("_v", (b"REND", bytes(32)), (b"GLOB", bytes(8)))) - 12)
    big = blend("_V", (b"REND", bytes(32)), (b"ME", bytes(range(99))))
    save("blend", "big-endian.blend", big, unchecked=len(big) - 12)
    save("blend", "cut.blend", whole[:300], verdict="truncated", length=300, why="the image ends at 300, before the file does")
    save("blend", "random.blend", whole[:150] + random.Random(1).randbytes(3000), verdict="truncated", length_min=100)
    save("blend", "no-dna.blend", whole.replace(b"DNA1", b"DNA2"), verdict="truncated", length_min=len(whole) - 24)
    save("blend", "block.blend", whole[:12] + b"\1\2\3\4" + whole[16:], verdict="reject", why="no block at 12")
    save("blend", "order.blend", whole[:8] + b"w" + whole[9:], verdict="reject", why="no header at 0")
