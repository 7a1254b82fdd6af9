"""Berkeley DB, page by page: B-trees and a hash, both orders of bytes, a wallet."""
import struct

from makers.common import save
from makers.sound import noise


def meta(order, last, magic=0x053162, version=9, kind=9, size=512, encrypted=0):
    page = struct.pack(order + "IIIIIIBBBBIII", 0, 1, 0, magic, version, size, encrypted, kind, 0, 0, 0, last, 0)
    return page.ljust(72, b"\0").ljust(size, b"\x11" if encrypted else b"\0")


def page(order, number, kind=5, size=512, items=(b"key", b"value"), links=(0, 0)):
    out = bytearray(size)
    top, index = size, b""
    for item in items:
        item = b"\1" + item if kind == 13 else (struct.pack(order + "HB", len(item), 1) + item).ljust((len(item) + 6) // 4 * 4, b"\0")
        top -= len(item)
        out[top:top + len(item)] = item
        index += struct.pack(order + "H", top)
    out[:26] = struct.pack(order + "IIIIIHHBB", 0, 1, number, *links, len(items), top, 1, kind)
    out[26:26 + len(index)] = index
    return bytes(out)


def make():
    for name, order in (("little", "<"), ("big", ">")):
        save("bdb", f"{name}.db", meta(order, 3) + b"".join(page(order, i) for i in (1, 2, 3)), unchecked=2 * 512)
    for name, back, verdict in (("linked", 2, "complete"), ("other-page", 9, "unverified")):
        chain = meta("<", 3) + page("<", 1, links=(0, 2)) + page("<", 2, links=(1, 3)) + page("<", 3, links=(back, 0))
        save("bdb", name + ".db", chain, verdict=verdict, length=2048, unchecked=2 * 512,
             why="" if back == 2 else "the page at 1536 does not lead back to the one before it")
    save("bdb", "hash.db", meta("<", 2, 0x061561, 8, 8) + page("<", 1, 7) + page("<", 2, 13), unchecked=2 * 512)
    overflow = struct.pack("<IIIIIHHBB", 0, 1, 1, 0, 0, 1, 486, 0, 7) + noise(486)
    save("bdb", "overflow.db", meta("<", 1) + overflow, verdict="unverified", length=1024)
    odd = bytearray(page("<", 1, 13, items=(b"key", b"value", b"more")))
    odd[28] ^= 4  # the second item's place
    save("bdb", "hash-places.db", meta("<", 1, 0x061561, 8, 8) + bytes(odd), verdict="truncated", length_min=512, length_max=1023)
    save("bdb", "hole.db", meta("<", 3) + page("<", 1) + bytes(512) + page("<", 3), unchecked=3 * 512)
    save("bdb", "large.db", meta("<", 2, size=4096) + page("<", 1, size=4096) + page("<", 2, size=4096), unchecked=8192)
    items = (b"\x07version", b"\x0aminversion", b"\x04name")
    save("bdb", "wallet.dat", meta("<", 2) + page("<", 1, items=items) + page("<", 2), extension="dat", unchecked=1024)
    early = meta("<", 0, version=6) + page("<", 1) + page("<", 2)
    save("bdb", "uncounted.db", early, verdict="unverified", length=1536)
    alone = meta("<", 0, version=6)
    save("bdb", "uncounted-alone.db", alone + noise(900), verdict="truncated", length=512, why="no page of this file at 512, and the first alone is not a database")
    save("bdb", "uncounted-zeros.db", early + bytes(2000), verdict="unverified", length=1536)
    whole = meta("<", 3) + b"".join(page("<", i) for i in (1, 2, 3))
    save("bdb", "cut.db", whole[:1400], verdict="truncated", length=1400)
    save("bdb", "cut-random.db", whole[:1536] + noise(900), verdict="truncated", length=1536, why="no page of this file at 1536")
    save("bdb", "cut-zeros.db", whole[:1536] + bytes(900), verdict="unverified", length=2048)
    save("bdb", "no-page.db", whole[:512] + noise(2000), verdict="truncated", length=512, why="no page of this file at 512")
    many = meta("<", 1) + page("<", 1, items=[b"item %02d" % i for i in range(30)])
    save("bdb", "items.db", many, unchecked=512)
    save("bdb", "items-random.db", many[:900] + noise(124), verdict="truncated", length_min=876, length_max=912)
    save("bdb", "long-item.db", meta("<", 1) + page("<", 1, items=(noise(80), b"key")), verdict="unverified", length=1024)
    save("bdb", "encrypted.db", meta("<", 1, encrypted=1) + noise(512), verdict="unverified", length=1024)
    save("bdb", "half-page.db", whole[:300], verdict="reject", why="no whole page at 0")
    save("bdb", "size.db", meta("<", 3, size=512).replace(struct.pack("<I", 512), struct.pack("<I", 500)), verdict="reject", why="no meta page at 0")
    # A database in this one: with a meta page of its own.
    inner = bytearray(meta("<", 0, size=4096))
    inner[8:12] = struct.pack("<I", 2)
    save("bdb", "inner.db", meta("<", 3, size=4096) + page("<", 1, size=4096) + bytes(inner) + page("<", 3, size=4096), unchecked=3 * 4096)
