"""Telegram Desktop's files, item by item."""
import hashlib, struct

from makers.common import save
from makers.packing import junk, text


def tdf(*items, version=5004003):
    data = b"".join(struct.pack(">I", 0xffffffff if item is None else len(item)) + (item or b"") for item in items)
    head = b"TDF$" + struct.pack("<I", version)
    return head + data + hashlib.md5(data + struct.pack("<II", len(data), version) + b"TDF$").digest()


def make():
    whole = tdf(junk(32, 1), junk(288, 2), junk(1600, 3))
    save("tdf", "key_datas", whole, why="")
    save("tdf", "map", tdf(junk(32, 4), None, junk(528, 5)))
    save("tdf", "one", tdf(junk(5000, 6)))
    save("tdf", "cut", whole[:1000], verdict="truncated", length=1000, why="the image ends at 1000, before the file does")
    save("tdf", "random", whole[:1000] + junk(3000, 7), verdict="reject")
    save("tdf", "sum", whole[:-1] + bytes((whole[-1] ^ 1,)) + junk(900, 8), verdict="reject")
    save("tdf", "words", b"TDF$ is the magic of these files.\n" * 20, verdict="reject", why="no items with their MD5 up to 8")
