"""IVF, frame by frame; the video is noise."""
import random, struct

from makers.common import save


def ivf(frames, stated):
    rng, out = random.Random(1), b"DKIF\0\0\x20\0VP90" + struct.pack("<HHIIII", 192, 144, 12, 1, stated, 0)
    for number, size in enumerate(frames):
        out += struct.pack("<IQ", size, number) + rng.randbytes(size)
    return out


def make():
    sizes = [900, 40, 77, 1200, 30]
    whole = ivf(sizes, 5)
    save("ivf", "stated.ivf", whole + bytes(50), verdict="unverified", length=len(whole), why=f"nothing verifies the 5 frames before {len(whole)}")
    live = ivf(sizes, 0)
    save("ivf", "live.ivf", live + bytes(50), verdict="unverified", length=len(live))
    save("ivf", "cut.ivf", whole[:1500], verdict="truncated", length=1500, why="the image ends at 1500, before the file does")
    save("ivf", "random.ivf", whole[:1100] + random.Random(3).randbytes(5000), verdict="truncated", length_min=932)
    save("ivf", "frame.ivf", whole[:32] + bytes(400), verdict="reject", why="no frame at 32")
    save("ivf", "width.ivf", whole[:12] + bytes(2) + whole[14:], verdict="reject", why="no header at 0")
