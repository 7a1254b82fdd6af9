"""MRW, by hand."""
import random, struct

from makers.common import save
from makers.jpeg import exif


def block(name, data):
    return b"\0" + name + struct.pack(">I", len(data)) + data


def sensor(width, height, packed):
    return struct.pack(">8sHHHHBBBB4x", b"27200001", height, width, height, width, 12, 12, 89 if packed else 82, 0).ljust(24, b"\0")


def mrw(width=40, height=30, packed=True, blocks=None):
    rng = random.Random(1)
    blocks = blocks or [block(b"PRD", sensor(width, height, packed)), block(b"TTW", exif(True)[6:]), block(b"WBG", bytes(12)), block(b"PAD", bytes(100))]
    blocks = b"".join(blocks)
    pixels = bytes((x + y + rng.randrange(20)) // 5 & 255 for y in range(height) for x in range(width * 12 // 8 if packed else width * 2))
    return b"\0MRM" + struct.pack(">I", len(blocks)) + blocks + pixels


def make():
    whole = mrw()
    white = whole.index(b"\0WBG") + 8
    save("mrw", "packed.mrw", whole, title="Golden hour", time=1709251198, unchecked=24, unverified=f"{white}-{white + 12} {white + 20}-{len(whole)}")
    save("mrw", "padded.mrw", mrw(packed=False), title="Golden hour", time=1709251198, unchecked=24)
    strange = whole[:-300] + random.Random(5).randbytes(300)
    save("mrw", "pixels.mrw", strange, verdict="unverified", length=len(strange),
         why=f"the last pixels, up to {len(strange)}, cannot be verified")
    save("mrw", "cut.mrw", whole[:-500], verdict="truncated", length=len(whole) - 500, why=f"the image ends at {len(whole) - 500}, before the file does")
    large = mrw(200, 80)
    start = len(large) - 24000
    at = start + 12000
    save("mrw", "random-behind.mrw", large[:at] + random.Random(2).randbytes(8000), verdict="truncated", length_min=at - 1100, length_max=at + 1100)
    broken = whole.replace(b"\0WBG", b"\0WBH")
    at = broken.index(b"\0WBH")
    save("mrw", "block.mrw", broken, verdict="truncated", length=at, why=f"no block at {at}")
    save("mrw", "first.mrw", whole.replace(b"\0PRD", b"\0PRE"), verdict="reject", why="no block at 8")
    save("mrw", "no-sensor.mrw", mrw(blocks=[block(b"WBG", bytes(12))]), verdict="reject", why="no sensor size at 28")
    save("mrw", "head.mrw", b"\0MRN" + whole[4:], verdict="reject", why="no MRW head at 0")
