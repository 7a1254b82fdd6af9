"""Flash video, tag by tag; coded data are noise."""
import struct

from makers.bmff import noise
from makers.common import save

HEAD = b"FLV\1\5\0\0\0\x09\0\0\0\0"


def tag(kind, data, time=0):
    return bytes([kind]) + struct.pack(">I", len(data))[1:] + struct.pack(">I", time)[1:] + bytes(4) + data + struct.pack(">I", len(data) + 11)


def metadata(size):
    return tag(18, b"\2\0\nonMetaData\x08\0\0\0\1" + b"\0\x08filesize\0" + struct.pack(">d", size) + b"\0\0\x09")


def make():
    tags = b"".join(tag(9 if i % 3 else 8, noise(80 + 9 * i, i), 40 * i) for i in range(10))
    size = len(HEAD + metadata(0) + tags)
    told = HEAD + metadata(size) + tags
    save("flv", "told.flv", told)
    # What is in front of a tag is a file, too, where none says how many there are.
    plain = HEAD + tags
    save("flv", "plain.flv", plain, sequence="yes")
    # Nothing says that a file which ends with a sector has not lost the rest.
    whole = HEAD + tags + tag(8, noise(2048 - len(HEAD + tags) - 15, 20), 400)
    save("flv", "sector.flv", whole, verdict="unverified", length=2048, sequence="yes", why="no tag at 2048, where a sector begins, and no stated size")
    more = HEAD + metadata(size) + tags + tags
    save("flv", "more.flv", more, verdict="unverified", length=len(more), why=f"tags go on to {len(more)}, but the stated size is {size}")
    half = size - 700
    save("flv", "cut.flv", told[:half], verdict="truncated", length=half, why=f"the image ends at {half}, before the file does")
    for name, junk in (("random", noise(2000, 9)), ("zeros", bytes(2000)), ("text", b"Now for something different. " * 60)):
        save("flv", name + ".flv", told[:half] + junk, verdict="truncated", length_min=half - 200, length_max=half)
    last = size - 15 - 80 - 81
    save("flv", "tags-missing.flv", told[:last], verdict="truncated", length=last, why=f"no tag at {last}, but the stated size is {size}")
    save("flv", "no-tags.flv", HEAD + noise(200, 4), verdict="reject", why="no intact tag at 13")
    save("flv", "version.flv", b"FLV\2" + told[4:], verdict="reject", why="no head of a Flash video at 0")
