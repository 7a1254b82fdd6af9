"""Digital video, block by block; each block is filled with one byte, so that a repository can compress it."""
import random

from makers.common import save


def frame(sequences, seed, track=0x78):
    rng = random.Random(seed)
    out = bytearray()
    for sequence in range(sequences):
        for index in range(150):
            if index < 6:
                kind, number = ((0x1f, 0), (0x3f, 0), (0x3f, 1), (0x56, 0), (0x56, 1), (0x56, 2))[index]
            else:
                group, place = divmod(index - 6, 16)
                kind, number = (0x96, group * 15 + place - 1) if place else (0x76, group)
            head = bytes((kind, sequence << 4 | 7, number))
            data = bytes((0xbf if sequences == 12 else 0x3f, 0xf9, track, track, track)).ljust(77, b"\xff") if kind == 0x1f else bytes((rng.randrange(256),)) * 77
            out += head + data
    return bytes(out)


def make():
    whole = frame(10, 1) + frame(10, 2, 0x79)
    save("dv", "two.dv", whole + bytes(3000), verdict="unverified", length=len(whole), why=f"no frame at {len(whole)}, and the number of frames is not stored")
    save("dv", "cut.dv", whole[:130000], verdict="truncated", length=130000, why="the image ends at 130000, before the file does")
    save("dv", "random.dv", whole[:120000 + 4000] + random.Random(5).randbytes(5000), verdict="truncated", length=124000, why="no block of a frame at 124000")
    save("dv", "one.dv", whole[:120000] + bytes(3000), verdict="reject", why="no second frame at 120000")
    save("dv", "half.dv", whole[:6000] + bytes(3000), verdict="reject", why="not a whole frame: no block at 6000")
    save("dv", "kind.dv", whole[:2] + b"\1" + whole[3:1000], verdict="reject")
